package benchmarks

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/store"
)

// scripted is an extractor that knows the life it listens to and, like a model, does not always report it: it leaves
// out, says twice, contradicts itself and names the items it replaces, or does not.
type scripted struct {
	changes map[string]change // by the turn's text
	n       int
	view    map[string]string // what it reported as current, by subject
	done    map[string]int    // how often it did what
}

func (x *scripted) Name() string { return "scripted/1" }

func (x *scripted) Extract(_ context.Context, b extract.Batch) (ops []extract.Operation, _ error) {
	for _, t := range b.Turns {
		if c, ok := x.changes[t.Content]; ok {
			ops = append(ops, x.report(&c, &t, b.Known)...)
		}
	}
	return ops, nil
}

func (x *scripted) report(c *change, t *store.Item, known []store.Item) []extract.Operation {
	if c.Subject == "" {
		return nil
	}
	x.n++
	op := extract.Operation{
		Action: extract.Add, Kind: store.Semantic, Category: store.Context, Content: c.content(), Turn: t.ID, Quote: t.Content,
		Speaker: t.Turn.Speaker, Subject: c.Subject, Exclusive: true, Confidence: 0.9, Importance: 0.6,
	}
	if c.State.Kind != "" {
		op.Kind, op.Category = store.Kind(c.State.Kind), store.Category(c.State.Category)
	}
	at := slices.IndexFunc(known, func(k store.Item) bool { return k.Provenance.Subject == c.Subject })
	if op.Content == "" { // no longer so
		if at < 0 {
			return nil
		}
		op.Action, op.Target, op.Content = extract.Retract, known[at].ID, known[at].Content
		delete(x.view, c.Subject)
		x.done["retract"]++
		return []extract.Operation{op}
	}
	if x.n%5 == 1 && x.n > 40 { // by then every slot has something
		x.done["omit"]++
		return nil
	}
	was := x.view[c.Subject]
	x.view[c.Subject] = op.Content
	switch {
	case x.n%5 == 2:
		x.done["repeat"]++
		return []extract.Operation{op, op}
	case x.n%5 == 3:
		x.done["contradict"]++
		wrong := op
		wrong.Content = strings.Replace(op.Content, c.Value, "“"+c.Value+"”?", 1) + " 0"
		return []extract.Operation{wrong, op}
	case x.n%5 == 4 && at >= 0 && was == op.Content:
		x.done["confirm"]++
		op.Action, op.Target = extract.Confirm, known[at].ID
	case x.n%5 == 4 && at >= 0:
		x.done["supersede"]++
		op.Action, op.Target = extract.Supersede, known[at].ID
	default:
		x.done["add"]++
	}
	return []extract.Operation{op}
}

func TestLivesWithAModelAreWhatItReported(t *testing.T) {
	if testing.Short() {
		t.Skip("calls one after another: they run without -short")
	}
	for _, lang := range []string{"en", "zh"} {
		t.Run(lang, func(t *testing.T) {
			l := loadLife(t, lang)
			x := &scripted{changes: map[string]change{}, view: map[string]string{}, done: map[string]int{}}
			all := l.changes()
			for _, c := range all {
				x.changes[c.Text] = c
			}
			v := newLiver(t, l, x)
			for i, c := range all {
				after := v.tell(c.Text)
				got := []string{}
				for _, it := range after {
					got = append(got, it.Content)
				}
				slices.Sort(got)
				if d := cmp.Diff(slices.Sorted(maps.Values(x.view)), got); d != "" {
					t.Fatalf("step %d, %q: the current view is not what was reported (-reported +stored)\n%s", i, c.Text, d)
				}
			}
			t.Logf("%s: %d steps exact; reported %v", lang, len(all), x.done)
			for _, what := range []string{"add", "omit", "repeat", "contradict", "confirm", "supersede", "retract"} {
				if x.done[what] == 0 {
					t.Errorf("the model never did: %s", what)
				}
			}
		})
	}
}
