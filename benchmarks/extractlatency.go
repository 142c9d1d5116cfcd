package benchmarks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"evoke/extract"
	"evoke/store"
)

// TimeExtractor measures an extractor alone, without a store: over texts, one turn a call, and over one long line.
func TimeExtractor(ctx context.Context, x extract.Extractor, texts []string) (*ExtractLatency, error) {
	l := &ExtractLatency{Turns: len(texts)}
	run := func(text string) (time.Duration, error) {
		b := extract.Batch{Turns: []store.Item{{ID: "t", Kind: store.Episodic, Content: text, Turn: store.Turn{Role: "user", Speaker: "user"}}}}
		began := time.Now()
		_, err := x.Extract(ctx, b)
		return time.Since(began), err
	}
	for _, t := range texts {
		d, err := run(t)
		if err != nil {
			return nil, err
		}
		l.PerTurn += d
	}
	if len(texts) > 0 {
		l.PerTurn /= time.Duration(len(texts))
	}
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ { // no sentence twice: an extractor may pass over what it has read
		fmt.Fprintf(&b, "I saw train number %d in my town, and the weather was fine when bus %d came in. ", i, i)
	}
	line := b.String()[:1<<20]
	var err error
	if l.Megabyte, err = run(line); err == nil {
		l.Half, err = run(line[:len(line)/2])
	}
	return l, err
}
