package local_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"evoke/embed/local"
)

// BenchmarkQueryBesideBulk embeds ten queries a second while passages are embedded without end beside, and reports how
// long the queries take, and how many passages a second there is room for.
func BenchmarkQueryBesideBulk(b *testing.B) {
	e := installed(b, "multilingual-e5-small-q4", &local.Options{Threads: 2})
	ctx, cancel := context.WithCancel(b.Context())
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = fmt.Sprintf("We spoke about matter %d yesterday, and what to do about the %d open questions of the harbour.", i, i*i)
	}
	done, ended := 0, make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if _, err := e.EmbedPassages(ctx, texts); err == nil {
				done += len(texts)
			}
		}
	}()
	var ms []float64
	tick := time.NewTicker(100 * time.Millisecond)
	for b.Loop() {
		<-tick.C
		at := time.Now()
		if _, err := e.EmbedQuery(ctx, "What did we say about the harbour and its open questions last week?"); err != nil {
			b.Fatal(err)
		}
		ms = append(ms, float64(time.Since(at).Microseconds())/1000)
	}
	tick.Stop()
	cancel()
	<-ended
	slices.Sort(ms)
	b.ReportMetric(ms[len(ms)/2], "p50-ms")
	b.ReportMetric(ms[len(ms)*95/100], "p95-ms")
	b.ReportMetric(float64(done)/time.Since(began).Seconds(), "passages/s")
}
