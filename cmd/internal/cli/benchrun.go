package cli

import (
	"context"
	"errors"
	"path/filepath"

	"evoke"
	"evoke/benchmarks"
	"evoke/embed"
)

// benchRun is what a run over sets works with.
type benchRun struct {
	sets     []benchmarks.Set
	embedder embed.Embedder // nil: by words alone
	reason   string         // why there is none
	work     string         // folder that keeps the stores; "": in memory
}

// benchRun reads the sets of the flags and opens the embedder of the settings.
func (a *app) benchRun(ctx context.Context, f *benchFlags, work string) (*benchRun, error) {
	sets, err := f.load()
	if err != nil {
		return nil, err
	}
	e, reason, err := a.benchEmbedder(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		a.note("lexical only: %s", reason)
	}
	return &benchRun{sets, e, reason, work}, nil
}

// onSet does something with an engine for one set, whose clock the harness sets. With a work folder its store is kept there,
// one for each set and model.
func onSet[R any](ctx context.Context, r *benchRun, set string, do func(*evoke.Memory, *benchmarks.Clock) (R, error)) (res R, err error) {
	clock := &benchmarks.Clock{}
	path := ""
	if r.work != "" {
		model := "none"
		if r.embedder != nil {
			model = r.embedder.Model().Name
		}
		path = filepath.Join(r.work, set+"-"+model)
	}
	m, err := evoke.Open(ctx, &evoke.Options{Path: path, Embedder: r.embedder, NoEmbedder: r.reason, Clock: clock.Now})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return do(m, clock)
}
