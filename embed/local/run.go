package local

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"evoke/embed/internal/bert"
)

// batch is a set of sequences that run together.
type batch struct {
	seqs  [][]int32
	texts []string
	// out[index[i]] receives the vector of sequence i.
	out   [][]float32
	index []int
	// visit, if set, sees the vectors of all tokens instead.
	visit func(hidden []float32)
}

// batches groups sequences of like length, so that a batch is neither large nor
// many.
func batches(seqs [][]int32, texts []string, out [][]float32) []batch {
	order := make([]int, len(seqs))
	for i := range order {
		order[i] = i
	}
	// Longest first: the last batches are then the cheap ones, and the threads
	// end together.
	slices.SortStableFunc(order, func(a, b int) int { return len(seqs[b]) - len(seqs[a]) })
	var all []batch
	cur, tokens := batch{out: out}, 0
	for _, i := range order {
		if tokens > 0 && tokens+len(seqs[i]) > batchTokens {
			all = append(all, cur)
			cur, tokens = batch{out: out}, 0
		}
		cur.seqs = append(cur.seqs, seqs[i])
		cur.texts = append(cur.texts, texts[i])
		cur.index = append(cur.index, i)
		tokens += len(seqs[i])
	}
	return append(all, cur)
}

// runAll runs batches on up to threads goroutines, which it waits for. The first
// error stops them all.
func (e *Encoder) runAll(ctx context.Context, all []batch) error {
	if len(all) == 1 {
		return e.run(ctx, passages, all[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(e.threads, len(all)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				if err := e.run(ctx, passages, all[i]); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// run computes one batch in the caller's goroutine, within the gate.
func (e *Encoder) run(ctx context.Context, c class, b batch) error {
	first, left := patience, patience // to begin with, and once it has begun
	if err := e.gate.enter(ctx, c, &first); err != nil {
		return err
	}
	inside := true
	defer func() {
		if inside {
			e.gate.leave(c)
		}
	}()
	s := e.scratch.Get().(*bert.Scratch)
	defer e.scratch.Put(s)
	hidden, err := e.net.Run(s, b.seqs, func() error {
		if err := ctx.Err(); err != nil || c == queries {
			return err
		}
		err := e.gate.yield(ctx, &left)
		inside = err == nil
		return err
	})
	if err != nil {
		return err
	}
	if b.visit != nil {
		b.visit(hidden)
		return nil
	}
	for i, seq := range b.seqs {
		n := len(seq) * e.model.Dim
		b.out[b.index[i]] = e.pool(hidden[:n], b.texts[i])
		hidden = hidden[n:]
	}
	return nil
}
