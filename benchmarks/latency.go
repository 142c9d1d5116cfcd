package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"evoke"
	"evoke/embed"
	"evoke/extract/vectorize"
	"evoke/recall"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// LatencyOptions of a latency run. The zero value of a field means its default.
type LatencyOptions struct {
	Sizes    []int  // items in one scope; default 1,000, 10,000, 100,000
	Calls    int    // timed calls a size; default 300
	Dir      string // for the stores; default a temporary folder
	Progress func(string)
}

// LatencyReport is a whole latency run.
type LatencyReport struct {
	Machine  Machine
	Model    string
	Spectrum []SpectrumRow // of the material at the largest size
	Sizes    []LatencySize
}

// LatencySize is the latency of recall over n items in one scope.
type LatencySize struct {
	Items   int       `json:"items"`
	Given   Quantiles `json:"query_vector_given_ms"`
	Encoder Quantiles `json:"with_encoder_ms"`
	Cold    float64   `json:"first_call_ms"` // loads the scope's index
	// Resident is the memory of the whole process after the calls with the query's vector given, in MB; 0 where the system
	// does not tell. The set, its vectors and the model are in it: what a memory adds is the difference between two sizes.
	Resident float64 `json:"resident_mb"`
}

// RunLatency measures Recall through the façade at several sizes, with the query's vector given and with the encoder.
// The items are made from the set's: see material.
func RunLatency(ctx context.Context, e embed.Embedder, s *Set, opts *LatencyOptions) (*LatencyReport, error) {
	o := LatencyOptions{}
	if opts != nil {
		o = *opts
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{1000, 10000, 100000}
	}
	if o.Calls == 0 {
		o.Calls = 300
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	e = Uncached(e)
	mat, err := newMaterial(ctx, e, s, o.Progress)
	if err != nil {
		return nil, err
	}
	r := &LatencyReport{Machine: ThisMachine(ctx, time.Now()), Model: e.Model().ID(), Spectrum: mat.spectrum()}
	for _, n := range o.Sizes {
		size, err := mat.measure(ctx, e, n, &o)
		if err != nil {
			return nil, fmt.Errorf("latency at %d items: %w", n, err)
		}
		r.Sizes = append(r.Sizes, *size)
	}
	return r, nil
}

var latencyScope = store.Scope{Tenant: "default", User: "latency"}

func (m *material) measure(ctx context.Context, e embed.Embedder, n int, o *LatencyOptions) (*LatencySize, error) {
	dir, err := os.MkdirTemp(o.Dir, "evoke-latency-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o.Progress(fmt.Sprintf("making a store of %d items", n))
	if err := m.fill(ctx, dir, n); err != nil {
		return nil, err
	}
	size := &LatencySize{Items: n}
	for _, way := range []struct {
		embedder embed.Embedder
		into     *Quantiles
	}{{m.given(), &size.Given}, {e, &size.Encoder}} {
		cold, q, resident, err := m.time(ctx, dir, way.embedder, o.Calls)
		if err != nil {
			return nil, err
		}
		*way.into = q
		if size.Cold == 0 {
			size.Cold, size.Resident = cold, resident
		}
	}
	o.Progress(fmt.Sprintf("%d items: given p95 %.2f ms, with encoder p50 %.2f ms", n, size.Given.P95, size.Encoder.P50))
	return size, nil
}

// fill writes n items with their vectors into a store of its own.
func (m *material) fill(ctx context.Context, dir string, n int) (err error) {
	db, err := sqlitestore.Open(ctx, dir, &sqlitestore.Options{Durability: sqlitestore.Normal})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	space := m.model
	space.Views = vectorize.ViewsVersion
	if err := db.SetModel(ctx, space.ID(), space.Dim); err != nil {
		return err
	}
	const batch = 1000
	for from := 0; from < n; from += batch {
		w := store.Write{ID: fmt.Sprint("w", from), Scope: latencyScope}
		var es []store.Embedding
		for i := from; i < min(from+batch, n); i++ {
			it, own, prev := m.make(i)
			if err := it.Prepare(store.Limits{}); err != nil {
				return err
			}
			w.Put = append(w.Put, it)
			es = append(es, store.Embedding{ID: it.ID, Model: space.ID(), TextKey: it.TextKey(), Own: [][]float32{own}, Context: prev})
		}
		if err := store.Commit(ctx, db, db, w); err != nil {
			return err
		}
		if err := db.SetEmbeddings(ctx, latencyScope, es); err != nil {
			return err
		}
	}
	return nil
}

// time asks every query in turn, after a first call that loads the index and a few that warm up, and tells how much memory is
// resident after that.
func (m *material) time(ctx context.Context, dir string, e embed.Embedder, calls int) (cold float64, q Quantiles, resident float64, err error) {
	mem, err := evoke.Open(ctx, &evoke.Options{Path: dir, Durability: "normal", Embedder: e})
	if err != nil {
		return 0, q, 0, err
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	ask := func(i int) (float64, error) {
		began := time.Now()
		res, err := mem.Recall(ctx, evoke.RecallRequest{Who: evoke.Who{User: latencyScope.User}, Request: recall.Request{Query: m.queries[i%len(m.queries)], Limit: 10}})
		took := float64(time.Since(began).Microseconds()) / 1000
		switch {
		case err != nil:
			return 0, err
		case len(res.Hits) == 0 || len(res.Degraded) > 0:
			return 0, fmt.Errorf("an answer without hits or with faults: %v", res.Degraded)
		}
		return took, nil
	}
	if cold, err = ask(0); err != nil {
		return 0, q, 0, err
	}
	const warm = 20
	var ms []float64
	for i := range warm + calls {
		t, err := ask(i)
		if err != nil {
			return 0, q, 0, err
		}
		if i >= warm {
			ms = append(ms, t)
		}
	}
	debug.FreeOSMemory() // what making the store and the calls left behind is not the memory's
	return cold, quantiles(ms), residentMB(), nil
}

// residentMB is how much of the process is in memory, in millions of bytes; 0 where the system does not tell.
func residentMB() float64 {
	text, err := os.ReadFile("/proc/self/statm") // pages: of the address space, resident, …
	var size, pages float64
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize()) / 1e6
}
