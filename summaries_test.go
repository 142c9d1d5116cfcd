package evoke

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// summed is a memory whose conversation a summary stands for. The word of its third turn is kilnword.
type summed struct {
	*Memory
	clock *testClock
	w     Who
	ids   []string
	sum   store.Item
	op    string // the consolidation
}

const kilnword = "Duarte"

func sumUp(t *testing.T) *summed {
	t.Helper()
	clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	x := &summed{Memory: open(t, &Options{Clock: clock.now}), clock: clock, w: Who{User: "u"}}
	x.ids = converse(t, x.Memory, x.w, "s", "2026-02-01", pottery...)
	x.pass(time.Hour)
	x.op, _ = consolidate(t, x.Memory, ConsolidateRequest{User: "u", Policy: wholly})
	x.sum = summaries(t, x.Memory, x.w)[0]
	x.pass(time.Hour)
	return x
}

func (x *summed) pass(d time.Duration) { x.clock.set(x.clock.now().Add(d)) }

func (x *summed) undo(t *testing.T, op string) string {
	t.Helper()
	un, _ := undo(t, x.Memory, x.w, lifecycle.Batch{Operation: op})
	x.pass(time.Hour)
	return un
}

func (x *summed) forget(t *testing.T, soft bool, ids ...string) string {
	t.Helper()
	res, err := x.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: ids, Soft: soft})
	if err != nil {
		t.Fatal(err)
	}
	x.pass(time.Hour)
	return res.ID
}

func (x *summed) expire(t *testing.T, id string, at time.Time) {
	t.Helper()
	if _, err := x.Update(t.Context(), UpdateRequest{Who: x.w, ID: id, ExpiresAt: &at}); err != nil {
		t.Fatal(err)
	}
}

// Whatever way a source goes for good, its words go with it: no summary of any version has them, nor brings them back.
func TestRemovedSourcesTakeTheirSummaries(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*testing.T, *summed){
		"forgotten": func(t *testing.T, x *summed) { x.forget(t, false, x.ids[2]) },
		"forgotten after the summary was taken back": func(t *testing.T, x *summed) {
			un := x.undo(t, x.op)
			x.forget(t, false, x.ids[2])
			x.undo(t, un)
		},
		"forgotten after the summary was forgotten softly": func(t *testing.T, x *summed) {
			batch := x.forget(t, true, x.sum.ID)
			x.forget(t, false, x.ids[2])
			if _, err := x.Restore(t.Context(), RestoreRequest{Who: x.w, Batch: batch}); err != nil {
				t.Fatal(err)
			}
		},
		"purged once it expired": func(t *testing.T, x *summed) {
			un := x.undo(t, x.op)
			x.expire(t, x.ids[2], x.clock.now().Add(time.Hour))
			x.pass(365 * 24 * time.Hour)
			if got := swept(t, x.Memory, x.Purge); got.Items != 1 {
				t.Errorf("%+v", got)
			}
			x.undo(t, un)
		},
		"retained no longer": func(t *testing.T, x *summed) {
			x.expire(t, x.ids[2], x.clock.now().Add(time.Hour))
			x.pass(2 * time.Hour)
			p := RetentionPolicy{Hard: true, TTLDays: 3000}
			swept(t, x.Memory, func(ctx context.Context) (store.Operation, error) {
				return x.Retain(ctx, RetainRequest{User: "u", Policy: &p})
			})
			x.pass(time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sumUp(t)
			do(t, x)
			if s := exported(t, x.Memory, x.w); strings.Contains(s, kilnword) {
				t.Errorf("left:\n%s", s)
			}
			for _, at := range []time.Time{{}, x.clock.now().AddDate(-1, 0, 0), time.Date(2026, 3, 1, 1, 30, 0, 0, time.UTC)} {
				if s := strings.Join(holds(t, x.Memory, x.w, at), "\n"); strings.Contains(s, kilnword) {
					t.Errorf("as of %v:\n%s", at, s)
				}
			}
			if got := holds(t, x.Memory, x.w, time.Time{}); len(got) != 3 {
				t.Errorf("%d of the other turns are seen: %q", len(got), got)
			}
		})
	}
}

// So it is with facts.
func TestRemovedFactsTakeTheirSummaries(t *testing.T) {
	t.Parallel()
	clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	m, w := open(t, &Options{Clock: clock.now}), Who{User: "u"}
	at := clock.now().AddDate(0, 0, -1)
	src := func(id, text string) store.Item {
		return store.Item{ID: id, Kind: store.Semantic, Content: text, Confidence: 1, RecordedAt: at, Aside: store.Aside{}, Provenance: store.Provenance{Origin: "remember"}}
	}
	closed := src("sum", "The kiln burns wood, says Duarte. The clay is red.")
	closed.RetractedAt, closed.Provenance = at, store.Provenance{Origin: lifecycle.SummaryOrigin, Extractor: "quotations/1", Turns: []string{"a", "b"}}
	putAll(t, m, w, []store.Item{src("a", "The kiln burns wood, says Duarte."), src("b", "The clay is red."), closed})
	if _, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if s := exported(t, m, w); strings.Contains(s, kilnword) || !strings.Contains(s, "The clay is red.") {
		t.Errorf("left:\n%s", s)
	}
}

// A fact that goes for good takes those that were merged into it: undoing the merge does not bring them back.
func TestForgottenMergedFactsStayGone(t *testing.T) {
	t.Parallel()
	clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	m, w := open(t, &Options{Clock: clock.now}), Who{User: "u"}
	var items []store.Item
	for i, text := range []string{"I always keep the blue umbrella in the hall closet", "I always keep the blue umbrella in the hall closet.", "I always keep the blue umbrella in the hall closet!", "The red coat is at the cleaner's."} {
		items = append(items, store.Item{ID: string(rune('a' + i)), Kind: store.Semantic, Content: text, Confidence: 1, RecordedAt: clock.now().AddDate(0, 0, -30), ContentKey: store.ContentKey(store.Semantic, text), Provenance: store.Provenance{Origin: "remember"}})
	}
	putAll(t, m, w, items)
	op, did := consolidate(t, m, ConsolidateRequest{User: "u", Merge: true, Policy: wholly})
	if did.Merged != 2 {
		t.Fatalf("%+v", did)
	}
	clock.set(clock.now().Add(time.Hour))
	i := slices.IndexFunc(mustList(t, m, w), func(it store.Item) bool { return strings.Contains(it.Content, "umbrella") })
	res, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{mustList(t, m, w)[i].ID}})
	if err != nil || res.Derived != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	clock.set(clock.now().Add(time.Hour))
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if s := exported(t, m, w); strings.Contains(s, "umbrella") || !strings.Contains(s, "red coat") {
		t.Errorf("left:\n%s", s)
	}
}
