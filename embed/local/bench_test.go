package local_test

import (
	"context"
	"strings"
	"testing"

	"evoke/embed"
	"evoke/embed/local"
)

// BenchmarkQuery embeds a query of about 25 and one of 128 tokens on one thread,
// at every instruction level of the machine:
//
//	go test ./embed/local -run - -bench Query -cpu 1
//
// It needs the models installed. The metric cpu-ms is the processor time of a
// query, which on a busy machine says more than the time that passed.
func BenchmarkQuery(b *testing.B) {
	short := "when did my sister say she would move to the new flat near the river with her two cats"
	long := strings.Repeat("the weather in the old town was fine and we walked along the river ", 12)
	for _, name := range models {
		for _, level := range []string{"avx512", "avx2"} {
			for label, text := range map[string]string{"25": short, "128": long} {
				b.Run(name+"/"+level+"/"+label, func(b *testing.B) {
					e := installed(b, name, &local.Options{Threads: 1, Instructions: level, MaxTokens: 128})
					if e.Instructions() != level {
						b.Skip("this machine has no " + level)
					}
					b.ReportAllocs()
					start := cpuTime()
					for b.Loop() {
						if _, err := e.EmbedQuery(context.Background(), text); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric((cpuTime()-start).Seconds()*1000/float64(b.N), "cpu-ms/op")
					b.ReportMetric(float64(len(e.Tokens(embed.Query, text))), "tokens")
				})
			}
		}
	}
}

// BenchmarkPassages embeds 64 short turns on two threads.
func BenchmarkPassages(b *testing.B) {
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = strings.Repeat("she will move to the flat near the river ", 1+i%3)
	}
	for _, name := range models {
		b.Run(name, func(b *testing.B) {
			e := installed(b, name, &local.Options{Threads: 2})
			start := cpuTime()
			for b.Loop() {
				if _, err := e.EmbedPassages(context.Background(), texts); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(b.N * len(texts))
			b.ReportMetric((cpuTime()-start).Seconds()*1000/n, "cpu-ms/text")
			b.ReportMetric(n/b.Elapsed().Seconds(), "texts/s")
		})
	}
}
