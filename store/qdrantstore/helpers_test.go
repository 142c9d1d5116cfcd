package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

var (
	now   = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	alice = store.Scope{Tenant: "acme", User: "alice"}
	bob   = store.Scope{Tenant: "acme", User: "bob"}
)

const (
	model = "test/1/8"
	dim   = 8
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func item(id, content string) store.Item {
	return store.Item{ID: id, Kind: store.Semantic, Content: content, Importance: 0.5, Confidence: 1, RecordedAt: now, ValidFrom: now}
}

func facts(n int) []store.Item {
	items := make([]store.Item, n)
	for i := range items {
		items[i] = item(fmt.Sprintf("i%05d", i), fmt.Sprintf("fact number%d about tea", i))
	}
	return items
}

func unit(r *rand.Rand) []float32 {
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

func embed(r *rand.Rand, items []store.Item) []store.Embedding {
	es := make([]store.Embedding, len(items))
	for i := range items {
		es[i] = store.Embedding{ID: items[i].ID, Model: model, TextKey: items[i].TextKey(), Own: [][]float32{unit(r)}}
	}
	return es
}

func put(t *testing.T, db *DB, sc store.Scope, items ...store.Item) {
	t.Helper()
	must(t, db.Apply(context.Background(), sc, store.Change{Put: items}))
}

func ids(items []store.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}

// ranked are the ids that an arm nominated, in its order.
func ranked(c *store.Candidates, arm store.Arm) []string {
	out := make([]string, len(c.Records))
	n := 0
	for i := range c.Records {
		if rank, ok := c.Records[i].Ranks[arm]; ok {
			out[rank-1] = c.Records[i].Item.ID
			n++
		}
	}
	return out[:n]
}

// nearest is what the dense arm must nominate.
func nearest(es []store.Embedding, q []float32, n int) []string {
	type hit struct {
		id    string
		score float64
	}
	hits := make([]hit, len(es))
	for i := range es {
		best := math.Inf(-1)
		for _, row := range es[i].Rows() {
			k, scale := scoring.Quantize(row)
			sum := 0.0
			for j, x := range k {
				sum += float64(float32(x)*scale) * float64(q[j])
			}
			best = max(best, sum)
		}
		hits[i] = hit{es[i].ID, best}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.score > b.score {
			return -1
		}
		return 1
	})
	out := make([]string, n)
	for i := range out {
		out[i] = hits[i].id
	}
	return out
}

// dial connects a plain client, to look behind a store.
func dial(t *testing.T, set *settings) *qdrant.Client {
	t.Helper()
	c, err := qdrant.NewClient(set.config())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
