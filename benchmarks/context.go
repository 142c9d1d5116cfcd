package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"evoke"
	"evoke/recall"
)

// Packer is an Engine that makes blocks.
type Packer interface {
	Engine
	Context(ctx context.Context, r evoke.ContextRequest) (evoke.ContextResult, error)
}

// Budgets are the token budgets of a curve.
func Budgets() []int { return []int{500, 1000, 2000, 4000, 8000} }

// Curve is how much of a set's questions a block answers, by budget.
type Curve struct {
	Name     string
	N        int
	Embedder string
	Points   []Point // in the order of the budgets
}

// Point is one budget of a curve. Shares are means over the questions, 0 to 1.
type Point struct {
	Budget int      `json:"budget"`
	Whole  float64  `json:"whole_evidence"` // all evidence is in the block, uncut
	CI     Interval `json:"ci95"`           // of Whole
	Part   float64  `json:"share_of_evidence"`
	Tokens float64  `json:"tokens"` // of the block
	Items  float64  `json:"items"`
}

// ContextReport is a run over sets.
type ContextReport struct {
	Machine Machine
	Shape   recall.Shape
	Curves  []*Curve
}

// ContextOptions of a run. The zero value of a field means its default.
type ContextOptions struct {
	Shape   recall.Shape
	Limit   int   // hits asked for; default: the engine's, by the budget
	Budgets []int // default Budgets()
}

// RunContext imports a set, unless its store has it, and packs a block for each question and budget. progress, if not
// nil, is told what is being done.
func RunContext(ctx context.Context, e Packer, clock *Clock, s *Set, o ContextOptions, progress func(string)) (*Curve, error) {
	if len(o.Budgets) == 0 {
		o.Budgets = Budgets()
	}
	if progress == nil {
		progress = func(string) {}
	}
	for i := range s.Namespaces {
		if _, err := importNamespace(ctx, e, clock, s.Name, &s.Namespaces[i]); err != nil {
			return nil, err
		}
	}
	if err := e.Settle(ctx); err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
	}
	c := &Curve{Name: s.Name, Points: make([]Point, len(o.Budgets))}
	whole := make([][]float64, len(o.Budgets))
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		err := n.scored(clock, func(q Question, l Label) error {
			c.N++
			for b, budget := range o.Budgets {
				res, err := e.Context(ctx, evoke.ContextRequest{Who: who(s.Name, n), Request: recall.Request{Query: q.Text, Limit: o.Limit}, MaxTokens: &budget, Shape: o.Shape})
				if err != nil {
					return fmt.Errorf("block for %s/%s: %w", s.Name, l.ID, err)
				}
				c.Embedder = res.Embedder
				all, share := shown(res, l.Relevant)
				whole[b] = append(whole[b], all)
				p := &c.Points[b]
				p.Part, p.Tokens, p.Items = p.Part+share, p.Tokens+float64(res.Tokens), p.Items+float64(len(res.Items))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		progress(fmt.Sprintf("%s: packed %d of %d memories, %d questions", s.Name, i+1, len(s.Namespaces), c.N))
	}
	for b := range c.Points {
		p, n := &c.Points[b], float64(max(1, c.N))
		p.Budget, p.Whole, p.CI = o.Budgets[b], mean(whole[b]), Bootstrap(whole[b])
		p.Part, p.Tokens, p.Items = p.Part/n, p.Tokens/n, p.Items/n
	}
	return c, nil
}

// shown is 1 when the block holds all evidence whole, and the share of it that it holds.
func shown(res evoke.ContextResult, evidence []string) (all, share float64) {
	hit := 0
	for _, id := range evidence {
		if slices.ContainsFunc(res.Entries, func(e recall.Entry) bool { return e.ID == id && !e.Compact }) {
			hit++
		}
	}
	if hit == len(evidence) {
		all = 1
	}
	return all, float64(hit) / float64(len(evidence))
}

// WriteJSON writes {"machine", "shape", "sets": {"<set>": {"n", "embedder", "points": […]}}}.
func (r *ContextReport) WriteJSON(w io.Writer) error {
	type set struct {
		N        int     `json:"n"`
		Embedder string  `json:"embedder"`
		Points   []Point `json:"points"`
	}
	sets := map[string]set{}
	for _, c := range r.Curves {
		sets[c.Name] = set{c.N, c.Embedder, c.Points}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Machine Machine        `json:"machine"`
		Shape   recall.Shape   `json:"shape"`
		Sets    map[string]set `json:"sets"`
	}{r.Machine, r.Shape, sets})
}

// WriteMarkdown writes a table a set.
func (r *ContextReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	for _, c := range r.Curves {
		fmt.Fprintf(&b, "\n### %s, shape %s\n\nn = %d questions; vectors: %s. Percent of questions whose whole evidence is in the block, with 95 %% bootstrap intervals, and the mean share of evidence.\n\n", c.Name, r.Shape, c.N, c.Embedder)
		b.WriteString("| budget | whole evidence | share of evidence | tokens | items |\n|---|---|---|---|---|\n")
		for _, p := range c.Points {
			fmt.Fprintf(&b, "| %d | %.1f [%.1f, %.1f] | %.1f | %.0f | %.0f |\n", p.Budget, 100*p.Whole, 100*p.CI.Low, 100*p.CI.High, 100*p.Part, p.Tokens, p.Items)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
