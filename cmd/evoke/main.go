// Command evoke is the memory engine as one binary: command line and server.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"evoke/cmd/internal/cli"
)

//go:generate sh -c "go run . config reference > reference.tmp && mv reference.tmp ../../docs/configuration.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.Process{
		Args: os.Args[1:], Environ: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	stop()
	os.Exit(code)
}
