package qdrantstore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/scoring"
	"evoke/store"
	"evoke/store/qdrantstore/qdranttest"
)

var benchWords = strings.Fields(`tea garden music train coffee book river phone window jacket kitchen ticket doctor cousin weekend
	project meeting concert bicycle airport birthday salad museum painting camera blanket mountain library neighbour recipe`)

// BenchmarkSearch measures a search of one scope on a real server: 384 dimensions, chat turns of some twelve words.
func BenchmarkSearch(b *testing.B) {
	addr := os.Getenv(qdranttest.ServerEnv)
	if addr == "" {
		b.Skip(qdranttest.ServerEnv + " is not set")
	}
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchSearch(b, addr, n) })
	}
}

func benchSearch(b *testing.B, addr string, n int) {
	ctx := context.Background()
	const dim = 384
	r := rand.New(rand.NewPCG(1, 1))
	vector := func() []float32 {
		v, sum := make([]float32, dim), 0.0
		for i := range v {
			v[i] = float32(r.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	text := func(n int) string {
		w := make([]string, n)
		for i := range w {
			w[i] = benchWords[int(float64(len(benchWords))*r.Float64()*r.Float64())]
		}
		return strings.Join(w, " ")
	}
	db, err := Open(ctx, &Options{URL: "qdrant://" + addr, Collection: fmt.Sprintf("bench_%d_%d", os.Getpid(), names.Add(1)), Timeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.SetModel(ctx, model, dim); err != nil {
		b.Fatal(err)
	}
	items, es := make([]store.Item, n), make([]store.Embedding, n)
	for i := range items {
		it := item(fmt.Sprintf("i%06d", i), text(12))
		it.Kind, it.ValidFrom = store.Episodic, now.Add(time.Duration(i/20)*time.Hour)
		it.Turn = store.Turn{Thread: "t", Session: fmt.Sprint("s", i/20), Position: i % 20, Speaker: "Ann", Role: "user"}
		items[i] = it
		es[i] = store.Embedding{ID: it.ID, Model: model, TextKey: it.TextKey(), Own: [][]float32{vector()}, Context: vector()}
	}
	start := time.Now()
	for part := range slices.Chunk(items, 256) {
		if err := db.Apply(ctx, alice, store.Change{Put: part}); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("put: %.0f items/s", float64(n)/time.Since(start).Seconds())
	start = time.Now()
	for part := range slices.Chunk(es, 64) {
		if err := db.SetEmbeddings(ctx, alice, part); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("vectors: %.0f items/s", float64(n)/time.Since(start).Seconds())
	for b.Loop() {
		q := store.Query{View: store.Current(now.AddDate(1, 0, 0)), Vector: vector(), Terms: scoring.QueryTerms(text(8)), Dense: 100, Lexical: 100, Recent: 20, Important: 20}
		if _, err := db.Search(ctx, alice, q); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	name, err := db.behindAlias(ctx)
	if err == nil {
		err = db.dropCollection(ctx, name)
	}
	if err != nil {
		b.Fatal(err)
	}
}
