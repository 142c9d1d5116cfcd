package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
)

func (a *app) profileCmd() *cobra.Command {
	var moment asOfFlags
	c := &cobra.Command{
		Use: "profile", Short: "Show what is known of a user as a whole", Args: noArgs,
		Long: `Shows the sections of a user's profile that a language model keeps, each with its version and sources. As long as none is
written (rules write none) the current facts are shown, by category.`,
	}
	moment.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		at, known, err := moment.times()
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Profile(ctx, evoke.ProfileRequest{Who: a.who, AsOf: at, Known: known})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			a.printProfile(res)
			return nil
		})
	}
	return c
}

func (a *app) printProfile(res evoke.ProfileResult) {
	switch {
	case res.Skipped != "":
		a.printf("no profile: %s\n", res.Skipped)
	case res.Source == evoke.ProfileOfFacts:
		a.printFacts(res)
	}
	for _, s := range res.Sections {
		title := strings.ReplaceAll(s.Name, "_", " ")
		if s.Version == 0 {
			a.printf("%s: nothing written\n", title)
			continue
		}
		note := ""
		if s.Stale {
			note = ", a source was forgotten since"
		}
		a.printf("%s (version %d of %s, from %s%s): %s\n", title, s.Version, s.Updated.Format(time.RFC3339), count(len(s.Sources), "turn"), note, visible(s.Content))
	}
}

func (a *app) printFacts(res evoke.ProfileResult) {
	if len(res.Facts) == 0 {
		a.printf("nothing is known yet\n")
		return
	}
	a.printf("no section is written; the current facts:\n")
	for _, g := range res.Facts {
		name := string(g.Category)
		if name == "" {
			name = "other"
		}
		a.printf("%s\n", name)
		for _, it := range g.Items {
			a.printf("  %s\n", clip(line(it), contentWidth))
		}
	}
	if res.More {
		a.note("there are more: evoke list shows all")
	}
}
