package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) tenantStatsCmd() *cobra.Command {
	var r evoke.TenantStatsRequest
	c := &cobra.Command{
		Use: "tenant", Short: "Count what the tenant has, over all memories, by kind, category, age and user, and what it takes", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withMemory(c, func(ctx context.Context, s session) error {
				st, err := s.TenantStats(ctx, r)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(st)
				}
				return a.printTenantStats(&st)
			})
		},
	}
	c.Flags().IntVar(&r.Users, "top", 10, "how many users are counted by themselves, those with the most items; at most 100, -1 for none")
	return c
}

func (a *app) printTenantStats(st *evoke.TenantStats) error {
	rows := [][]string{}
	add := func(what string, n any) { rows = append(rows, []string{what, fmt.Sprint(n)}) }
	add("memories", st.Memories)
	add("items", st.Total)
	for _, k := range store.Kinds() {
		add("  "+string(k), st.Kinds[k])
	}
	for _, c := range store.Categories() {
		add("  of category "+string(c), st.Categories[c])
	}
	for _, age := range st.Ages {
		name := fmt.Sprintf("  up to %d days old", age.Days)
		if age.Days == 0 {
			name = "  older"
		}
		add(name, age.Items)
	}
	for _, u := range st.Users {
		add("  of user "+clip(visible(u.User), contentWidth), u.Items)
	}
	add("versions", st.Versions)
	add("bytes", st.Bytes)
	for _, s := range []store.EventState{store.EventPending, store.EventStored, store.EventNothing, store.EventQuarantined, store.EventDead} {
		add("events "+string(s), st.Events[s])
	}
	add("model calls in 30 days", st.Usage.Calls)
	if st.Cost > 0 {
		add("their cost", fmt.Sprintf("%.4f", st.Cost))
		for _, d := range st.Days {
			add("  on "+d.Day, fmt.Sprintf("%.4f", d.Cost))
		}
	}
	add("embedder", st.Embedder)
	if st.Note != "" {
		add("note", st.Note)
	}
	return a.table([]string{"WHAT", "VALUE"}, rows)
}
