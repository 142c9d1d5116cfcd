package sqlitestore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/scoring"
	"evoke/store"
)

const benchDim = 384

var benchScope = store.Scope{Tenant: "t", User: "u"}

// benchWords is a vocabulary whose words are as frequent as in speech: the n-th about 1/n.
func benchWord(r *rand.Rand) string {
	n := int(math.Exp(r.Float64() * math.Log(20000)))
	return fmt.Sprintf("w%c%c%d", 'a'+n%26, 'a'+n/26%26, n)
}

func benchItems(n int) []store.Item {
	r := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	items := make([]store.Item, n)
	for i := range items {
		var text []string
		for range 8 + r.IntN(20) {
			text = append(text, benchWord(r))
		}
		items[i] = store.Item{ID: fmt.Sprintf("%08d", i), Kind: store.Episodic, Content: strings.Join(text, " "), Importance: 0.5, Confidence: 1,
			RecordedAt: at.Add(time.Duration(i) * time.Minute), ValidFrom: at.Add(time.Duration(i) * time.Minute),
			Turn: store.Turn{Thread: "t", Session: fmt.Sprint("s", i/30), Position: i % 30, Speaker: "Ann", Role: "user"}}
	}
	return items
}

// benchVectors have a few strong common directions, as centred text vectors have, so that many scores lie close together.
func benchVector(r *rand.Rand, themes [][]float32) []float32 {
	v := make([]float32, benchDim)
	a, b := themes[r.IntN(len(themes))], themes[r.IntN(len(themes))]
	sum := 0.0
	for i := range v {
		v[i] = 0.5*a[i] + 0.3*b[i] + float32(r.NormFloat64())*0.04
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func benchThemes(r *rand.Rand) [][]float32 {
	themes := make([][]float32, 200)
	for i := range themes {
		themes[i] = make([]float32, benchDim)
		for j := range themes[i] {
			themes[i][j] = float32(r.NormFloat64()) / float32(math.Sqrt(benchDim))
		}
	}
	return themes
}

// benchStore fills a store on disk.
func benchStore(b *testing.B, dir string, n int) *DB {
	b.Helper()
	ctx := context.Background()
	db, err := Open(ctx, dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if err := db.SetModel(ctx, "m", benchDim); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	themes := benchThemes(r)
	start := time.Now()
	for part := range slices.Chunk(benchItems(n), 1000) {
		if err := db.Apply(ctx, benchScope, store.Change{Put: part}); err != nil {
			b.Fatal(err)
		}
		es := make([]store.Embedding, len(part))
		for i := range part {
			es[i] = store.Embedding{ID: part[i].ID, Model: "m", TextKey: part[i].TextKey(), Own: [][]float32{benchVector(r, themes)}, Context: benchVector(r, themes)}
		}
		if err := db.SetEmbeddings(ctx, benchScope, es); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d items stored in %v", n, time.Since(start).Round(time.Millisecond))
	return db
}

func benchQueries(n int) []store.Query {
	r := rand.New(rand.NewPCG(5, 6))
	themes := benchThemes(rand.New(rand.NewPCG(3, 4)))
	qs := make([]store.Query, n)
	for i := range qs {
		var text []string
		for range 8 {
			text = append(text, benchWord(r))
		}
		qs[i] = store.Query{View: store.Current(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), Vector: benchVector(r, themes),
			Terms: scoring.QueryTerms(strings.Join(text, " ")), Dense: 100, Lexical: 100, Recent: 100, Important: 100}
	}
	return qs
}

// BenchmarkSearch runs all four arms of 100 each with a vector and eight words.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if testing.Short() && n > 10000 {
				b.Skip("100,000 items take half a minute to store")
			}
			ctx := context.Background()
			db := benchStore(b, b.TempDir(), n)
			start := time.Now()
			qs := benchQueries(64)
			if _, err := db.Search(ctx, benchScope, qs[0]); err != nil {
				b.Fatal(err)
			}
			b.Logf("%d items loaded in %v", n, time.Since(start).Round(time.Millisecond))
			var took []time.Duration
			i, found := 0, 0
			for b.Loop() {
				at := time.Now()
				c, err := db.Search(ctx, benchScope, qs[i%len(qs)])
				if err != nil {
					b.Fatal(err)
				}
				found = len(c.Records)
				took = append(took, time.Since(at))
				i++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(found), "records")
		})
	}
}

// BenchmarkCommit measures the acknowledgement of a turn: one item, its thread, arming, event and pending vector, each
// commit fsynced.
func BenchmarkCommit(b *testing.B) {
	for _, level := range []Durability{Full, Normal} {
		b.Run(string(level), func(b *testing.B) {
			ctx := context.Background()
			db, err := Open(ctx, b.TempDir(), &Options{Durability: level})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { db.Close() })
			items := benchItems(2000)
			var took []time.Duration
			i := 0
			for b.Loop() {
				w := benchWrite(i, items[i%len(items)])
				at := time.Now()
				if err := db.CommitBoth(ctx, w); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(at))
				i++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkAck paces commits as a busy ingest does, 100 a second from many callers, and reports when they were
// acknowledged.
func BenchmarkAck(b *testing.B) {
	ctx := context.Background()
	db, err := Open(ctx, b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	items := benchItems(2000)
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	i := 0
	for b.Loop() {
		<-tick.C
		w := benchWrite(i, items[i%len(items)])
		i++
		wg.Go(func() {
			at := time.Now()
			err := db.CommitBoth(ctx, w)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				b.Error(err)
			}
			took = append(took, time.Since(at))
		})
	}
	wg.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

func benchWrite(i int, it store.Item) store.Write {
	it.ID = fmt.Sprintf("n%08d", i)
	return store.Write{ID: it.ID, Scope: benchScope, Change: store.Change{Put: []store.Item{it}}, Embed: []string{it.ID},
		Thread: &store.ThreadState{Thread: it.Turn.Thread, Next: i}, Event: &store.Event{ID: it.ID, Thread: it.Turn.Thread, UpTo: i, CreatedAt: it.RecordedAt},
		Arm: &store.Arming{Thread: it.Turn.Session, Now: it.RecordedAt, Quiet: 30 * time.Second, MaxWait: 5 * time.Minute}}
}

// BenchmarkCensus counts what a tenant has, as its statistics do.
func BenchmarkCensus(b *testing.B) {
	const n = 100000
	if testing.Short() {
		b.Skip("100,000 items take half a minute to store")
	}
	db := benchStore(b, b.TempDir(), n)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	q := store.CensusQuery{View: store.Current(at), Users: 10, Since: []time.Time{at, at.AddDate(0, 0, -7), at.AddDate(0, 0, -30), at.AddDate(0, 0, -90), at.AddDate(-1, 0, 0)}}
	for b.Loop() {
		if c, err := db.Census(b.Context(), benchScope.Tenant, q); err != nil || c.Versions != n {
			b.Fatal(c.Versions, err)
		}
	}
}
