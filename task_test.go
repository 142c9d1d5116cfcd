package evoke

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/recall"
	"evoke/store"
)

// taskTaker stores what a user says after "task:" for the task, and after "fact:" for good.
type taskTaker struct{}

func (taskTaker) Name() string { return "takes/1" }

func (taskTaker) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	var ops []extract.Operation
	for i := range b.Turns {
		t := &b.Turns[i]
		for prefix, d := range map[string]extract.Durability{"task: ": extract.DurableTask, "fact: ": extract.DurableUser} {
			if said, ok := strings.CutPrefix(t.Content, prefix); ok && t.Turn.Role == "user" {
				subject, _, _ := strings.Cut(said, " ")
				ops = append(ops, extract.Operation{Action: extract.Add, Kind: store.Semantic, Category: store.Preference, Content: said, Quote: said,
					Turn: t.ID, Speaker: "user", Subject: subject, Exclusive: true, Confidence: 0.9, Importance: 0.5, Durability: d})
			}
		}
	}
	return ops, nil
}

// listed are the facts that a listing and a recall show; they must show the same.
func listed(t *testing.T, m *Memory, who Who, query string, task ...string) []string {
	t.Helper()
	kinds := []store.Kind{store.Semantic, store.Procedural}
	at := strings.Join(task, "")
	page, err := m.List(t.Context(), ListRequest{Who: who, Task: at, Filter: store.Filter{Kinds: kinds}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: query, Task: at, Kinds: kinds, Limit: 100, MinScore: ptr(0.0)}})
	if err != nil {
		t.Fatal(err)
	}
	var a, b []string
	for _, it := range page.Items {
		a = append(a, it.Content)
	}
	for _, h := range found.Hits {
		b = append(b, h.Item.Content)
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("listed %q, recalled %q", a, b)
	}
	return a
}

func TestWhatHoldsForATaskStaysWithItsThread(t *testing.T) {
	clock := clockAt(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now, Extractor: taskTaker{}})
	later := func(d time.Duration) { clock.set(clock.now().Add(d)) }
	say := func(thread string, lines ...string) {
		t.Helper()
		who := Who{User: "ann", Thread: thread}
		for i, l := range lines {
			if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat(l, fmt.Sprint("noted ", i))}); err != nil {
				t.Fatal(err)
			}
		}
		flush(t, m, who)
	}
	want := func(thread string, contents ...string) {
		t.Helper()
		if got := listed(t, m, Who{User: "ann", Thread: thread}, "which seats and tea"); !slices.Equal(got, contents) {
			t.Errorf("at %v in %q: %q, want %q", clock.now().Format("2 15:04"), thread, got, contents)
		}
	}
	say("trip", "fact: seats by the aisle", "task: seats by the window", "task: tea is too dear")
	say("other", "task: seats at the back")

	want("", "seats by the aisle")
	want("trip", "seats by the aisle", "seats by the window", "tea is too dear")
	want("other", "seats at the back")
	want("third")
	if got := listed(t, m, Who{User: "ann"}, "which seats", "other"); !slices.Equal(got, []string{"seats at the back", "seats by the aisle"}) {
		t.Errorf("with the task of a thread: %q", got) // nothing is narrowed
	}

	later(20 * time.Hour)
	say("trip", "what else is there to do?") // it goes on
	later(20 * time.Hour)
	want("trip", "seats by the aisle", "seats by the window", "tea is too dear")
	want("other") // a day was over

	say("trip", "task: seats in front") // in place of the window, not of the aisle
	want("trip", "seats by the aisle", "seats in front", "tea is too dear")
	later(25 * time.Hour)
	want("trip", "seats by the aisle")
	say("trip", "task: tea is fine") // what is over does not come back
	want("trip", "seats by the aisle", "tea is fine")
	want("", "seats by the aisle")
}

func TestTheTimeOfATaskCanBeSet(t *testing.T) {
	clock := clockAt(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now, Extractor: taskTaker{}, Memory: MemoryOptions{TaskTTL: 2 * time.Hour}})
	who := Who{User: "ann", Thread: "trip"}
	if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("task: seats by the window", "noted")}); err != nil {
		t.Fatal(err)
	}
	flush(t, m, who)
	if got := listed(t, m, who, "seats"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	clock.set(clock.now().Add(3 * time.Hour))
	if got := listed(t, m, who, "seats"); len(got) != 0 {
		t.Errorf("after its time: %q", got)
	}
	if _, err := Open(t.Context(), &Options{Memory: MemoryOptions{TaskTTL: time.Minute}}); err == nil {
		t.Error("a minute is taken")
	}
}

// Turns that say nothing are kept, and nobody is asked what they hold.
func TestTurnsThatSayNothingAreKeptAndNotExtracted(t *testing.T) {
	calls := 0
	m := open(t, &Options{Extractor: countExtractor{&calls}})
	who := Who{User: "ann", Thread: "t"}
	say := func(user, assistant string) IngestResult {
		t.Helper()
		res, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat(user, assistant)})
		if err != nil || len(res.Turns) != 2 {
			t.Fatal(err, res)
		}
		flush(t, m, who)
		return res
	}
	for _, s := range []string{"ok", "👍", "好的", "?!", "谢谢！"} {
		if res := say(s, "You are welcome, as always."); res.State != store.EventNothing || !strings.Contains(res.Note, "nothing said") {
			t.Errorf("%q: %s (%s)", s, res.State, res.Note)
		}
	}
	if calls != 0 {
		t.Errorf("%d extractions", calls)
	}
	if res := say("I live in Rome", "👍"); res.State != store.EventPending || calls != 1 {
		t.Errorf("%s (%s), %d extractions", res.State, res.Note, calls)
	}
	if n := len(census(t, m, "ann")); n != 12 {
		t.Errorf("%d items", n)
	}
	if _, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "ann"}, Messages: chat("a", "b")}); err == nil || !strings.Contains(err.Error(), "thread") {
		t.Errorf("no thread: %v", err)
	}
}

type countExtractor struct{ calls *int }

func (c countExtractor) Name() string { return "counts/1" }

func (c countExtractor) Extract(context.Context, extract.Batch) ([]extract.Operation, error) {
	*c.calls++
	return nil, nil
}
