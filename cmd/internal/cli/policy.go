package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) policyCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "policy", Short: "Show and set what the tenant decides for itself: redaction, namespace, budget, retention, consolidation, review", Args: noSuchCommand,
		Long: `The policy of the tenant of --tenant lies in the store and goes before the settings, section by section; of two budgets the lower one
holds. A running server holds the store: there it is /v1/admin/policy, and a change holds from the next call on.`,
		Example: `  evoke policy get --tenant acme
  echo '{"redaction":{"mode":"mask"},"budget":{"calls_per_day":500}}' | evoke policy set - --tenant acme`,
	}
	c.RunE = a.policyGet
	c.AddCommand(
		&cobra.Command{Use: "get", Short: "Show what holds and where each part comes from", Args: noArgs, RunE: a.policyGet},
		&cobra.Command{Use: "history", Short: "List the policies of before, newest first", Args: noArgs, RunE: a.policyHistory},
		a.policySetCmd(), a.policyResetCmd(),
	)
	return c
}

func (a *app) policyGet(c *cobra.Command, _ []string) error {
	return a.withStore(c, func(ctx context.Context, s session) error {
		p, err := s.TenantPolicy(ctx)
		if err != nil {
			return err
		}
		return a.printPolicy(&p)
	})
}

func (a *app) policyHistory(c *cobra.Command, _ []string) error {
	return a.withStore(c, func(ctx context.Context, s session) error {
		list, err := s.PolicyHistory(ctx)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"versions": list})
		}
		rows := make([][]string, len(list))
		for i, v := range list {
			rows[i] = []string{fmt.Sprint(v.Version), v.At.Format(time.RFC3339), visible(v.By), section(v.Policy)}
		}
		return a.table([]string{"VERSION", "WHEN", "BY", "POLICY"}, rows)
	})
}

func (a *app) policySetCmd() *cobra.Command {
	var version int64
	c := &cobra.Command{
		Use: "set FILE", Short: "Put a policy (JSON) in the place of the one before; - reads standard input", Args: cobra.ExactArgs(1),
		Long: `Reads a policy as JSON: {"redaction": {"mode": "mask", "patterns": {"badge": "B-\\d{4}"}}, "namespace": {"preset": "experts", "rules":
[{"agent": "clerk", "namespace": "user"}]}, "budget": {"calls_per_day": 500, "tokens_per_day": 1000000, "calls_per_minute": 20}, "retention":
{"max_items": 10000, "ttl_days": 365, "kinds": {"episodic": 180}}, "consolidation": {"min_age_hours": 336, "merge": true}, "review": {"mode":
"low_confidence"}}. A section that is left out is as the settings say.`,
	}
	c.Flags().Int64Var(&version, "version", -1, "of the policy as it was read: another one in the store is a conflict (default: whatever it is)")
	c.RunE = func(c *cobra.Command, args []string) error {
		doc, err := a.policyFile(args[0])
		if err != nil {
			return err
		}
		return a.changePolicy(c, version, func(ctx context.Context, s session, version int64) (evoke.PolicyResult, error) {
			return s.SetPolicy(ctx, evoke.SetPolicyRequest{Policy: doc, Version: version})
		})
	}
	return c
}

func (a *app) policyResetCmd() *cobra.Command {
	var version int64
	c := &cobra.Command{Use: "reset", Short: "Take everything out of the policy, so that the settings hold", Args: noArgs}
	c.Flags().Int64Var(&version, "version", -1, "of the policy as it was read: another one in the store is a conflict (default: whatever it is)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.changePolicy(c, version, func(ctx context.Context, s session, version int64) (evoke.PolicyResult, error) {
			return s.ResetPolicy(ctx, version)
		})
	}
	return c
}

func (a *app) changePolicy(c *cobra.Command, version int64, change func(context.Context, session, int64) (evoke.PolicyResult, error)) error {
	if version < -1 {
		return store.Invalid("--version", "that of the policy as it was read", fmt.Sprint(version))
	}
	return a.withStore(c, func(ctx context.Context, s session) error {
		if version < 0 {
			history, err := s.PolicyHistory(ctx) // one that cannot be read is replaced as well
			if err != nil {
				return err
			}
			if version = 0; len(history) > 0 {
				version = history[0].Version
			}
		}
		p, err := change(ctx, s, version)
		if err != nil {
			return err
		}
		return a.printPolicy(&p)
	})
}

// policyFile reads a policy from a file, or standard input for "-".
func (a *app) policyFile(name string) (doc evoke.TenantPolicy, err error) {
	const most = 1 << 20
	in := a.process.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return doc, fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return doc, fmt.Errorf("read the policy: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil || d.More() {
		return doc, store.Invalid("policy", "one JSON object with redaction, namespace, budget, retention, consolidation or review (see evoke policy set --help)", strings.TrimPrefix(why(err), "json: "))
	}
	return doc, nil
}

// why says what is wrong with JSON, without what it holds.
func why(err error) string {
	var t *json.UnmarshalTypeError
	switch {
	case err == nil:
		return "more than one"
	case errors.As(err, &t):
		return fmt.Sprintf("a JSON %s at %s", t.Value, t.Field)
	}
	return err.Error()
}

func (a *app) printPolicy(p *evoke.PolicyResult) error {
	if a.json {
		return a.printJSON(p)
	}
	parts := map[string]string{}
	for name, doc := range map[string]any{"redaction": p.Effective.Redaction, "namespace": p.Effective.Namespace, "retention": p.Effective.Retention, "consolidation": p.Effective.Consolidation, "review": p.Effective.Review} {
		parts[name] = section(doc)
	}
	budget := evoke.BudgetPolicy{}
	if p.Effective.Budget != nil {
		budget = *p.Effective.Budget
	}
	parts["budget.calls_per_day"], parts["budget.tokens_per_day"], parts["budget.calls_per_minute"] = limit(budget.CallsPerDay), limit(budget.TokensPerDay), limit(budget.CallsPerMinute)
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(p.From)) {
		rows = append(rows, []string{name, clip(visible(parts[name]), contentWidth), p.From[name]})
	}
	if err := a.table([]string{"WHAT", "VALUE", "FROM"}, rows); err != nil {
		return err
	}
	if p.Version > 0 {
		a.note("version %d, set by %s", p.Version, visible(p.By))
	}
	return nil
}

// section is a part of a policy on one line.
func section(doc any) string {
	b, err := json.Marshal(doc)
	if err != nil || string(b) == "null" {
		return ""
	}
	return string(b)
}

func limit[N int | int64](n *N) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}
