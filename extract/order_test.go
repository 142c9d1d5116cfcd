package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
)

// view is what is current, as "speaker/subject: content".
func (m *memory) view() (out []string) {
	for _, it := range m.current() {
		out = append(out, speakerOf(it.Turn.Speaker)+"/"+it.Provenance.Subject+": "+it.Content)
	}
	slices.Sort(out)
	return out
}

// chains reports what is wrong with the versions of subjects: links that do not meet, a cycle, an end before a beginning
// or after the next version's beginning, and a version that no chain reaches.
func (m *memory) chains() (wrong []string) {
	reached := map[string]bool{}
	for _, it := range m.items {
		if it.SupersededBy == "" {
			n := 0
			for at := it; ; n++ {
				reached[at.ID] = true
				if at.ValidTo.Before(at.ValidFrom) && !at.ValidTo.IsZero() {
					wrong = append(wrong, at.ID+" ends before it begins")
				}
				if at.Supersedes == "" {
					break
				}
				old, ok := m.items[at.Supersedes]
				if !ok || old.SupersededBy != at.ID || n > len(m.items) {
					wrong = append(wrong, fmt.Sprintf("%s → %s: the links do not meet", at.ID, at.Supersedes))
					break
				}
				if old.RetractedAt.IsZero() && (old.ValidTo.IsZero() || old.ValidTo.After(at.ValidFrom) && old.ValidTo.After(old.ValidFrom)) {
					wrong = append(wrong, old.ID+" holds beside what took its place")
				}
				at = old
			}
		}
	}
	for id := range m.items {
		if !reached[id] {
			wrong = append(wrong, id+" is in no chain")
		}
	}
	return wrong
}

// Statements that were made one after another give the same current view in whatever order they arrive, however they are
// batched and however often: of an exclusive subject and a speaker what was said last, and everything else once. Each
// statement is counted once, and the versions of a subject make one chain.
func TestTheOrderOfArrivalDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory(t, ReconcileOptions{})
		want := map[string]string{}
		var said []Operation
		for i := range rapid.IntRange(2, 12).Draw(rt, "statements") {
			m.now = day0.Add(time.Duration(i) * time.Hour)
			subject := rapid.SampledFrom([]string{"home", "job", ""}).Draw(rt, "subject")
			speaker := rapid.SampledFrom([]string{"user", "Ben"}).Draw(rt, "speaker")
			value := rapid.SampledFrom([]string{"red", "blue", "green"}).Draw(rt, "value")
			op := m.turn(fmt.Sprint("t", i), strings.TrimSpace(speaker+" says "+subject+" "+value), subject)
			op.Speaker = speaker
			said = append(said, op)
			if key := speakerOf(speaker) + "/" + subject + ": "; subject == "" {
				want[key+op.Content] = key + op.Content
			} else {
				want[key] = key + op.Content
			}
		}
		m.now = day0.Add(100 * time.Hour)
		arrive := slices.Clone(said)
		for range rapid.IntRange(0, 6).Draw(rt, "again") {
			arrive = append(arrive, rapid.SampledFrom(said).Draw(rt, "which"))
		}
		arrive = rapid.Permutation(arrive).Draw(rt, "order")
		for len(arrive) > 0 {
			n := rapid.IntRange(1, len(arrive)).Draw(rt, "batch")
			m.now = m.now.Add(time.Minute)
			for _, op := range arrive[:n] {
				rt.Logf("%s %s", op.Turn, op.Content)
			}
			rt.Logf("--")
			m.take(arrive[:n]...)
			arrive = arrive[n:]
		}
		var values []string
		for _, v := range want {
			values = append(values, v)
		}
		slices.Sort(values)
		if d := cmp.Diff(values, m.view()); d != "" {
			rt.Fatal(d)
		}
		if wrong := m.chains(); len(wrong) > 0 {
			rt.Fatal(wrong)
		}
		counted := 0
		for _, it := range m.items {
			if it.RetractedAt.IsZero() { // what ended otherwise than was known is there in another version
				counted += 1 + it.Provenance.Evidence
			}
		}
		if counted != len(said) {
			rt.Fatalf("%d statements are counted as %d", len(said), counted)
		}
	})
}

func TestWhatWasSaidBeforeGoesBehind(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	at := func(h int) { m.now = day0.Add(time.Duration(h) * time.Hour) }
	at(0)
	bern := m.turn("t0", "lives in Bern", "home")
	at(1)
	rome := m.turn("t1", "用户住在罗马", "home")
	at(2)
	oslo := m.turn("t2", "lives in Oslo", "home")
	at(3)
	back := m.turn("t3", "lives in Bern", "home")
	at(10)
	m.take(oslo)
	m.take(rome)
	m.take(bern)
	m.take(back)
	m.take(rome) // again
	if d := cmp.Diff([]string{"lives in Bern"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
	if wrong := m.chains(); len(wrong) > 0 {
		t.Error(wrong)
	}
	for h, want := range []string{"lives in Bern", "用户住在罗马", "lives in Oslo", "lives in Bern"} {
		var holds []string
		for _, it := range m.items {
			when := day0.Add(time.Duration(h)*time.Hour + time.Minute)
			if it.RetractedAt.IsZero() && !it.ValidFrom.After(when) && (it.ValidTo.IsZero() || it.ValidTo.After(when)) {
				holds = append(holds, it.Content)
			}
		}
		if d := cmp.Diff([]string{want}, holds); d != "" {
			t.Errorf("at %d h: %s", h, d)
		}
	}
}

func TestWhatWasSaidBeforeTakesNothingBack(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	gone := m.turn("t0", "no tea", "likes:tea")
	gone.Action = Retract
	m.now = day0.Add(time.Hour)
	m.take(m.turn("t1", "likes tea", "likes:tea"))
	if out := m.take(gone); len(m.current()) != 1 || out.note(0) != "1 said before what it takes back" {
		t.Errorf("%+v %q", m.items, out.note(0))
	}
	future := m.turn("t2", "lives in Rome", "home") // a client's clock is ahead: that holds nothing off
	turn := m.turns["t2"]
	turn.ValidFrom = m.now.Add(1000 * time.Hour)
	m.turns["t2"] = turn
	future.At = m.now
	m.take(future)
	m.now = m.now.Add(time.Hour)
	m.take(m.turn("t3", "lives in Oslo", "home"))
	if d := cmp.Diff([]string{"likes tea", "lives in Oslo"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
}

// A statement that stood without its subject gets it, and never stands beside another value of it.
func TestAStatementGetsItsSubject(t *testing.T) {
	remembered := func(m *memory, content string) {
		m.items["r1"] = store.Item{ID: "r1", Kind: store.Semantic, Content: content, RecordedAt: m.now, ValidFrom: m.now, Confidence: 1, Importance: 0.5,
			ContentKey: store.ContentKey(store.Semantic, content), Provenance: store.Provenance{Origin: "remember"}}
	}
	for _, c := range [][3]string{{"The user lives in Rome", "I live in Rome", "The user lives in Oslo"}, {"用户住在罗马", "我住在罗马", "用户住在奥斯陆"}} {
		m := newMemory(t, ReconcileOptions{})
		remembered(m, c[0])
		m.now = m.now.Add(time.Hour)
		m.take(m.turn("t1", c[1], "home"))
		m.now = m.now.Add(time.Hour)
		m.take(m.turn("t2", c[2], "home"))
		if d := cmp.Diff([]string{c[2]}, contentsOf(m.current())); d != "" {
			t.Error(d)
		}
		if wrong := m.chains(); len(wrong) > 0 || len(m.items) != 2 {
			t.Error(wrong, m.items)
		}
		m = newMemory(t, ReconcileOptions{}) // beside another value that is known: one of them holds
		m.take(m.turn("t1", c[2], "home"))
		remembered(m, c[0])
		m.now = m.now.Add(time.Hour)
		m.take(m.turn("t2", c[1], "home"))
		if len(m.current()) != 1 {
			t.Errorf("%q", contentsOf(m.current()))
		}
	}
}
