package benchmarks

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// ExtractReport is a whole run of the extraction harness.
type ExtractReport struct {
	Machine   Machine
	Extractor string
	Chats     []*ChatResult
	Facts     []*FactsResult
	Latency   *ExtractLatency
}

// ExtractLatency is what the extractor alone takes.
type ExtractLatency struct {
	Turns    int
	PerTurn  time.Duration // mean over the turns of the sets
	Megabyte time.Duration // one line of 1 MiB
	Half     time.Duration // one of 512 KiB: half as long when time is linear
}

func (s Share) percent() string {
	return fmt.Sprintf("%.1f [%.1f, %.1f]", 100*s.Mean, 100*s.Interval.Low, 100*s.Interval.High)
}

// WriteMarkdown writes the tables for people.
func (r *ExtractReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "Machine: %s, %d cores used, %s, %s. Commit %s, %s. Load at the start: %s. Extractor %s; percent, with 95 %% bootstrap intervals.\n",
		m.CPU, m.Cores, m.OS, m.Go, m.Commit, m.Date, m.Load, r.Extractor)
	for _, c := range r.Chats {
		fmt.Fprintf(&b, "\n%s, n = %d chats, %d facts (%.2f a chat), quotes not in their turn: %d.\n\n", c.Name, c.N, c.Facts, float64(c.Facts)/float64(max(1, c.N)), c.Ungrounds)
		b.WriteString("| share of chats | percent |\n|---|---|\n")
		fmt.Fprintf(&b, "| a preference of at most %d words holds ≥ %.0f %% of the label's stems, and the chat has at most %d items | %s |\n", longestItem, 100*stemsHeld, mostItems, c.Found.percent())
		fmt.Fprintf(&b, "| the same, however many items | %s |\n", c.Any.percent())
		fmt.Fprintf(&b, "| at most %d items | %s |\n", mostItems, c.Most.percent())
		fmt.Fprintf(&b, "| the best single sentence of the user holds them | %s |\n", c.Sentence.percent())
		b.WriteString("\nItems a chat:")
		for n := range slices.Max(append(keys(c.PerChat), 0)) + 1 {
			fmt.Fprintf(&b, " %d: %d;", n, c.PerChat[n])
		}
		b.WriteString("\n")
	}
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "\n%s, n = %d questions over %d memories, %d turns, %d facts, quotes not in their turn: %d; vectors: %s.\n\n", f.Name, f.N, f.Memories, f.Turns, f.Facts, f.Bad, f.Embedder)
		b.WriteString("| recall | turns and facts | turns alone | difference, paired |\n|---|---|---|---|\n")
		for _, k := range factMetrics {
			v := f.Versus[k]
			fmt.Fprintf(&b, "| %s | %s | %s | %+.2f (%+.1f, %+.1f) |\n", k, f.With[k].percent(), f.Alone[k].percent(), 100*(f.With[k].Mean-f.Alone[k].Mean), 100*v.Low, 100*v.High)
		}
	}
	if l := r.Latency; l != nil {
		fmt.Fprintf(&b, "\nThe extractor alone: %.0f µs a turn (mean of %d turns); one line of 1 MiB %d ms, of 512 KiB %d ms.\n",
			float64(l.PerTurn.Nanoseconds())/1000, l.Turns, l.Megabyte.Milliseconds(), l.Half.Milliseconds())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func keys(m map[int]int) (out []int) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// WriteJSON writes the same with every chat's items, for reading by hand.
func (r *ExtractReport) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}
