package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
	"evoke/store/lifecycle"
)

// statement is a statement of the model: a value of a subject, and the thread that it was said in, "" when somebody edited it.
type statement struct{ text, thread string }

// line is what was said of one subject, the last on top. An undo changes it as a whole and remembers what it was: as long as
// nothing is said after it, undoing that operation brings back what it was.
type line struct {
	said []statement
	op   string      // the undo that made it what it is, "" when something was said since
	was  []statement // before that
}

func (l line) top() string {
	if len(l.said) == 0 {
		return ""
	}
	return l.said[len(l.said)-1].text
}

// model is a memory as simple as can be: the lines of now, and a copy of them for every moment of the past.
type model struct {
	now   map[string]line // by subject and number
	lines int
	past  []pastView
}

type pastView struct {
	at    time.Time
	lines map[string]line
}

func texts(lines map[string]line) []string {
	out := []string{}
	for _, l := range lines {
		if t := l.top(); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

func (m *model) keep(at time.Time) { m.past = append(m.past, pastView{at, maps.Clone(m.now)}) }

// say puts a statement on top of the line of its subject that holds, or begins a new line.
func (m *model) say(subject, text, thread string) {
	name := m.holder(subject, "")
	if name == "" {
		name = fmt.Sprintf("%s#%d", subject, m.lines)
		m.lines++
	}
	m.now[name] = line{said: append(slices.Clone(m.now[name].said), statement{text, thread})}
}

// holder is the line of the subject that holds, other than the one named; "" for none.
func (m *model) holder(subject, other string) string {
	for name, l := range m.now {
		if name != other && strings.HasPrefix(name, subject+"#") && l.top() != "" {
			return name
		}
	}
	return ""
}

// undoThread takes back what a thread said last of each subject.
func (m *model) undoThread(op, thread string) {
	for subject, l := range m.now {
		n := len(l.said)
		for n > 0 && l.said[n-1].thread == thread {
			n--
		}
		if n < len(l.said) {
			m.now[subject] = line{slices.Clone(l.said[:n]), op, l.said}
		}
	}
}

// undoOperation brings back what was before an undo, where nothing was said since.
func (m *model) undoOperation(op, of string) {
	var back []string
	for name, l := range m.now {
		if l.op != of {
			continue
		}
		if was := (line{said: l.was}); was.top() != "" && l.top() == "" {
			back = append(back, name)
			continue
		}
		m.now[name] = line{l.was, op, l.said}
	}
	for _, name := range back { // what was gone comes back where nothing else holds by now
		subject, _, _ := strings.Cut(name, "#")
		if l := m.now[name]; m.holder(subject, name) == "" {
			m.now[name] = line{l.was, op, l.said}
		}
	}
}

// undoSince brings back the lines of a moment.
func (m *model) undoSince(op string, then map[string]line) {
	for subject, l := range m.now {
		old := then[subject]
		if nothing := len(old.said)+len(l.said) == 0; !nothing && (!slices.Equal(old.said, l.said) || old.op != l.op) {
			m.now[subject] = line{old.said, op, l.said}
		}
	}
}

// forget erases a subject from the present and the past.
func (m *model) forget(subject string) {
	of := func(name string, _ line) bool { return strings.HasPrefix(name, subject+"#") }
	maps.DeleteFunc(m.now, of)
	for _, p := range m.past {
		maps.DeleteFunc(p.lines, of)
	}
}

// Whatever is added, corrected, edited, undone, redone and forgotten in whatever order: what is seen now and as of every
// moment of the past is what a simple model says, and the difference of two moments is the difference of the model's.
func TestHistoriesAgainstAModel(t *testing.T) {
	oneByOne(t)
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
		clock := clockAt(start)
		m, err := Open(context.Background(), &Options{Clock: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		ctx, w := context.Background(), Who{User: "u"}
		sim := &model{now: map[string]line{}}
		var ops, story []string
		subjects, threads := []string{"home", "job", "pet"}, []string{"a", "b", "c"}
		ids := func(subject string) (current string, all []string) {
			page, err := m.List(ctx, ListRequest{Who: w, All: true, Limit: 1000, Filter: store.Filter{Subjects: []string{subject}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range page.Items {
				if all = append(all, it.ID); !it.Closed() {
					current = it.ID
				}
			}
			return current, all
		}
		for i := range rapid.IntRange(2, 14).Draw(t, "deeds") {
			clock.set(start.Add(time.Duration(i+1) * time.Hour))
			subject, thread := rapid.SampledFrom(subjects).Draw(t, "subject"), rapid.SampledFrom(threads).Draw(t, "thread")
			text := fmt.Sprintf("The %s is number %d", subject, i)
			switch deed := rapid.IntRange(0, 11).Draw(t, "deed"); {
			case deed < 5:
				story = append(story, fmt.Sprintf("%d: %s says %q", i, thread, text))
				if _, err := m.Remember(ctx, RememberRequest{Who: Who{User: "u", Thread: thread}, Content: text, Subject: subject}); err != nil {
					t.Fatal(err)
				}
				sim.say(subject, text, thread)
			case deed == 5:
				current, _ := ids(subject)
				if current == "" {
					continue
				}
				story = append(story, fmt.Sprintf("%d: an edit to %q", i, text))
				if _, err := m.Update(ctx, UpdateRequest{Who: w, ID: current, Content: &text}); err != nil {
					t.Fatal(err)
				}
				sim.say(subject, text, "")
			case deed == 6:
				_, all := ids(subject)
				if len(all) == 0 {
					continue
				}
				story = append(story, fmt.Sprintf("%d: %s is forgotten", i, subject))
				if _, err := m.Forget(ctx, ForgetRequest{Who: w, IDs: all}); err != nil {
					t.Fatal(err)
				}
				sim.forget(subject)
			case deed < 9:
				story = append(story, fmt.Sprintf("%d: thread %s is undone", i, thread))
				op, _ := undo(t, m, w, lifecycle.Batch{Thread: thread})
				ops = append(ops, op)
				sim.undoThread(op, thread)
			case deed < 11 && len(ops) > 0:
				of := rapid.IntRange(0, len(ops)-1).Draw(t, "operation")
				story = append(story, fmt.Sprintf("%d: undo %d is undone", i, of))
				op, _ := undo(t, m, w, lifecycle.Batch{Operation: ops[of]})
				sim.undoOperation(op, ops[of])
				ops = append(ops, op)
			case len(sim.past) > 0:
				then := sim.past[rapid.IntRange(0, len(sim.past)-1).Draw(t, "since")]
				story = append(story, fmt.Sprintf("%d: what came after %v is undone", i, then.at.Sub(start)))
				op, _ := undo(t, m, w, lifecycle.Batch{From: then.at})
				ops = append(ops, op)
				sim.undoSince(op, then.lines)
			}
			clock.set(start.Add(time.Duration(i+1)*time.Hour + 30*time.Minute))
			sim.keep(clock.now())
			view(t, m, w, time.Time{}, texts(sim.now), story)
		}
		for _, p := range sim.past {
			view(t, m, w, p.at, texts(p.lines), story)
		}
		if len(sim.past) > 1 {
			a, b := sim.past[rapid.IntRange(0, len(sim.past)-1).Draw(t, "from")], sim.past[len(sim.past)-1]
			difference(t, m, w, a, b, story)
		}
	})
}

func view(t *rapid.T, m *Memory, w Who, at time.Time, want, story []string) {
	page, err := m.List(context.Background(), ListRequest{Who: w, AsOf: at, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, it := range page.Items {
		got = append(got, it.Content)
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("as of %v after\n%s\n%s", at, strings.Join(story, "\n"), d)
	}
	if st, err := m.StatsAt(context.Background(), StatsRequest{Who: w, AsOf: at}); err != nil || st.Total != len(want) {
		t.Fatalf("%d counted as of %v, %v", st.Total, at, err)
	}
}

// difference holds the differences of two moments against those of the model: by text, as an undo writes anew what it
// brings back.
func difference(t *rapid.T, m *Memory, w Who, a, b pastView, story []string) {
	res, err := m.Diff(context.Background(), DiffRequest{Who: w, From: a.at, To: b.at, Limit: 1000})
	if err != nil || res.Next != "" {
		t.Fatal(res.Next, err)
	}
	was, is := texts(a.lines), texts(b.lines)
	for _, d := range res.Differences {
		if d.Before != nil {
			i := slices.Index(was, d.Before.Content)
			if i < 0 {
				t.Fatalf("%q did not hold before\n%s", d.Before.Content, strings.Join(story, "\n"))
			}
			was = slices.Delete(was, i, i+1)
		}
		if d.After != nil {
			was = append(was, d.After.Content)
		}
	}
	slices.Sort(was)
	if d := cmp.Diff(is, was); d != "" {
		t.Fatalf("the differences do not lead from one moment to the other after\n%s\n%s", strings.Join(story, "\n"), d)
	}
}
