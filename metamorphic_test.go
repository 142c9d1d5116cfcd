package evoke

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// Whatever is added, corrected, told late, edited, undone, redone, forgotten softly and for good, restored and erased in
// whatever order: what is seen now, as of every moment of the past, and of one moment by what was known at another, is what a
// simple model says; the difference of two moments is the difference of the model's; and recall answers out of what is seen
// and finds it by its words.
func TestHistoriesAgainstAModel(t *testing.T) {
	oneByOne(t)
	seeded(t, 40, 2000)
	histories := 0
	rapid.Check(t, func(t *rapid.T) {
		h := begin(t)
		defer h.m.Close()
		for i := range rapid.IntRange(2, 14).Draw(t, "deeds") {
			h.clock.set(h.start.Add(time.Duration(i+1) * time.Hour))
			if !h.deed(i) {
				continue
			}
			h.clock.set(h.start.Add(time.Duration(i+1)*time.Hour + 30*time.Minute))
			h.sim.keep(h.clock.now())
			h.view(time.Time{}, time.Time{}, h.sim.texts(h.sim.now, time.Time{}))
		}
		h.look()
		histories++
	})
	t.Logf("soak: %d histories of additions, late tellings, edits, undos, redos, forgetting, restores and erasures: what is seen, counted, different and recalled is the model's", histories)
}

// seeded has rapid check few cases, always the same, or under EVOKE_SOAK many that no run had before.
func seeded(t *testing.T, few, many int) {
	t.Helper()
	set := func(name string, value int) {
		was := flag.Lookup(name).Value.String()
		if err := flag.Set(name, strconv.Itoa(value)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { flag.Set(name, was) })
	}
	switch {
	case os.Getenv("EVOKE_SOAK") != "":
		set("rapid.checks", many)
	case flag.Lookup("rapid.seed").Value.String() == "0": // nobody asks for another
		set("rapid.checks", few)
		set("rapid.seed", 6)
	}
}

// history is what is done to a memory and to its model.
type history struct {
	*rapid.T
	m     *Memory
	w     Who
	start time.Time
	clock *testClock
	sim   *model
	ops   []string // undos, since the last restore
	// since is how many moments were before it, or before something was last told late behind what holds: an undo leaves that
	// alone, as what stands in its place stays.
	since int
	// mixed: by what is known later, more than the model has is seen of a time before: the last value of a line stayed away in
	// a redo, and those before it came back as the past.
	mixed bool
	story []string
}

func begin(t *rapid.T) *history {
	h := &history{T: t, w: Who{User: "u"}, start: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), sim: &model{now: map[string]line{}, hidden: map[string]string{}}}
	h.clock = clockAt(h.start)
	m, err := Open(context.Background(), &Options{Clock: h.clock.now})
	h.must(err)
	h.m = m
	return h
}

func (h *history) must(err error) {
	if err != nil {
		h.Fatalf("%v after\n%s", err, h.told())
	}
}

func (h *history) tell(i int, format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf("%d: ", i)+fmt.Sprintf(format, args...))
}

func (h *history) told() string { return strings.Join(h.story, "\n") }

// ids lists the versions of a subject that can be read, and the one that holds.
func (h *history) ids(subject string) (current string, all []string) {
	page, err := h.m.List(context.Background(), ListRequest{Who: h.w, All: true, Limit: 1000, Filter: store.Filter{Subjects: []string{subject}}})
	h.must(err)
	for _, it := range page.Items {
		if all = append(all, it.ID); !it.Closed() {
			current = it.ID
		}
	}
	return current, all
}

// deed does one thing, to the memory and to the model; false when there is nothing to do it to.
func (h *history) deed(i int) bool {
	subject, thread := rapid.SampledFrom([]string{"home", "job", "pet"}).Draw(h.T, "subject"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(h.T, "thread")
	text := fmt.Sprintf("The %s is number %d, zvonimi%c", subject, i, 'a'+i) // the names are one slip apart
	switch deed := rapid.IntRange(0, 17).Draw(h.T, "deed"); {
	case deed < 7:
		return h.say(i, deed < 2, subject, thread, text)
	case deed == 7:
		return h.edit(i, subject, text)
	case deed == 8:
		return h.forget(i, subject, false)
	case deed == 9:
		return h.forget(i, subject, true)
	case deed == 10:
		return h.restore(i, subject)
	case deed == 11:
		return h.erase(i, subject)
	case deed < 15:
		h.tell(i, "thread %s is undone", thread)
		op, _ := undo(h, h.m, h.w, lifecycle.Batch{Thread: thread})
		h.ops = append(h.ops, op)
		h.sim.undoThread(op, thread)
	case deed < 17 && len(h.ops) > 0:
		of := rapid.IntRange(0, len(h.ops)-1).Draw(h.T, "operation")
		h.tell(i, "undo %d is undone", of)
		op, _ := undo(h, h.m, h.w, lifecycle.Batch{Operation: h.ops[of]})
		kept := h.sim.undoOperation(op, h.ops[of])
		h.mixed = h.mixed || kept
		h.ops = append(h.ops, op)
	case len(h.sim.past) > h.since:
		then := h.sim.past[rapid.IntRange(h.since, len(h.sim.past)-1).Draw(h.T, "since")]
		h.tell(i, "what came after %v is undone", then.at.Sub(h.start))
		op, _ := undo(h, h.m, h.w, lifecycle.Batch{From: then.at})
		h.ops = append(h.ops, op)
		h.sim.undoSince(op, then.lines)
	default:
		return false
	}
	return true
}

// say says something, that held for hours already when late. Nothing is said of what is softly forgotten: there would be two
// values when it is restored.
func (h *history) say(i int, late bool, subject, thread, text string) bool {
	if h.sim.hidden[subject] != "" {
		return false
	}
	s := statement{text, thread, h.clock.now(), h.clock.now()}
	if late {
		s.said = s.said.Add(-time.Duration(rapid.IntRange(1, 10*60).Draw(h.T, "minutes ago")) * time.Minute)
		s.from = s.said
	}
	h.tell(i, "%s says %q, since %v", thread, text, s.from.Sub(h.start))
	_, err := h.m.Remember(context.Background(), RememberRequest{Who: Who{User: "u", Thread: thread}, Content: text, Subject: subject, ValidFrom: s.from})
	h.must(err)
	if h.sim.say(subject, s) {
		h.since = len(h.sim.past)
	}
	return true
}

func (h *history) edit(i int, subject, text string) bool {
	current, _ := h.ids(subject)
	if current == "" {
		return false
	}
	h.tell(i, "an edit to %q", text)
	_, err := h.m.Update(context.Background(), UpdateRequest{Who: h.w, ID: current, Content: &text})
	h.must(err)
	h.sim.edit(subject, text, h.clock.now())
	return true
}

func (h *history) forget(i int, subject string, soft bool) bool {
	_, all := h.ids(subject)
	if len(all) == 0 {
		return false
	}
	h.tell(i, "%s is forgotten, softly: %v", subject, soft)
	res, err := h.m.Forget(context.Background(), ForgetRequest{Who: h.w, IDs: all, Soft: soft})
	h.must(err)
	if soft {
		h.sim.hidden[subject] = res.ID
	} else {
		h.sim.forget(subject)
	}
	return true
}

func (h *history) restore(i int, subject string) bool {
	if h.sim.hidden[subject] == "" {
		return false
	}
	h.tell(i, "%s is restored", subject)
	res, err := h.m.Restore(context.Background(), RestoreRequest{Who: h.w, Batch: h.sim.hidden[subject]})
	h.must(err)
	if res.Restored == 0 {
		h.Fatalf("nothing was restored after\n%s", h.told())
	}
	delete(h.sim.hidden, subject)
	h.ops, h.since = nil, len(h.sim.past)
	return true
}

// erase erases a subject, softly forgotten or not, or everything.
func (h *history) erase(i int, subject string) bool {
	ctx, r := context.Background(), EraseRequest{User: "u"}
	if rapid.IntRange(0, 3).Draw(h.T, "all") == 0 {
		subject = ""
	} else {
		_, ids := h.ids(subject)
		gone, err := h.m.Forgotten(ctx, ListRequest{Who: h.w, Limit: 1000, Filter: store.Filter{Subjects: []string{subject}}})
		h.must(err)
		for _, it := range gone.Items {
			ids = append(ids, it.ID)
		}
		if len(ids) == 0 {
			return false
		}
		r.Filter = &store.Filter{IDs: ids}
	}
	h.tell(i, "%s is erased", cmp.Or(subject, "everything"))
	op, err := h.m.Erase(ctx, r)
	h.must(err)
	op, err = h.m.WaitOperation(ctx, op.ID)
	h.must(err)
	signed, err := h.m.Receipt(ctx, op.ID)
	h.must(err)
	receipt, err := h.m.VerifyReceipt(ctx, signed)
	h.must(err)
	if op.State != store.OperationDone || !receipt.Clean {
		h.Fatalf("%s, %s, %+v after\n%s", op.State, op.Note, receipt, h.told())
	}
	h.sim.forget(subject)
	if delete(h.sim.hidden, subject); subject == "" {
		clear(h.sim.hidden)
	}
	return true
}

// look holds the past, two times apart, two moments and recall against the model.
func (h *history) look() {
	for _, p := range h.sim.past {
		h.view(p.at, time.Time{}, h.sim.texts(p.lines, p.at))
	}
	h.recall(time.Time{}, time.Time{}, h.sim.texts(h.sim.now, time.Time{}))
	if len(h.sim.past) == 0 {
		return
	}
	last := len(h.sim.past) - 1
	moment := func(name string, from int) pastView {
		return h.sim.past[rapid.IntRange(min(from, last), last).Draw(h.T, name)]
	}
	for range 3 {
		p := moment("recalled", 0)
		h.recall(p.at, time.Time{}, h.sim.texts(p.lines, p.at))
		if h.mixed {
			continue
		}
		valid, known := moment("true", 0).at, moment("known", 0)
		h.view(valid, known.at, h.sim.texts(known.lines, valid))
		h.recall(valid, known.at, h.sim.texts(known.lines, valid))
	}
	h.difference(moment("from", 0), h.sim.past[last])
}

// view holds a list and the counts against what the model shows.
func (h *history) view(at, known time.Time, want []string) {
	page, err := h.m.List(context.Background(), ListRequest{Who: h.w, AsOf: at, Known: known, Limit: 1000})
	h.must(err)
	got := []string{}
	for _, it := range page.Items {
		got = append(got, it.Content)
	}
	slices.Sort(got)
	if d := gocmp.Diff(want, got); d != "" {
		h.Fatalf("as of %v, known %v, after\n%s\n%s", at, known, h.told(), d)
	}
	if st, err := h.m.StatsAt(context.Background(), StatsRequest{Who: h.w, AsOf: at, Known: known}); err != nil || st.Total != len(want) {
		h.Fatalf("%d counted as of %v, known %v, %v", st.Total, at, known, err)
	}
}

// recall asks for a text that the model shows, by all of its words or by the name in it, or for anything: nothing else than what it shows answers, and the text does.
func (h *history) recall(at, known time.Time, want []string) {
	query, text := "Which number is the home, the job, the pet?", ""
	if len(want) > 0 {
		text = rapid.SampledFrom(want).Draw(h.T, "query")
		if query = text; rapid.Bool().Draw(h.T, "by name") {
			_, query, _ = strings.Cut(text, ", ")
		}
	}
	res, err := h.m.Recall(context.Background(), RecallRequest{Who: h.w, Request: recall.Request{Query: query, AsOf: at, Known: known, Limit: 100}})
	h.must(err)
	found := len(want) == 0
	for _, hit := range res.Hits {
		if found = found || hit.Item.Content == text; !slices.Contains(want, hit.Item.Content) {
			h.Fatalf("%q is recalled as of %v, known %v, of %q after\n%s", hit.Item.Content, at, known, want, h.told())
		}
	}
	if !found {
		h.Fatalf("%q is not recalled as of %v, known %v, but %d others, after\n%s", query, at, known, len(res.Hits), h.told())
	}
}

// difference holds the differences of two moments against those of the model: by text, as an undo writes anew what it
// brings back.
func (h *history) difference(a, b pastView) {
	res, err := h.m.Diff(context.Background(), DiffRequest{Who: h.w, From: a.at, To: b.at, Limit: 1000})
	if err != nil || res.Next != "" {
		h.Fatal(res.Next, err)
	}
	was, is := h.sim.texts(a.lines, a.at), h.sim.texts(b.lines, b.at)
	for _, d := range res.Differences {
		if d.Before != nil {
			i := slices.Index(was, d.Before.Content)
			if i < 0 {
				h.Fatalf("%q did not hold before\n%s", d.Before.Content, h.told())
			}
			was = slices.Delete(was, i, i+1)
		}
		if d.After != nil {
			was = append(was, d.After.Content)
		}
	}
	slices.Sort(was)
	if d := gocmp.Diff(is, was); d != "" {
		h.Fatalf("the differences do not lead from one moment to the other after\n%s\n%s", h.told(), d)
	}
}
