package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server"
	"evoke/cmd/internal/wire"
	"evoke/store"
)

func (a *app) serveCmd() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use: "serve", Short: "Answer the REST API", Args: cobra.NoArgs,
		Long: `Answers the REST API (GET /openapi.json describes it) until it is told to stop. Without keys it listens on a loopback address only;
"evoke key new" makes keys.`,
	}
	c.Flags().StringVar(&listen, "listen", "", "host:port (setting server.listen)")
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
		if err := cfg.CheckTenants(); err != nil {
			return err
		}
		logger := a.logger(cfg.Log)
		meters := server.NewMeters()
		m, err := wire.Open(c.Context(), cfg, &wire.Options{NoModel: a.noModel, Logger: logger, Events: meters.Events(), Environ: a.process.Environ})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		meters.WatchLoad(m.Load)
		tenants := func(tenant string) (server.Memory, error) { return m.ForTenant(tenant) }
		srv, err := server.New(tenants, cfg, &server.Options{Logger: logger, Meters: meters})
		if err != nil {
			return err
		}
		st, err := m.Stats(c.Context(), evoke.Who{})
		if err != nil {
			return err
		}
		logger.InfoContext(c.Context(), "engine open", "version", evoke.Version, "embedder", st.Embedder, "note", st.Note)
		l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", cfg.Server.Listen)
		if err != nil {
			return fmt.Errorf("%w: server.listen: %w", store.ErrInvalid, err)
		}
		return srv.Serve(c.Context(), l)
	}
	return c
}

// logger writes the log to standard error in the form that the settings name.
func (a *app) logger(l config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		level = slog.LevelInfo // the settings were checked; this cannot be
	}
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.process.Err, o))
	}
	return slog.New(slog.NewTextHandler(a.process.Err, o))
}
