package benchmarks

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the tables for people.
func (r *BacklogReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	fmt.Fprintf(&b, "\nRecall over %d items, %d a second, in stretches of %.0f s without anything else and with %d turns a second coming in beside (a third of them into the memory that is asked; vectors by %s, distillation by rules); ms.\n\n",
		r.Items, r.Recalls, r.Block, r.Turns, r.Model)
	b.WriteString("| | n | p50 | p95 | p99 |\n|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| quiet | %d | %.1f | %.1f | %.1f |\n| busy | %d | %.1f | %.1f | %.1f |\n", r.Quiet.N, r.Quiet.P50, r.Quiet.P95, r.Quiet.P99, r.Busy.N, r.Busy.P50, r.Busy.P95, r.Busy.P99)
	fmt.Fprintf(&b, "| busy / quiet (95 %% interval) | | %s | %s | |\n\n", r.Median, r.Ratio)
	b.WriteString("| stretch | quiet p95 | busy p95 | turns in | most vectors pending | at its end | most conversations due | due for at most, s | worked off after, s |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, p := range r.Pairs {
		fmt.Fprintf(&b, "| %d | %.1f | %.1f | %d | %d | %d | %d | %.1f | %.1f |\n", i+1, p.Quiet.P95, p.Busy.P95, p.Ingested, p.MaxVectors, p.EndVectors, p.MaxDue, p.MaxAge, p.DrainedSeconds)
	}
	verdict := "stays bounded"
	if !r.Bounded() {
		verdict = "grows"
	}
	fmt.Fprintf(&b, "\nThe backlog %s. Degraded answers: %d.\n", verdict, r.Degraded)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as JSON.
func (r *BacklogReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// String is the figure with its interval.
func (e Estimate) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", e.Value, e.Low, e.High) }
