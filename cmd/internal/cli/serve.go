package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server"
	"evoke/cmd/internal/trace"
	"evoke/cmd/internal/wire"
	"evoke/recall/tokens"
	"evoke/store"
)

func (a *app) serveCmd() *cobra.Command {
	var listen string
	var reembed bool
	c := &cobra.Command{
		Use: "serve", Short: "Answer the REST API", Args: noArgs,
		Long: `Answers the REST API (GET /openapi.json describes it) until it is told to stop. Without keys it listens on a loopback address only;
"evoke key new" makes keys.`,
	}
	c.Flags().StringVar(&listen, "listen", "", "host:port (setting server.listen)")
	c.Flags().BoolVar(&reembed, "reembed", false, "after a change of the embedding model compute the vectors anew while answering by words")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		flags := map[string]any{}
		if listen != "" {
			flags["server.listen"] = listen
		}
		cfg, err := a.configWith(flags)
		if err != nil {
			return err
		}
		if err := cfg.CheckListen(); err != nil {
			return err
		}
		logger, level := a.logger(cfg.Log)
		tracer, err := trace.FromEnv(c.Context(), a.process.Environ)
		if err != nil {
			return err
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if cannot := tracer.Close(ctx); cannot != nil {
				logger.Warn("traces could not be sent", "error", cannot)
			}
		}()
		meters := server.NewMeters()
		events := meters.Events()
		events.Span = meters.Timed(tracer.Stage)
		m, err := wire.Open(c.Context(), cfg, &wire.Options{NoModel: a.noModel, Logger: logger, Events: events, Environ: a.process.Environ})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		meters.WatchLoad(m.Load)
		meters.WatchQueue(m.Queue, nil)
		meters.Price(m.Cost)
		tenants := func(tenant string) (server.Memory, error) { return m.ForTenant(tenant) }
		srv, err := server.New(tenants, cfg, &server.Options{Logger: logger, Meters: meters, Tracer: tracer})
		if err != nil {
			return err
		}
		st, err := m.Stats(c.Context(), evoke.Who{})
		if err != nil {
			return err
		}
		logger.InfoContext(c.Context(), "engine open", "version", evoke.Version, "embedder", st.Embedder, "note", st.Note)
		if reembed {
			if err := a.beginReembed(c.Context(), m.Memory, logger); err != nil {
				return err
			}
		}
		l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", cfg.Server.Listen)
		if err != nil {
			return fmt.Errorf("%w: server.listen: %w", store.ErrInvalid, err)
		}
		defer warm(logger)()
		r := &running{cfg, m, srv, logger, level, len(cfg.Keys) > 0}
		defer r.watch(c.Context(), a.source(flags))()
		return srv.Serve(c.Context(), l)
	}
	return c
}

// warm builds, beside the start, the token encoding that the first block would wait for otherwise: a second or two on a busy
// machine. The function that it returns waits for it.
func warm(logger *slog.Logger) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		began := time.Now()
		count, err := tokens.For("")
		if err != nil {
			logger.Warn("no token encoding", "error", err)
			return
		}
		logger.Info("token encoding built", "encoding", count.Name(), "took", time.Since(began).Round(time.Millisecond))
	}()
	return func() { <-ended }
}

// beginReembed begins a re-embedding where there is need of one.
func (a *app) beginReembed(ctx context.Context, m *evoke.Memory, logger *slog.Logger) error {
	op, err := m.Reembed(evoke.WithActor(ctx, evoke.Actor{Name: "command line"}), false)
	if errors.Is(err, store.ErrConflict) {
		logger.InfoContext(ctx, "no need to re-embed: the store's vectors are of the model")
		return nil
	}
	if err == nil {
		logger.InfoContext(ctx, "re-embedding", "operation", op.ID)
	}
	return err
}

// running is a server with the settings that it was started with.
type running struct {
	set    *config.Config
	engine *wire.Engine
	server *server.Server
	log    *slog.Logger
	level  *slog.LevelVar
	keyed  bool // requests need a key
}

// watch takes changed settings from now on, until the function it returns is called.
func (r *running) watch(ctx context.Context, from config.Options) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.set.Watch(ctx, from, config.WatchEvery, hup, r.log, r.take)
	}()
	return func() {
		signal.Stop(hup)
		cancel()
		<-ended
	}
}

// take puts new settings in force, all of them or none.
func (r *running) take(next *config.Config) error {
	restart := r.set.NeedRestart(next)
	next.Server.Listen = r.set.Server.Listen // it listens there already
	if err := next.CheckListen(); err != nil {
		return err
	}
	if r.keyed && len(next.Keys) == 0 { // a file that is just being written is empty for a moment
		return fmt.Errorf("%w: %w: the keys in force are gone from the settings; a running server does not go on without (restart it to)",
			store.ErrInvalid, config.ErrNoKeys)
	}
	engine, err := r.engine.Prepare(next)
	if err != nil {
		return err
	}
	answers, err := r.server.Prepare(next)
	if err != nil {
		return err
	}
	engine()
	answers()
	r.keyed = len(next.Keys) > 0
	setLevel(r.level, next.Log.Level)
	r.log.Info("new settings are in force", "keys", len(next.Keys), "tenants", len(next.Tenants), "need_restart", restart)
	return nil
}

// logger writes the log to standard error in the form that the settings name. Its level may be changed.
func (a *app) logger(l config.Log) (*slog.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	setLevel(level, l.Level)
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.process.Err, o)), level
	}
	return slog.New(slog.NewTextHandler(a.process.Err, o)), level
}

// setLevel sets a level by its name, which was checked with the settings.
func setLevel(v *slog.LevelVar, name string) {
	var level slog.Level
	if level.UnmarshalText([]byte(name)) == nil {
		v.Set(level)
	}
}
