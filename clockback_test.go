package evoke

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
	"evoke/store/lifecycle"
)

// unsteady is a memory whose clock moves as a test says between any two steps of a story.
type unsteady struct {
	*testing.T
	m      *Memory
	clock  *testClock
	move   func(step int) time.Duration
	steps  int
	latest time.Time // that the clock ever showed
	told   []string  // what each step came to, without times and ids
}

var unsteadyWho = Who{User: "ann"}

// next moves the clock, and tells what is seen after the step before.
func (u *unsteady) next(step string) {
	u.Helper()
	at := u.clock.now().Add(u.move(u.steps))
	u.steps++
	if u.clock.set(at); at.After(u.latest) {
		u.latest = at
	}
	u.tell(step)
}

// tell puts down what is seen now, which is also what was known by the latest moment that the clock showed, with every chain
// of versions in its order.
func (u *unsteady) tell(step string) {
	u.Helper()
	now := u.seen(ListRequest{Who: unsteadyWho, Limit: 1000})
	if then := u.seen(ListRequest{Who: unsteadyWho, Limit: 1000, AsOf: u.latest.Add(time.Minute)}); !slices.Equal(now, then) {
		u.Errorf("before %q: seen now %q, as of the latest moment %q", step, now, then)
	}
	page, err := u.m.List(u.Context(), ListRequest{Who: unsteadyWho, All: true, Sources: true, Limit: 1000})
	if err != nil {
		u.Fatal(err)
	}
	var chains []string
	byID := map[string]*store.Item{}
	for i := range page.Items {
		byID[page.Items[i].ID] = &page.Items[i]
	}
	for i := range page.Items {
		it := &page.Items[i]
		u.ordered(step, it, byID)
		if byID[it.Supersedes] == nil && byID[it.SupersededBy] != nil {
			chains = append(chains, u.chain(step, it, byID))
		}
	}
	slices.Sort(chains)
	u.told = append(u.told, fmt.Sprintf("before %s: %q; versions %q", step, now, chains))
}

func (u *unsteady) seen(r ListRequest) []string {
	u.Helper()
	page, err := u.m.List(u.Context(), r)
	if err != nil {
		u.Fatal(err)
	}
	texts := []string{}
	for _, it := range page.Items {
		texts = append(texts, it.Content)
	}
	slices.Sort(texts)
	return texts
}

// ordered checks the times of one version: it ends no earlier than it was known, and what took its place was known no earlier
// than it.
func (u *unsteady) ordered(step string, it *store.Item, byID map[string]*store.Item) {
	u.Helper()
	for name, end := range map[string]time.Time{"closed": it.ClosedAt, "retracted": it.RetractedAt} {
		if !end.IsZero() && end.Before(it.RecordedAt) {
			u.Errorf("before %q: %q was %s at %s, before it was known at %s", step, it.Content, name, end, it.RecordedAt)
		}
	}
	if next := byID[it.SupersededBy]; next != nil && next.RecordedAt.Before(it.RecordedAt) {
		u.Errorf("before %q: %q took the place of %q before it was there", step, next.Content, it.Content)
	}
}

// chain is the texts of versions, each with how it ended, as links and as history tell them.
func (u *unsteady) chain(step string, first *store.Item, byID map[string]*store.Item) string {
	u.Helper()
	var texts, ids []string
	for it := first; it != nil && len(ids) < 100; it = byID[it.SupersededBy] {
		state := "holds"
		if it.Closed() {
			state = "ended"
		}
		if text := it.Content + " " + state; len(texts) == 0 || texts[len(texts)-1] != text { // how often something came to hold again is told nowhere
			texts = append(texts, text)
		}
		ids = append(ids, it.ID)
	}
	history, err := u.m.History(u.Context(), unsteadyWho, first.ID)
	if err != nil {
		u.Fatal(err)
	}
	var told []string
	for i := range history {
		told = append(told, history[i].ID)
	}
	back := slices.Clone(told)
	slices.Reverse(back)
	if !slices.Equal(told, ids) && !slices.Equal(back, ids) {
		u.Errorf("before %q: history tells versions in the order %q, the links %q", step, told, ids)
	}
	return strings.Join(texts, " > ")
}

func (u *unsteady) done(what string, op store.Operation, err error) store.Operation {
	u.Helper()
	if err != nil {
		u.Fatal(what, err)
	}
	if op, err = u.m.WaitOperation(u.Context(), op.ID); err != nil || op.State != store.OperationDone {
		u.Fatalf("%s: %s (%s), %v", what, op.State, op.Note, err)
	}
	return op
}

func (u *unsteady) remember(thread, subject, text string) store.Item {
	u.Helper()
	worth := map[string]float64{"home": 0.95, "job": 0.8, "pet": 0.65}[subject] // so that a retention does not choose by age
	res, err := u.m.Remember(u.Context(), RememberRequest{Who: Who{User: "ann", Thread: thread}, Content: text, Subject: subject, Importance: &worth})
	if err != nil {
		u.Fatal(err)
	}
	return res.Item
}

func (u *unsteady) undo(b lifecycle.Batch) string {
	u.Helper()
	id, did := undo(u.T, u.m, unsteadyWho, b)
	u.told = append(u.told, fmt.Sprintf("undone: %d retracted, some reopened: %t, %d left", did.Retracted, did.Reopened > 0, did.Conflicts))
	return id
}

// swept puts down what a retention or a purge took.
func (u *unsteady) swept(op store.Operation) {
	u.Helper()
	var s Swept
	if err := json.Unmarshal(op.Result, &s); err != nil {
		u.Fatal(err)
	}
	u.told = append(u.told, fmt.Sprintf("%s: %d items of %d memories, %v", op.Kind, s.Items, s.Memories, s.Reasons))
}

// story is said, corrected, undone, put under a summary, retained, restored, forgotten and erased, a move of the clock between
// any two of them.
func (u *unsteady) story() {
	u.Helper()
	ctx := u.Context()
	u.remember("a", "home", "Lives in Rome")
	u.next("a job")
	job := u.remember("a", "job", "Works as a smith")
	u.next("the move")
	u.remember("b", "home", "Lives in Oslo")
	u.next("an edit")
	if _, err := u.m.Update(ctx, UpdateRequest{Who: unsteadyWho, ID: job.ID, Content: ptr("Works as a baker")}); err != nil {
		u.Fatal(err)
	}
	u.next("undo of a thread")
	back := u.undo(lifecycle.Batch{Thread: "b"})
	u.next("undo of the undo")
	u.undo(lifecycle.Batch{Operation: back})
	u.next("a pet")
	pet := u.remember("c", "pet", "Has a cat")
	u.next("undo of the moment in which the pet was told")
	u.undo(lifecycle.Batch{From: pet.RecordedAt, To: pet.RecordedAt.Add(time.Microsecond)})
	u.next("another pet")
	u.remember("d", "pet", "Has a dog")

	u.next("a conversation")
	converse(u.T, u.m, unsteadyWho, "trip", "2025-02-01",
		"Ann: We walked to the silver mine near the old harbour and bought two bags of stones.", "Tom: The silver mine near the harbour sounds like a long walk.",
		"Ann: The guide at the silver mine told us of the flood that closed it in the winter.", "Tom: A flood closed the silver mine for a whole winter then.",
		"Ann: Afterwards we had soup in the inn and slept until the train left.", "Tom: Soup in the inn and a late train make a good day.")
	u.next("consolidation")
	made, got := consolidate(u.T, u.m, ConsolidateRequest{User: "ann", Policy: wholly})
	u.told = append(u.told, fmt.Sprintf("consolidated: %d summaries of %d items", got.Summaries, got.Items))
	u.next("the same again")
	_, got = consolidate(u.T, u.m, ConsolidateRequest{User: "ann", Policy: wholly})
	u.told = append(u.told, fmt.Sprintf("consolidated: %d summaries of %d items", got.Summaries, got.Items))
	u.next("undo of the consolidation")
	redo := u.undo(lifecycle.Batch{Operation: made})
	u.next("undo of that")
	u.undo(lifecycle.Batch{Operation: redo})

	u.next("soft forgetting")
	soft, err := u.m.Forget(ctx, ForgetRequest{Who: unsteadyWho, IDs: []string{u.idOf("Has a dog")}, Soft: true})
	if err != nil || soft.Forgotten != 1 {
		u.Fatalf("%+v, %v", soft, err)
	}
	u.next("restore")
	if res, err := u.m.Restore(ctx, RestoreRequest{Who: unsteadyWho, Batch: soft.ID}); err != nil || res.Restored != 1 {
		u.Errorf("%+v, %v", res, err)
	}
	u.next("retention")
	op, err := u.m.Retain(ctx, RetainRequest{Policy: &RetentionPolicy{MaxItems: 3}})
	op = u.done("retention", op, err)
	u.swept(op)
	u.next("purge of nothing")
	purged, err := u.m.Purge(ctx)
	u.swept(u.done("purge", purged, err))
	u.next("restore of what retention took")
	restored, err := u.m.RestoreBatch(ctx, op.ID)
	u.done("restore", restored, err)
	u.next("soft forgetting again")
	if soft, err = u.m.Forget(ctx, ForgetRequest{Who: unsteadyWho, IDs: []string{u.idOf("Has a dog")}, Soft: true}); err != nil {
		u.Fatal(err)
	}
	u.clock.set(soft.Until.Add(time.Hour)) // however often it went back, its time comes
	u.latest = u.clock.now()
	u.next("purge")
	u.clock.set(soft.Until.Add(time.Hour))
	purged, err = u.m.Purge(ctx)
	u.swept(u.done("purge", purged, err))
	u.next("erasure")
	u.erase()
}

func (u *unsteady) idOf(text string) string {
	u.Helper()
	page, err := u.m.List(u.Context(), ListRequest{Who: unsteadyWho, Limit: 1000})
	if err != nil {
		u.Fatal(err)
	}
	for _, it := range page.Items {
		if it.Content == text {
			return it.ID
		}
	}
	u.Fatalf("nothing says %q", text)
	return ""
}

// erase erases all of it while the clock moves, and brings it back.
func (u *unsteady) erase() {
	u.Helper()
	ctx := u.Context()
	var export strings.Builder
	n, err := u.m.Export(ctx, unsteadyWho, &export)
	if err != nil {
		u.Fatal(err)
	}
	op, err := u.m.Erase(ctx, EraseRequest{User: "ann"})
	if err != nil {
		u.Fatal(err)
	}
	u.clock.set(u.clock.now().Add(-u.move(1) - time.Minute))
	op, sum := erased(u.T, u.m, op.ID)
	receipt, _ := probesOf(u.T, u.m, op.ID)
	if op.State != store.OperationDone || !receipt.Clean || sum.Items != n {
		u.Errorf("%s, %+v of %d, %+v", op.State, sum, n, receipt)
	}
	u.next("a replay")
	res, err := u.m.Import(ctx, unsteadyWho, strings.NewReader(export.String()), nil)
	if err != nil || res.Imported != 0 || res.Erased != n {
		u.Errorf("what was erased came back: %+v of %d, %v", res, n, err)
	}
	u.next("the end")
}

// Whatever the clock does between two steps of a memory's life, going back by an hour or a day among it, the memory comes to
// the same: nothing is lost, done twice or in another order.
func TestTheClockGoesBack(t *testing.T) {
	oneByOne(t)
	steady := func(int) time.Duration { return time.Hour }
	var want []string
	for _, c := range []struct {
		name string
		move func(int) time.Duration
	}{
		{"steady", steady},
		{"an hour back, every other step", func(i int) time.Duration { return []time.Duration{-time.Hour, 30 * time.Minute}[i%2] }},
		{"an hour back, every step", func(int) time.Duration { return -time.Hour }},
		{"a day back, every step", func(int) time.Duration { return -24 * time.Hour }},
		{"a day back and ahead", func(i int) time.Duration { return []time.Duration{-24 * time.Hour, 25 * time.Hour}[i%2] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := clockAt(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
			u := &unsteady{T: t, clock: clock, move: c.move, latest: clock.now(), m: open(t, &Options{Clock: clock.now})}
			u.story()
			if want == nil {
				want = u.told
				for _, line := range want {
					t.Log(line)
				}
			} else if diff := cmp.Diff(want, u.told); diff != "" {
				t.Errorf("it came to something else than with a steady clock: %s", diff)
			}
		})
	}
}
