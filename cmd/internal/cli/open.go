package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/wire"
	"evoke/store"
)

// session is an open memory with the settings of its tenant.
type session struct {
	*evoke.Memory
	set config.Tenant
}

// withMemory opens the memory that the settings name, with its model, runs f and closes it again.
func (a *app) withMemory(c *cobra.Command, f func(ctx context.Context, s session) error) error {
	return a.open(c, a.noModel, f)
}

// withStore is withMemory for commands that neither search nor write texts: no model is loaded for them.
func (a *app) withStore(c *cobra.Command, f func(ctx context.Context, s session) error) error {
	return a.open(c, true, f)
}

// makesStore are the commands that make a data directory that is not there; to the others a wrong --store is a mistake.
var makesStore = map[string]bool{"ingest": true, "remember": true, "import": true, "new": true, "create": true, "set": true}

func (a *app) open(c *cobra.Command, noModel bool, f func(ctx context.Context, s session) error) (err error) {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	// A person at a command line wants the answer, not a log: only warnings pass.
	logger := slog.New(slog.NewTextHandler(a.process.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	m, err := wire.Open(c.Context(), cfg, &wire.Options{
		NoModel: noModel, Existing: !makesStore[c.Name()], Logger: logger, Environ: a.process.Environ,
	})
	if errors.Is(err, store.ErrLocked) {
		err = fmt.Errorf("%w; a running evoke serve that holds it does the same over HTTP (its routes: GET /openapi.json)", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	ctx := evoke.WithActor(c.Context(), evoke.Actor{Name: "command line"})
	return f(ctx, session{m.Memory, cfg.For(cfg.Tenant)})
}

// settle waits for vectors and due extraction, so that the next command finds them. It is a courtesy: whatever is not
// done when the time is over is durable and goes on at the next command.
func (a *app) settle(ctx context.Context, s session, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	done := a.spinner("embedding")
	defer done()
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := s.Settle(limited); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return ctx.Err()
}
