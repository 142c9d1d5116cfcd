// Package cli is the command line: one command for each verb of the engine, tables for people and --json for programs,
// exit codes by class of error, and errors as one line that names the mend.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/errmap"
	"evoke/store"
)

// Process is what a run of the program has of the outside.
type Process struct {
	Args    []string
	Environ []string
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
}

// Main runs one command and returns the exit code.
func Main(ctx context.Context, p Process) int {
	a := &app{process: p}
	root := a.root() //nolint:contextcheck // ExecuteContext hands the context to each command
	root.SetArgs(p.Args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.unhelped
	}
	if err == nil {
		return errmap.ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(p.Err, "evoke: interrupted; what was acknowledged is kept")
		return errmap.Exit(context.Canceled)
	}
	fmt.Fprintln(p.Err, "evoke: "+oneLine(err))
	return errmap.Exit(err)
}

// oneLine is an error on one line, without the name of its class in front where a sentence follows.
func oneLine(err error) string {
	s := strings.TrimPrefix(err.Error(), store.ErrInvalid.Error()+": ")
	return strings.Join(strings.Fields(s), " ")
}

// app is one run of the program: the global flags, and what they lead to.
type app struct {
	process Process

	configFile, storePath, tenant string
	who                           evoke.Who
	json, noModel                 bool

	unhelped error // why there was no help to show: it was asked of a command that there is not
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "evoke",
		Short: "A memory engine for AI agents",
		Long: `Evoke takes conversations in and answers what an agent should know right now: ranked, explained, within a token budget.

It needs no server, no key and no network: data lies in one directory (--store). Settings come from a YAML file, EVOKE_*
variables and flags; see "evoke config reference".

` + whose + "\n\n" + exitCodes(),
		Version:       evoke.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err) })
	f := root.PersistentFlags()
	f.StringVar(&a.configFile, "config", "", "configuration file")
	f.StringVar(&a.storePath, "store", "", "data directory (default: setting store.path, else evoke in the user's data folder)")
	f.StringVar(&a.tenant, "tenant", "", "tenant (setting tenant)")
	f.StringVar(&a.who.User, "user", "", whoseFlags[oneMemory][0])
	f.StringVar(&a.who.Agent, "agent", "", whoseFlags[oneMemory][1])
	f.StringVar(&a.who.Thread, "thread", "", "conversation; commands that work on no single one refuse it")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.BoolVar(&a.noModel, "no-model", false, "leave the embedding model alone: lexical only")
	root.AddCommand(
		a.ingestCmd(), a.flushCmd(), a.eventsCmd(), a.queueCmd(), a.reviewCmd(), a.rememberCmd(), a.getCmd(), a.updateCmd(), a.listCmd(), a.recentCmd(), a.recallCmd(),
		a.contextCmd(), a.blockCmd(), a.feedbackCmd(), a.outcomeCmd(), a.forgetCmd(), a.restoreCmd(), a.retainCmd(), a.holdCmd(), a.scheduleCmd(), a.eraseCmd(), a.receiptCmd(), a.consolidateCmd(), a.sourcesCmd(), a.undoCmd(), a.diffCmd(), a.operationsCmd(), a.auditCmd(), a.statsCmd(), a.usageCmd(), a.profileCmd(), a.exportCmd(), a.importCmd(), a.reembedCmd(), a.backupCmd(), a.healthCmd(), a.modelCmd(), a.keyCmd(), a.keysCmd(), a.policyCmd(), a.tenantsCmd(),
		a.configCmd(), a.serveCmd(), a.demoCmd(), a.benchCmd(), a.versionCmd(),
	)
	checkArgs(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() && c.Args != nil {
			if a.unhelped = c.Args(c, c.Flags().Args()); a.unhelped != nil {
				return
			}
		}
		showReach(c)
		help(c, args)
	})
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return checkReach(c) }
	return root
}

// checkArgs makes wrong arguments of a command and those below it errors of usage.
func checkArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if _, takes, ok := strings.Cut(c.Use, " "); ok && err != nil { // cobra's words name no argument
				err = fmt.Errorf("%s takes %s, got %s", c.CommandPath(), takes, count(len(args), "argument"))
			}
			if err != nil {
				return usage(c, err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		checkArgs(sub)
	}
}

// usage is a mistake in how the command was called.
func usage(c *cobra.Command, err error) error {
	text, _, _ := strings.Cut(oneLine(err), ": strconv.") // how Go reads numbers helps nobody
	return fmt.Errorf("%w: %s (see %s --help)", store.ErrInvalid, text, c.CommandPath())
}

// noArgs refuses arguments: of a command without any below it, cobra's own calls them unknown commands.
func noArgs(c *cobra.Command, args []string) error {
	switch {
	case c.HasSubCommands():
		return noSuchCommand(c, args)
	case len(args) > 0:
		return fmt.Errorf("%s takes flags only, got %.40q", c.CommandPath(), args[0])
	}
	return nil
}

// noSuchCommand answers an unknown command with the nearest ones.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 3
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%s has no command %q%s", c.CommandPath(), args[0], hint)
}

func exitCodes() string {
	var b strings.Builder
	b.WriteString("Exit codes: 0 done")
	for _, e := range errmap.ExitCodes() {
		fmt.Fprintf(&b, ", %d %s", e.Exit, e.Class)
	}
	return b.String() + "."
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{"version": evoke.Version})
			}
			a.printf("evoke %s\n", evoke.Version)
			return nil
		},
	}
}

// config reads the settings with the global flags over them.
func (a *app) config() (*config.Config, error) { return a.configWith(nil) }

func (a *app) configWith(flags map[string]any) (*config.Config, error) {
	return config.Load(a.source(flags))
}

// source says where the settings come from: the global flags and those given are over the rest.
func (a *app) source(flags map[string]any) config.Options {
	all := map[string]any{}
	if a.storePath != "" {
		all["store.path"] = a.storePath
	}
	if a.tenant != "" {
		all["tenant"] = a.tenant
	}
	for name, v := range flags {
		all[name] = v
	}
	return config.Options{File: a.configFile, Environ: a.process.Environ, Flags: all}
}

func (a *app) printf(format string, args ...any) {
	_, _ = io.WriteString(a.process.Out, shown(fmt.Sprintf(format, args...))) // as fmt.Printf: nobody is left to tell
}

// note writes a remark for people beside the answer.
func (a *app) note(format string, args ...any) {
	_, _ = io.WriteString(a.process.Err, shown(fmt.Sprintf(format, args...))+"\n") // as above
}

// isTerminal reports whether a person watches the stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
