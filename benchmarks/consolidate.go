package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"evoke"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// Consolidator is a Packer that consolidates.
type Consolidator interface {
	Packer
	Stats(ctx context.Context, w evoke.Who) (evoke.Stats, error)
	List(ctx context.Context, r evoke.ListRequest) (store.Page, error)
	Consolidate(ctx context.Context, r evoke.ConsolidateRequest) (store.Operation, error)
	WaitOperation(ctx context.Context, id string) (store.Operation, error)
}

// Consolidation is what consolidating a set's memories does to blocks, each question asked of the same memory before and after.
type Consolidation struct {
	Name     string   `json:"set"`
	N        int      `json:"n"` // questions
	Embedder string   `json:"embedder"`
	Budget   int      `json:"budget"`
	Off      float64  `json:"off"` // share of questions whose whole evidence is in the block, before
	OffCI    Interval `json:"off_ci95"`
	On       float64  `json:"on"` // … after; a source counts as in the block where its summary is and stands for it ([lifecycle.Holds])
	OnCI     Interval `json:"on_ci95"`
	Diff     Interval `json:"difference_ci95"` // of On − Off, paired by question

	ItemsOff int                `json:"items_off"` // in the default view
	ItemsOn  int                `json:"items_on"`
	Result   evoke.Consolidated `json:"result"`
	Took     time.Duration      `json:"took_ns"` // of the consolidation and the summaries' vectors
}

// Fall is the share of items that left the default view.
func (r *Consolidation) Fall() float64 {
	return 1 - float64(r.ItemsOn)/float64(max(1, r.ItemsOff))
}

// consolidateAfter is how long after the newest item of a set its memories are consolidated: all of it is old enough then.
const consolidateAfter = 30 * 24 * time.Hour

// RunConsolidation imports a set, unless the store has it, asks its questions of a block of a budget, consolidates, and asks
// them again. A store that was consolidated before cannot be taken.
func RunConsolidation(ctx context.Context, m Consolidator, clock *Clock, s *Set, budget int, policy evoke.ConsolidationPolicy, progress func(string)) (*Consolidation, error) {
	r := &Consolidation{Name: s.Name, Budget: budget}
	var latest time.Time
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		if _, err := importNamespace(ctx, m, clock, s.Name, n); err != nil {
			return nil, err
		}
		if t := n.newest(); t.After(latest) {
			latest = t
		}
	}
	if err := m.Settle(ctx); err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
	}
	var err error
	if r.ItemsOff, err = current(ctx, m, s); err != nil {
		return nil, err
	}
	off, err := r.ask(ctx, m, clock, s, nil)
	if err != nil {
		return nil, err
	}
	progress(fmt.Sprintf("%s: asked %d questions", s.Name, len(off)))
	clock.Set(latest.Add(consolidateAfter))
	began := time.Now()
	for i := range s.Namespaces {
		if err := r.consolidate(ctx, m, who(s.Name, &s.Namespaces[i]), policy); err != nil {
			return nil, err
		}
	}
	if err := m.Settle(ctx); err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
	}
	r.Took = time.Since(began)
	progress(fmt.Sprintf("%s: %d summaries of %d items", s.Name, r.Result.Summaries, r.Result.Items))
	if r.ItemsOn, err = current(ctx, m, s); err != nil {
		return nil, err
	}
	stands, err := standing(ctx, m, s)
	if err != nil {
		return nil, err
	}
	on, err := r.ask(ctx, m, clock, s, stands)
	if err != nil {
		return nil, err
	}
	diff := make([]float64, len(on))
	for i := range on {
		diff[i] = on[i] - off[i]
	}
	r.N, r.Off, r.OffCI, r.On, r.OnCI, r.Diff = len(off), mean(off), Bootstrap(off), mean(on), Bootstrap(on), Bootstrap(diff)
	return r, nil
}

func (r *Consolidation) consolidate(ctx context.Context, m Consolidator, w evoke.Who, p evoke.ConsolidationPolicy) error {
	op, err := m.Consolidate(ctx, evoke.ConsolidateRequest{User: w.User, Policy: &p})
	if err == nil {
		op, err = m.WaitOperation(ctx, op.ID)
	}
	if err == nil && op.State != store.OperationDone {
		err = fmt.Errorf("%w: %s", store.ErrUnavailable, op.Note)
	}
	if err != nil {
		return fmt.Errorf("consolidate: %w", err)
	}
	var got evoke.Consolidated
	if err := json.Unmarshal(op.Result, &got); err != nil {
		return fmt.Errorf("consolidate: %w", err)
	}
	r.Result.Summaries, r.Result.Items, r.Result.Memories, r.Result.Left = r.Result.Summaries+got.Summaries, r.Result.Items+got.Items, r.Result.Memories+1, r.Result.Left+got.Left
	r.Result.Contradictions = append(r.Result.Contradictions, got.Contradictions...)
	return nil
}

// current counts the items of a set's default views.
func current(ctx context.Context, m Consolidator, s *Set) (n int, err error) {
	for i := range s.Namespaces {
		st, err := m.Stats(ctx, who(s.Name, &s.Namespaces[i]))
		if err != nil {
			return n, fmt.Errorf("stats: %w", err)
		}
		n += st.Total
	}
	return n, nil
}

// standing are the summaries that hold enough of an item to stand for it, by memory and the item's id.
func standing(ctx context.Context, m Consolidator, s *Set) (map[[2]string]string, error) {
	out := map[[2]string]string{}
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		texts := map[string]string{}
		for _, it := range n.Items {
			texts[it.ID] = it.Text
		}
		q := evoke.ListRequest{Who: who(s.Name, n), Order: store.ByID, Limit: 1000}
		for {
			page, err := m.List(ctx, q)
			if err != nil {
				return nil, fmt.Errorf("list summaries: %w", err)
			}
			for _, it := range page.Items {
				if !it.IsSummary() {
					continue
				}
				for _, id := range it.Provenance.Turns {
					if lifecycle.Holds(it.Content, texts[id]) {
						out[[2]string{n.Name, id}] = it.ID
					}
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return out, nil
}

// ask returns for each question that counts whether its whole evidence is in the block.
func (r *Consolidation) ask(ctx context.Context, m Consolidator, clock *Clock, s *Set, stands map[[2]string]string) (whole []float64, err error) {
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		err := n.scored(clock, func(q Question, l Label) error {
			res, err := m.Context(ctx, evoke.ContextRequest{Who: who(s.Name, n), Request: recall.Request{Query: q.Text}, MaxTokens: &r.Budget})
			if err != nil {
				return fmt.Errorf("block for %s/%s: %w", s.Name, l.ID, err)
			}
			r.Embedder = res.Embedder
			all := 1.0
			for _, id := range l.Relevant {
				if !slices.ContainsFunc(res.Entries, func(e recall.Entry) bool {
					return !e.Compact && (e.ID == id || e.ID == stands[[2]string{n.Name, id}])
				}) {
					all = 0
				}
			}
			whole = append(whole, all)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// ConsolidationReport is a run over sets.
type ConsolidationReport struct {
	Machine Machine          `json:"machine"`
	Sets    []*Consolidation `json:"sets"`
}

// WriteJSON writes the report for programs.
func (r *ConsolidationReport) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteMarkdown writes the table for people.
func (r *ConsolidationReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	b.WriteString("\nPercent of questions whose whole evidence is in the block, before and after, with 95 % bootstrap intervals; a source counts where its summary is in the block and stands for it: 60 % of its content stems or more, its numbers and names, and nothing of it with a negation more or less.\n\n")
	b.WriteString("| set | n | vectors | budget | off | on | on − off, paired | items | fall | summaries | took |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range r.Sets {
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %.1f [%.1f, %.1f] | %.1f [%.1f, %.1f] | %+.1f (%+.1f, %+.1f) | %d → %d | %.1f %% | %d of %d items | %s |\n",
			c.Name, c.N, c.Embedder, c.Budget, 100*c.Off, 100*c.OffCI.Low, 100*c.OffCI.High, 100*c.On, 100*c.OnCI.Low, 100*c.OnCI.High,
			100*(c.On-c.Off), 100*c.Diff.Low, 100*c.Diff.High, c.ItemsOff, c.ItemsOn, 100*c.Fall(), c.Result.Summaries, c.Result.Items, c.Took.Round(time.Second))
	}
	for _, c := range r.Sets {
		fmt.Fprintf(&b, "\n- %s: %d groups left as they were, %d contradictions within groups reported", c.Name, c.Result.Left, len(c.Result.Contradictions))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
