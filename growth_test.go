package evoke

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// footprint is what the process holds when nothing runs: bytes of the heap, and goroutines.
func footprint() (bytes int64, routines int) {
	runtime.GC()
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return int64(ms.HeapAlloc), runtime.NumGoroutine()
}

// A memory that is asked and written to without end, its number of items staying the same, holds no more after a long time
// than after a short one: neither bytes nor goroutines. Questions and texts are new each time, so that no cache can hide it.
func TestMemoryStaysFlat(t *testing.T) {
	oneByOne(t)
	first, last, until := 15, 50, time.Now() // rounds
	if os.Getenv("EVOKE_SOAK") == "" {
		t.Logf("%d rounds; EVOKE_SOAK for an hour", last)
	} else {
		first, last, until = 2000, 0, time.Now().Add(time.Hour)
	}
	const room = 8 << 20 // what caches of a fixed size may still take after the first part
	m := open(t, &Options{Path: t.TempDir(), Embedder: &bagEmbedder{}})
	who := Who{User: "ann"}
	var list []store.Item
	for i := range 300 {
		list = append(list, store.Item{
			ID: fmt.Sprint("n", i), Kind: store.Semantic, Confidence: 1, ValidFrom: time.Now(), RecordedAt: time.Now(),
			Content: fmt.Sprintf("Note %d: the %s is on shelf %d.", i, []string{"kettle", "atlas", "drill"}[i%3], i%17),
		})
	}
	putAll(t, m, who, list)
	settle(t, m)
	rounds := 0
	run := func(most int, until time.Time) {
		for ; rounds < most || time.Now().Before(until); rounds++ {
			query := fmt.Sprintf("where is the kettle of note %d?", rounds)
			if _, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: query, Explain: true}}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Context(t.Context(), ContextRequest{Who: who, Request: recall.Request{Query: query}}); err != nil {
				t.Fatal(err)
			}
			res, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: fmt.Sprintf("Passing thought %d about box %d.", rounds, rounds*7)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{res.Item.ID}}); err != nil {
				t.Fatal(err)
			}
		}
		settle(t, m)
	}
	run(first, time.Time{})
	early, routines := footprint()
	atEarly := rounds
	run(last, until)
	late, after := footprint()
	t.Logf("soak: flat memory / %d rounds of recall, block, remember and forget, then %d more: the heap went from %.1f to %.1f MB, goroutines from %d to %d",
		atEarly, rounds-atEarly, float64(early)/(1<<20), float64(late)/(1<<20), routines, after)
	if late-early > room || after > routines+2 {
		t.Errorf("after %d rounds %d bytes and %d goroutines more", rounds, late-early, after-routines)
	}
}
