package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command that is said to work on memories is there, those that want to be told have the flag, and no other has it but
// flush, which works on one memory or on all.
func TestReaches(t *testing.T) {
	found := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		verb := verbOf(c)
		of, known := reaches[verb]
		found[verb] = known
		if all := c.LocalNonPersistentFlags().Lookup(allOfTenant) != nil; all != (of == told || verb == "flush") {
			t.Errorf("evoke %s: --%s is there: %v", verb, allOfTenant, all)
		}
		if ofThread[verb] && of == noMemory {
			t.Errorf("evoke %s: takes --thread and no memory", verb)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).root())
	for verb := range reaches {
		if !found[verb] {
			t.Errorf("there is no evoke %s", verb)
		}
	}
	for _, verb := range []string{"audit", "events", "export", "review", "consolidate", "erase", "hold", "retain", "undo", "restore", "flush"} {
		if !strings.Contains(whose, verb) {
			t.Errorf("the help does not say whose memory evoke %s takes", verb)
		}
	}
}
