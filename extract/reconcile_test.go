package extract

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
)

var day0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// memory is a scope's distilled items, kept the way a store would.
type memory struct {
	items map[string]store.Item
	turns map[string]store.Item
	n     int
	opts  ReconcileOptions
	now   time.Time
}

func newMemory(t testing.TB, opts ReconcileOptions) *memory {
	t.Helper()
	o, err := opts.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return &memory{items: map[string]store.Item{}, turns: map[string]store.Item{}, opts: o, now: day0}
}

func (m *memory) current() (out []store.Item) {
	v := store.Current(m.now)
	v.Threads = []string{"th"}
	for _, it := range m.items {
		if v.Sees(&it) {
			out = append(out, it)
		}
	}
	slices.SortFunc(out, func(a, b store.Item) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// take reconciles operations and applies what comes of it.
func (m *memory) take(ops ...Operation) outcome {
	r := reconciler{opts: m.opts, extractor: "rules/1", thread: "th", now: m.now, newID: func() string { m.n++; return fmt.Sprintf("f%03d", m.n) }}
	current := m.current()
	said := func(op *Operation) time.Time { return saidNow(m.turns[op.Turn].ValidFrom, m.now) }
	from := func(op *Operation) time.Time {
		if op.At.IsZero() {
			return said(op)
		}
		return op.At
	}
	past, err := versions(current, ops, said, from, func(id string) (*store.Item, error) {
		it, ok := m.items[id]
		return map[bool]*store.Item{true: &it}[ok], nil
	})
	if err != nil {
		panic(err)
	}
	out := r.reconcile(append(current, past...), m.turns, ops)
	for _, it := range out.put {
		m.items[it.ID] = it
	}
	return out
}

// turn says something and returns an operation that rests on it.
func (m *memory) turn(id, content, subject string) Operation {
	m.turns[id] = store.Item{ID: id, Content: "well, " + content, ValidFrom: m.now, Turn: store.Turn{Session: "th"}}
	return Operation{Action: Add, Kind: store.Semantic, Category: store.Context, Content: content, Turn: id, Quote: content, Speaker: "user",
		Subject: subject, Exclusive: subject != "", Confidence: 0.8, Importance: 0.5}
}

func contentsOf(items []store.Item) (out []string) {
	for _, it := range items {
		out = append(out, it.Content)
	}
	slices.Sort(out)
	return out
}

func TestSameStatementConfirms(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "likes tea", ""))
	out := m.take(m.turn("t2", "Likes  TEA!", ""))
	got := m.current()
	if len(got) != 1 || out.facts != 1 || math.Abs(got[0].Confidence-0.84) > 1e-9 || !slices.Equal(got[0].Provenance.Turns, []string{"t1", "t2"}) {
		t.Errorf("%+v", got)
	}
	if out := m.take(m.turn("t2", "likes tea", "")); out.facts != 0 || len(out.put) != 0 {
		t.Errorf("the same turn counted twice: %+v", out)
	}
	for i := range 60 {
		m.take(m.turn(fmt.Sprint("r", i), "likes tea", ""))
	}
	it := m.current()[0]
	if it.Confidence > 1 || len(it.Provenance.Turns) != mostEvidence || it.Provenance.Turns[0] != "t1" || it.Provenance.Turns[mostEvidence-1] != "r59" {
		t.Errorf("%v %v", it.Confidence, it.Provenance.Turns)
	}
}

func TestAnotherValueSupersedes(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "lives in Rome", "home"))
	m.now = day0.Add(24 * time.Hour)
	out := m.take(m.turn("t2", "lives in Oslo", "home"))
	if d := cmp.Diff([]string{"lives in Oslo"}, contentsOf(m.current())); d != "" || out.facts != 1 || !slices.Equal(out.embed, []string{"f002"}) {
		t.Error(d, out)
	}
	old, cur := m.items["f001"], m.items["f002"]
	if !old.ValidTo.Equal(cur.ValidFrom) || !old.ClosedAt.Equal(m.now) || old.SupersededBy != "f002" || cur.Supersedes != "f001" || !old.RetractedAt.IsZero() {
		t.Errorf("%+v\n%+v", old, cur)
	}
	m.now = m.now.Add(24 * time.Hour)
	m.take(m.turn("t3", "lives in Rome", "home")) // back again: a third version
	if d := cmp.Diff([]string{"lives in Rome"}, contentsOf(m.current())); d != "" || len(m.items) != 3 || m.items["f003"].Supersedes != "f002" {
		t.Error(d, m.items)
	}
	other := m.turn("t4", "lives in Bern", "home")
	other.Speaker = "Ben"
	m.take(other)
	if d := cmp.Diff([]string{"lives in Bern", "lives in Rome"}, contentsOf(m.current())); d != "" {
		t.Error("one speaker's home replaced another's: " + d)
	}
}

func TestAnEndIsNeverBeforeItsBeginning(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "lives in Rome", "home"))
	op := m.turn("t2", "lives in Oslo", "home")
	op.At = day0.Add(-1000 * time.Hour)
	m.take(op)
	if old := m.items["f001"]; !old.ValidTo.Equal(old.ValidFrom) {
		t.Errorf("%+v", old)
	}
	if d := cmp.Diff([]string{"lives in Oslo"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
}

func TestTargetedOperations(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "meets on Monday", "meeting"), m.turn("t2", "likes tea", "likes:tea"))
	op := m.turn("t3", "meets on Tuesday", "meeting")
	op.Action, op.Target = Supersede, "f001"
	m.take(op)
	op = m.turn("t4", "no tea anymore", "likes:tea")
	op.Action, op.Exclusive = Retract, false
	m.take(op)
	if d := cmp.Diff([]string{"meets on Tuesday"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
	op = m.turn("t5", "exactly", "")
	op.Action, op.Target, op.Content = Confirm, "f003", ""
	if out := m.take(op); out.facts != 1 || m.items["f003"].Confidence <= 0.8 {
		t.Errorf("%+v", m.items["f003"])
	}
	op = m.turn("t6", "meets on Friday", "")
	op.Action, op.Target = Supersede, "gone" // nothing is lost when the target is
	m.take(op)
	if d := cmp.Diff([]string{"meets on Friday", "meets on Tuesday"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
}

func TestOperationsThatAreNotTaken(t *testing.T) {
	for want, change := range map[string]func(*Operation){
		"below the confidence threshold":   func(op *Operation) { op.Confidence = 0.69 },
		"quoted text not found in the":     func(op *Operation) { op.Quote = "never said" },
		"1 quoted text not found in the ":  func(op *Operation) { op.Turn = "elsewhere" },
		"1 malformed":                      func(op *Operation) { op.Content = " \x00 " },
		"malformed":                        func(op *Operation) { op.Confidence = math.NaN() },
		"1 malformed ":                     func(op *Operation) { op.Action = "explode" },
		"malformed  ":                      func(op *Operation) { op.Kind = "odd" },
		"unknown target":                   func(op *Operation) { op.Action, op.Target = Confirm, "gone" },
		"1 unknown target":                 func(op *Operation) { op.Action, op.Target = Retract, "gone" },
		"1 quoted text not found in the t": func(op *Operation) { op.Quote = "" },
	} {
		m := newMemory(t, ReconcileOptions{})
		op := m.turn("t1", "likes tea", "")
		change(&op)
		out := m.take(op)
		if out.facts != 0 || len(m.items) != 0 || !strings.Contains(out.note(0), strings.TrimSpace(want)) {
			t.Errorf("%s: %+v %q", want, out, out.note(0))
		}
	}
	m := newMemory(t, ReconcileOptions{Threshold: new(0.0)})
	op := m.turn("t1", "likes tea", "")
	op.Confidence = 0.01
	if out := m.take(op); out.facts != 1 {
		t.Errorf("%+v", out)
	}
}

func TestEvictionTakesTheLeastWorthAndSparesCorrections(t *testing.T) {
	m := newMemory(t, ReconcileOptions{MaxFacts: 10})
	low := m.turn("low", "nothing much", "")
	low.Importance = 0
	correction := m.turn("c", "not Monday but Tuesday", "")
	correction.Category, correction.Importance = store.Correction, 0
	rule := m.turn("i", "always be brief", "")
	rule.Kind, rule.Category, rule.Importance = store.Procedural, store.Behavior, 0
	m.take(low, correction, rule)
	remembered := store.Item{ID: "r1", Kind: store.Semantic, Category: store.Context, Content: "remembered", RecordedAt: day0, ContentKey: "k", Provenance: store.Provenance{Origin: "remember"}}
	m.items["r1"] = remembered
	for i := range 8 {
		m.now = m.now.Add(time.Hour)
		m.take(m.turn(fmt.Sprint("t", i), fmt.Sprint("fact ", i), ""))
	}
	if it := m.items["f001"]; it.RetractedAt.IsZero() || !it.ValidTo.IsZero() {
		t.Errorf("the least worth is still there, or was closed: %+v", it)
	}
	if got := m.current(); len(got) != 11 { // ten and what was remembered
		t.Errorf("%q", contentsOf(got))
	}
	m.now = m.now.Add(time.Hour)
	out := m.take(m.turn("t9", "fact 9", ""))
	if got := contentsOf(m.current()); slices.Contains(got, "fact 0") || !slices.Contains(got, "always be brief") || !slices.Contains(got, "not Monday but Tuesday") || out.facts != 1 {
		t.Errorf("%q", got)
	}
}

func TestValueGrowsWithWhatItStandsFor(t *testing.T) {
	base := store.Item{Importance: 0.5, Confidence: 0.5, RecordedAt: day0, Provenance: store.Provenance{Turns: []string{"a"}}}
	v := base.Worth(day0)
	for name, change := range map[string]func(*store.Item){
		"importance": func(it *store.Item) { it.Importance = 0.6 },
		"confidence": func(it *store.Item) { it.Confidence = 0.6 },
		"uses":       func(it *store.Item) { it.Uses = 1 },
		"evidence":   func(it *store.Item) { it.Provenance.Turns = []string{"a", "b"} },
		"youth":      func(it *store.Item) { it.RecordedAt = day0.Add(24 * time.Hour) },
		"last use":   func(it *store.Item) { it.LastUsed = day0.Add(24 * time.Hour) },
	} {
		it := base
		change(&it)
		at := day0.Add(48 * time.Hour)
		if it.Worth(at) <= base.Worth(at) {
			t.Errorf("%s adds nothing", name)
		}
	}
	if v < 0 || v > 1 {
		t.Error(v)
	}
}

// Whatever comes, in whatever order: at most one current version a subject and speaker, no two current items that say
// the same, links that meet, ends not before beginnings, and the cap kept.
func TestReconcileHoldsItsInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory(t, ReconcileOptions{MaxFacts: 10})
		for step := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 100).Draw(rt, "hours")) * time.Hour)
			var ops []Operation
			for i := range rapid.IntRange(1, 4).Draw(rt, "ops") {
				subject := rapid.SampledFrom([]string{"", "home", "job"}).Draw(rt, "subject")
				content := subject + " " + rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}).Draw(rt, "content")
				op := m.turn(fmt.Sprintf("t%d.%d", step, i), content, subject)
				op.Speaker = rapid.SampledFrom([]string{"user", "Ben"}).Draw(rt, "speaker")
				op.Content = op.Speaker + " " + content
				op.Action = rapid.SampledFrom([]Action{Add, Add, Add, Confirm, Retract, Supersede}).Draw(rt, "action")
				op.Confidence = rapid.Float64Range(0.5, 1).Draw(rt, "confidence")
				op.At = m.now.Add(-time.Duration(rapid.IntRange(0, 200).Draw(rt, "ago")) * time.Hour)
				if op.Action != Add {
					op.Target = fmt.Sprintf("f%03d", rapid.IntRange(1, 30).Draw(rt, "target"))
				}
				ops = append(ops, op)
			}
			m.take(ops...)
			subjects, keys := map[subjectKey]string{}, map[string]string{}
			for _, it := range m.current() {
				if s := it.Provenance.Subject; s != "" {
					k := subjectKey{s, it.Turn.Speaker}
					if subjects[k] != "" {
						rt.Fatalf("%s and %s are both current for %v", subjects[k], it.ID, k)
					}
					subjects[k] = it.ID
				}
				if keys[it.ContentKey] != "" {
					rt.Fatalf("%s and %s say the same", keys[it.ContentKey], it.ID)
				}
				keys[it.ContentKey] = it.ID
			}
			if len(keys) > 10 {
				rt.Fatalf("%d current facts", len(keys))
			}
			for id, it := range m.items {
				if !it.ValidTo.IsZero() && it.ValidTo.Before(it.ValidFrom) {
					rt.Fatalf("%s ends before it begins", id)
				}
				if _, ok := m.items[it.SupersededBy]; it.SupersededBy != "" && !ok || it.Supersedes != "" && m.items[it.Supersedes].SupersededBy != id {
					rt.Fatalf("links of %s do not meet", id)
				}
				if err := it.Prepare(store.Limits{}); err != nil {
					rt.Fatal(err)
				}
			}
		}
	})
}

func TestACategoryIsKeptWithinItsCap(t *testing.T) {
	m := newMemory(t, ReconcileOptions{CategoryCaps: map[store.Category]int{store.Preference: 2}})
	for i := range 5 {
		m.now = m.now.Add(time.Hour)
		op := m.turn(fmt.Sprint("p", i), fmt.Sprint("likes dish ", i), "")
		op.Category = store.Preference
		m.take(op, m.turn(fmt.Sprint("c", i), fmt.Sprint("fact ", i), ""))
	}
	want := []string{"fact 0", "fact 1", "fact 2", "fact 3", "fact 4", "likes dish 3", "likes dish 4"}
	if d := cmp.Diff(want, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
	for _, caps := range []map[store.Category]int{{store.Goal: 501}, {store.Goal: -1}, {"odd": 3}} {
		if _, err := (ReconcileOptions{CategoryCaps: caps}).withDefaults(); err == nil {
			t.Errorf("%v was taken", caps)
		}
	}
}
