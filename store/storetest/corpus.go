package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"evoke/store"
)

const (
	testModel = "test/1/16"
	testDim   = 16
)

// Values that the corpus draws from, and filters ask for.
var (
	words = []string{"tea", "Berlin", "garden", "music", "train", "Monday", "coffee", "book", "river", "phone", "绿茶", "柏林", "写代码", "東京",
		"cat", "jacket", "2024", "blue", "salt", "window"}
	threadNames  = []string{"t1", "t2", ""}
	sessionNames = []string{"s1", "s2", "s:3", ""}
	roles        = []string{"user", "assistant", ""}
	speakers     = []string{"Ann", "Bo", ""}
	subjects     = []string{"home", "likes:<a & \"b\">", "家"} // of the items that have one
	metaStrings  = []string{"red", "green", ""}
	metaNumbers  = []float64{-1.5, 0, 3, 1e6}
)

// corpus makes n different items from a seed: every kind, category, time state and kind of metadata.
func corpus(seed uint64, n int) []store.Item {
	r := rand.New(rand.NewPCG(seed, 7))
	items := make([]store.Item, n)
	for i := range items {
		items[i] = randomItem(r, i)
	}
	return items
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomItem(r *rand.Rand, i int) store.Item {
	it := store.Item{
		ID: fmt.Sprintf("i%04d", i), Kind: pick(r, store.Kinds()),
		Importance: float64(r.IntN(11)) / 10, Confidence: 1, RecordedAt: now.Add(-time.Duration(r.IntN(40)) * time.Hour),
	}
	if it.Provenance.Quote = `he wrote {"extractor":"x"}`; i%3 == 0 {
		it.Provenance.Extractor = "rules/1"
	}
	if it.Kind != store.Episodic {
		it.Category = pick(r, append(store.Categories(), ""))
	}
	for w := range 3 + r.IntN(8) {
		if w > 0 {
			it.Content += " "
		}
		it.Content += pick(r, words)
	}
	if r.IntN(4) > 0 {
		it.ValidFrom = now.Add(-time.Duration(r.IntN(60*24)) * time.Hour)
	}
	switch r.IntN(6) {
	case 0: // closed, sometimes in the future
		from := it.ValidFrom
		if from.IsZero() {
			from = now.Add(-72 * time.Hour)
		}
		it.ValidTo = from.Add(time.Duration(r.IntN(100)) * time.Hour)
		it.ClosedAt = it.RecordedAt.Add(time.Duration(r.IntN(30)) * time.Hour)
		it.SupersededBy = "i0000"
	case 1:
		it.RetractedAt = it.RecordedAt.Add(time.Duration(r.IntN(30)) * time.Hour)
	}
	if session := pick(r, sessionNames); session != "" {
		it.Turn = store.Turn{Thread: pick(r, threadNames), Session: session, Position: r.IntN(n20), Speaker: pick(r, speakers), Role: pick(r, roles)}
	}
	it.Metadata = randomMetadata(r)
	it.ContentKey = store.ContentKey(it.Kind, it.Content)
	if i%13 == 7 { // a section of a profile
		it.ContentKey = store.ProfileKeys()[i%6]
	}
	if i%5 == 2 {
		it.Provenance.Subject = subjects[i%len(subjects)]
	}
	if it.Turn.Thread != "" && r.IntN(5) == 0 { // for one task
		it.Provenance.Durability = store.TaskDurability
		if r.IntN(8) > 0 && it.ValidTo.IsZero() {
			it.ValidTo, it.ClosedAt = now.Add(time.Duration(r.IntN(48)-12)*time.Hour), it.RecordedAt
			if it.ValidTo.Before(it.ValidFrom) {
				it.ValidTo = it.ValidFrom
			}
		}
	}
	randomAside(r, &it)
	return it
}

// randomAside puts some items aside, and ends the keeping of some.
func randomAside(r *rand.Rand, it *store.Item) {
	if r.IntN(6) == 0 {
		it.ExpiresAt = it.RecordedAt.Add(time.Duration(r.IntN(90)) * time.Hour)
	}
	if r.IntN(8) == 0 {
		it.Aside.Summary, it.Aside.SummarizedAt = "i0001", it.RecordedAt.Add(time.Duration(r.IntN(40))*time.Hour)
	}
	if r.IntN(8) == 0 {
		it.Aside.ForgottenAt, it.Aside.ForgottenBy = it.RecordedAt.Add(time.Duration(r.IntN(40))*time.Hour), "forget"
		it.Aside.PurgeAt = it.Aside.ForgottenAt.Add(720 * time.Hour)
	}
}

const n20 = 20

func randomMetadata(r *rand.Rand) store.Metadata {
	m := store.Metadata{}
	if r.IntN(2) == 0 {
		m["colour"] = store.String(pick(r, metaStrings))
	}
	if r.IntN(2) == 0 {
		m["size"] = store.Number(pick(r, metaNumbers))
	}
	if r.IntN(3) == 0 {
		m["done"] = store.Bool(r.IntN(2) == 0)
	}
	if r.IntN(3) == 0 {
		m["tags"] = store.List(metaStrings[:1+r.IntN(2)]...)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// unit makes a random unit vector.
func unit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	sum := 0.0
	for i := range v {
		x := r.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// embeddings makes vectors for three of four items: some with a context, some of several chunks.
func embeddings(seed uint64, items []store.Item) []store.Embedding {
	r := rand.New(rand.NewPCG(seed, 11))
	var es []store.Embedding
	for i := range items {
		if r.IntN(4) == 0 {
			continue
		}
		es = append(es, randomEmbedding(r, &items[i]))
	}
	return es
}

func randomEmbedding(r *rand.Rand, it *store.Item) store.Embedding {
	e := store.Embedding{ID: it.ID, Model: testModel, TextKey: it.TextKey(), Own: [][]float32{unit(r, testDim)}}
	switch r.IntN(3) {
	case 0:
		e.Context = unit(r, testDim)
	case 1:
		for range r.IntN(3) {
			e.Own = append(e.Own, unit(r, testDim))
		}
	}
	return e
}

// fill stores a corpus with its vectors.
func fill(t *testing.T, s store.Store, sc store.Scope, items []store.Item, es []store.Embedding) {
	t.Helper()
	ctx := context.Background()
	put(t, s, sc, items...)
	must(t, s.SetModel(ctx, testModel, testDim))
	must(t, s.SetEmbeddings(ctx, sc, es))
}
