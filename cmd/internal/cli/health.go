package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"evoke/store"
)

func (a *app) healthCmd() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Ask the server of this machine whether it is ready", Args: noArgs,
		Long: "Asks /readyz of the server that listens at server.listen on this machine: for the health check of a container, which needs no other program.",
	}
	c.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.config()
		if err != nil {
			return err
		}
		host, port, err := net.SplitHostPort(cfg.Server.Listen)
		if err != nil {
			return store.Invalid("server.listen", "host:port", "")
		}
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		ctx, cancel := context.WithTimeout(c.Context(), timeout)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
		if err != nil {
			return store.Invalid("server.listen", "host:port", "")
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy of the environment: it is this machine
		resp, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("%w: no server answers: %w", store.ErrUnavailable, err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		if err != nil {
			return fmt.Errorf("%w: the answer broke off: %w", store.ErrUnavailable, err)
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%w: the server is not ready: %s", store.ErrUnavailable, visible(string(body)))
		}
		a.printf("%s\n", visible(string(body)))
		return nil
	}
	return c
}
