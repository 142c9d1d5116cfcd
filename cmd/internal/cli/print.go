package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/schollz/progressbar/v3"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.process.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table prints rows under a head, columns aligned.
func (a *app) table(head []string, rows [][]string) error {
	return a.columns(append([][]string{head}, rows...))
}

// columns prints rows, columns aligned. A cell is on one line, whatever it holds.
func (a *app) columns(rows [][]string) error {
	w := tabwriter.NewWriter(a.process.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = strings.Map(func(r rune) rune {
				if r == '\n' || r == '\t' {
					return ' '
				}
				return r
			}, shown(c))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// count writes a number of things: 1 item, 2 items.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// contentWidth is how many columns of an item's content a table shows.
const contentWidth = 72

func (a *app) itemTable(items []store.Item) error {
	rows := make([][]string, len(items))
	for i, it := range items {
		rows[i] = []string{it.ID, kindText(it), day(it.ValidFrom), clip(line(it), contentWidth)}
	}
	return a.table([]string{"ID", "KIND", "WHEN", "CONTENT"}, rows)
}

// versionTable is itemTable where some may not hold any more: it tells how each stands.
func (a *app) versionTable(items []store.Item) error {
	now := time.Now()
	rows := make([][]string, len(items))
	for i, it := range items {
		rows[i] = []string{it.ID, kindText(it), lifecycle.StateOf(&it, now), day(it.ValidFrom), clip(line(it), contentWidth)}
	}
	return a.table([]string{"ID", "KIND", "STATE", "WHEN", "CONTENT"}, rows)
}

func (a *app) hitTable(hits []recall.Hit) error {
	rows := make([][]string, len(hits))
	for i, h := range hits {
		p := h.Parts
		rows[i] = []string{
			fmt.Sprint(i + 1), score(h.Score), fmt.Sprintf("%s+%s+%s%+.3f", score(p.Semantic), score(p.Recency), score(p.Importance), p.Update),
			day(h.Item.ValidFrom), h.Item.ID, clip(line(h.Item), contentWidth),
		}
	}
	return a.table([]string{"#", "SCORE", "SEM+REC+IMP+UPD", "WHEN", "ID", "CONTENT"}, rows)
}

// unlikely is the confidence under which the hits may well not answer the question: few of its words are spoken of.
const unlikely = 0.3

// printConfidence says how likely the answer is among the best candidates: nothing where there was no query or no candidate.
func (a *app) printConfidence(confidence float64, basis map[string]float64) {
	if confidence == 0 {
		return
	}
	what := ""
	if confidence < unlikely {
		what = " (low: few of the question's words are spoken of here)"
	}
	a.printf("confidence %s%s\n", score(confidence), what)
	if len(basis) > 0 {
		a.printf("   basis   %s\n", numbers(basis))
	}
}

// fateTable shows what became of the items asked about.
func (a *app) fateTable(fates []recall.Fate) error {
	if len(fates) == 0 {
		return nil
	}
	rows := make([][]string, len(fates))
	for i, f := range fates {
		rows[i] = []string{visible(f.ID), string(f.Outcome), fateScore(f), fateRank(f), visible(f.Detail)}
	}
	a.printf("\n")
	return a.table([]string{"ID", "OUTCOME", "SCORE", "RANK", "DETAIL"}, rows)
}

// fateScore and fateRank are the numbers of an item that was found.
func fateScore(f recall.Fate) string {
	if f.Rank == 0 {
		return "-"
	}
	return score(f.Score)
}

func fateRank(f recall.Fate) string {
	if f.Rank == 0 {
		return "-"
	}
	return fmt.Sprint(f.Rank)
}

// signed is a share with its sign before it, as a step of a sum.
func signed(f float64) string {
	if f < 0 {
		return fmt.Sprintf("- %.3f", -f)
	}
	return fmt.Sprintf("+ %.3f", f)
}

// printExplanation shows how a score came about, where that was asked for.
func (a *app) printExplanation(rank int, h recall.Hit) {
	e := h.Explain
	if e == nil {
		return
	}
	a.printf("\n%d. %s  %.3f = %.3f semantic + %.3f recency + %.3f importance %s update\n",
		rank, h.Item.ID, h.Score, h.Parts.Semantic, h.Parts.Recency, h.Parts.Importance, signed(h.Parts.Update))
	a.printf("   weights  %s %.3g, %s %.3g, %s %.3g\n", "semantic", e.Weights.Semantic, "recency", e.Weights.Recency, "importance", e.Weights.Importance)
	a.printf("   raw     %s\n", numbers(e.Raw))
	a.printf("   terms   %s\n", numbers(e.Terms))
	ranks := make([]string, 0, len(e.Ranks))
	for _, arm := range slices.Sorted(maps.Keys(e.Ranks)) {
		ranks = append(ranks, fmt.Sprintf("%s #%d", arm, e.Ranks[arm]))
	}
	if len(ranks) == 0 {
		ranks = append(ranks, "none")
	}
	a.printf("   arms     %s\n", strings.Join(ranks, ", "))
}

func numbers(m map[string]float64) string {
	var b strings.Builder
	for _, name := range sortedKeys(m) {
		fmt.Fprintf(&b, " %s %.3f", name, m[name])
	}
	return b.String()
}

func score(f float64) string { return fmt.Sprintf("%.3f", f) }

func kindText(it store.Item) string {
	if it.Category != "" {
		return fmt.Sprintf("%s/%s", it.Kind, it.Category)
	}
	return string(it.Kind)
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.DateOnly)
}

// line is an item's content on one line, with its speaker. Control characters could drive the terminal: they are blanks.
func line(it store.Item) string {
	s := it.Content
	if it.Turn.Speaker != "" {
		s = it.Turn.Speaker + ": " + s
	}
	return strings.Join(strings.Fields(visible(s)), " ")
}

// visible replaces control characters other than line ends, which a terminal would obey, by blanks.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		return r
	}, shown(s))
}

// shown is what a terminal may be given of any text: no control characters, which it would obey, but line ends and tabs, and
// none that turn the direction of writing, which would make a line look like another. All that is printed for people goes
// through it; JSON does not, and stays exact.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r == '\u061c', r == '\u200e', r == '\u200f', r >= '\u2028' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return ' '
		}
		return r
	}, s)
}

// clip cuts a text to a number of columns, between characters as people see them.
func clip(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used > width-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

func (a *app) itemDetail(it store.Item) error {
	rows := [][]string{{"id", it.ID}, {"kind", kindText(it)}}
	add := func(name, v string) {
		if v != "" {
			rows = append(rows, []string{name, v})
		}
	}
	add("importance", score(it.Importance))
	add("confidence", score(it.Confidence))
	if it.Uses > 0 {
		add("uses", fmt.Sprint(it.Uses))
	}
	if o := it.Outcomes; o != (store.Outcomes{}) {
		add("outcomes", fmt.Sprintf("%d succeeded, %d failed; the last %s, %s", o.Succeeded, o.Failed, o.Last, o.LastAt.Format(time.RFC3339)))
	}
	for _, t := range []struct {
		name string
		t    time.Time
	}{{"valid from", it.ValidFrom}, {"valid to", it.ValidTo}, {"recorded", it.RecordedAt}, {"retracted", it.RetractedAt}} {
		if !t.t.IsZero() {
			add(t.name, t.t.Format(time.RFC3339))
		}
	}
	add("thread", visible(it.Turn.Thread))
	add("speaker", visible(it.Turn.Speaker))
	add("origin", it.Provenance.Origin)
	add("rests on", strings.Join(it.Provenance.Turns, ", "))
	add("summary", it.Aside.Summary) // that stands in its place
	add("replaces", it.Supersedes)
	add("replaced by", it.SupersededBy)
	if len(it.Metadata) > 0 {
		b, err := json.Marshal(it.Metadata)
		if err != nil {
			return err
		}
		add("metadata", string(b))
	}
	if err := a.columns(rows); err != nil {
		return err
	}
	a.printf("\n%s\n", visible(it.Content))
	return nil
}

// bar shows progress on a terminal; elsewhere it does nothing. total -1 means unknown.
func (a *app) bar(total int64, what string) *progressbar.ProgressBar {
	if a.json || !isTerminal(a.process.Err) {
		return progressbar.DefaultSilent(total)
	}
	return progressbar.NewOptions64(total, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(a.process.Err),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
}

// spinner shows that something is going on until the function it returns is called.
func (a *app) spinner(what string) (done func()) {
	if a.json || !isTerminal(a.process.Err) {
		return func() {}
	}
	bar := a.bar(-1, what)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(150 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				bar.Add(1) //nolint:errcheck // nothing can be done about a bar that is not drawn
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		bar.Finish() //nolint:errcheck // as above
	}
}
