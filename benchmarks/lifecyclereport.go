package benchmarks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the table for people.
func (r *LifecycleReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	fmt.Fprintf(&b, "\nHistories of our own writing, each in a memory of its own; vectors: %s. Percent of the checks that came out right, mean over the histories with its 95 %% bootstrap interval.\n\n", r.Vectors)
	b.WriteString("| history | language | n | checks | right |\n|---|---|---|---|---|\n")
	for _, s := range r.Shares {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f [%.1f, %.1f] |\n", s.Kind, s.Language, s.N, s.Checks, 100*s.Right, 100*s.CI.Low, 100*s.CI.High)
	}
	for _, s := range r.Shares {
		for _, line := range s.Wrong {
			fmt.Fprintf(&b, "\n- wrong: %s", line)
		}
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the same for programs.
func (r *LifecycleReport) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}
