package evoke

import (
	"context"
	"errors"
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
	closed.RetractedAt, closed.Provenance = at, store.Provenance{Origin: store.SummaryOrigin, Extractor: "quotations/1", Turns: []string{"a", "b"}}
	putAll(t, m, w, []store.Item{src("a", "The kiln burns wood, says Duarte."), src("b", "The clay is red."), closed})
	if _, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if s := exported(t, m, w); strings.Contains(s, kilnword) || !strings.Contains(s, "The clay is red.") {
		t.Errorf("left:\n%s", s)
	}
}

// umbrellas is a memory with one fact that was merged of three, its id, and the operation that merged them.
func umbrellas(t *testing.T) (m *Memory, clock *testClock, w Who, one, op string) {
	t.Helper()
	clock = clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	m, w = open(t, &Options{Clock: clock.now}), Who{User: "u"}
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
	facts := mustList(t, m, w)
	i := slices.IndexFunc(facts, func(it store.Item) bool { return strings.Contains(it.Content, "umbrella") })
	return m, clock, w, facts[i].ID, op
}

// A fact that goes for good takes those that were merged into it: undoing the merge does not bring them back.
func TestForgottenMergedFactsStayGone(t *testing.T) {
	t.Parallel()
	m, clock, w, one, op := umbrellas(t)
	res, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{one}})
	if err != nil || res.Derived != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	clock.set(clock.now().Add(time.Hour))
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if s := exported(t, m, w); strings.Contains(s, "umbrella") || !strings.Contains(s, "red coat") {
		t.Errorf("left:\n%s", s)
	}
}

// One that is softly forgotten takes them out of sight, also when the merge is undone, and brings them back.
func TestSoftlyForgottenMergedFacts(t *testing.T) {
	t.Parallel()
	m, clock, w, one, op := umbrellas(t)
	before := exported(t, m, w)
	forget := func() ForgetResult {
		res, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{one}, Soft: true})
		if err != nil || res.Forgotten != 1 || res.Derived != 3 {
			t.Fatalf("%+v, %v", res, err)
		}
		clock.set(clock.now().Add(time.Hour))
		return res
	}
	forget()
	if res, err := m.Restore(t.Context(), RestoreRequest{Who: w, IDs: []string{one}}); err != nil || res.Restored != 4 || exported(t, m, w) != before {
		t.Fatalf("%+v, %v: otherwise than it was", res, err)
	}
	res := forget()
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if now := holds(t, m, w, time.Time{}); len(now) != 1 {
		t.Errorf("in sight after the undo: %q", now)
	}
	clock.set(clock.now().Add(time.Hour))
	if _, err := m.Restore(t.Context(), RestoreRequest{Who: w, Batch: res.ID}); err != nil {
		t.Fatal(err)
	}
	if now := holds(t, m, w, time.Time{}); len(now) != 4 {
		t.Errorf("restored: %q", now)
	}
}

// A source that is softly forgotten is seen in no view, nor is a summary that has its words, whether it holds or not; all
// comes back as it was.
func TestSoftlyForgottenSourcesHideTheirSummaries(t *testing.T) {
	t.Parallel()
	for name, undone := range map[string]bool{"that holds": false, "taken back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sumUp(t)
			then := x.clock.now().Add(-time.Minute)
			if undone {
				x.undo(t, x.op)
			}
			before := exported(t, x.Memory, x.w)
			one, two := x.forget(t, true, x.ids[2]), x.forget(t, true, x.ids[0])
			out := func() {
				t.Helper()
				seen := append(holds(t, x.Memory, x.w, time.Time{}), holds(t, x.Memory, x.w, then)...)
				for _, it := range mustAll(t, x) {
					seen = append(seen, it.Content)
				}
				if s := strings.Join(seen, "\n"); strings.Contains(s, kilnword) {
					t.Errorf("seen:\n%s", s)
				}
			}
			out()
			for _, r := range []RestoreRequest{{Batch: two}, {Batch: one}} {
				if out(); r.Batch == one {
					r = RestoreRequest{IDs: []string{x.ids[2]}}
				}
				r.Who = x.w
				if res, err := x.Restore(t.Context(), r); err != nil || res.Restored == 0 {
					t.Fatal(res, err)
				}
			}
			if after := exported(t, x.Memory, x.w); after != before {
				t.Errorf("came back as\n%s\nwas\n%s", after, before)
			}
		})
	}
}

func mustAll(t *testing.T, x *summed) []store.Item {
	t.Helper()
	page, err := x.List(t.Context(), ListRequest{Who: x.w, All: true, Sources: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// A source that is kept for a term speaks no longer through a summary, and a summary is kept as long as its sources.
func TestSummariesAndExpiry(t *testing.T) {
	t.Parallel()
	x := sumUp(t)
	at := x.clock.now().Add(time.Hour)
	if _, err := x.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.sum.ID, ExpiresAt: &at}); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "expires_at") {
		t.Errorf("a term for a summary: %v", err)
	}
	x.expire(t, x.ids[2], at)
	if got := holds(t, x.Memory, x.w, time.Time{}); len(got) != 4 {
		t.Errorf("while it is kept: %q", got)
	}
	x.pass(2 * time.Hour)
	got := holds(t, x.Memory, x.w, time.Time{})
	if len(got) != 3 || strings.Contains(strings.Join(got, "\n"), kilnword) {
		t.Errorf("after its term: %q", got)
	}
	if _, again := consolidate(t, x.Memory, ConsolidateRequest{User: "u", Policy: wholly}); strings.Contains(strings.Join(holds(t, x.Memory, x.w, time.Time{}), "\n"), kilnword) {
		t.Errorf("consolidated again: %+v", again)
	}
}

// A summary that comes back after its sources got another one, or another text, is taken back at once: no text is seen
// twice, and none that was replaced.
func TestASummaryComesBackOnlyToWhatItWasMadeOf(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*testing.T, *summed){
		"another summary stands": func(t *testing.T, x *summed) {
			batch := x.forget(t, true, x.ids[3])
			if _, got := consolidate(t, x.Memory, ConsolidateRequest{User: "u", Policy: wholly}); got.Summaries != 1 {
				t.Fatalf("%+v", got)
			}
			x.pass(time.Hour)
			if _, err := x.Restore(t.Context(), RestoreRequest{Who: x.w, Batch: batch}); err != nil {
				t.Fatal(err)
			}
		},
		"a source has another text": func(t *testing.T, x *summed) {
			un := x.undo(t, x.op)
			text := "Her name is Marta Reis."
			if _, err := x.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.ids[2], Content: &text}); err != nil {
				t.Fatal(err)
			}
			x.pass(time.Hour)
			x.undo(t, un)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sumUp(t)
			do(t, x)
			for _, s := range summaries(t, x.Memory, x.w) {
				if slices.Contains(s.Provenance.Turns, x.ids[3]) {
					t.Errorf("it stands: %q", s.Content)
				}
			}
			seen := strings.Join(holds(t, x.Memory, x.w, time.Time{}), "\n")
			for _, word := range []string{"Porto", "lovely", "12 kilos"} {
				if strings.Count(seen, word) != 1 {
					t.Errorf("%q is seen %d times:\n%s", word, strings.Count(seen, word), seen)
				}
			}
		})
	}
}

// What hides behind a summary that never comes with an import is seen; one that comes later in the file stands.
func TestImportedSourcesOfMissingSummaries(t *testing.T) {
	t.Parallel()
	clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	m, w := open(t, &Options{Clock: clock.now}), Who{User: "u"}
	file := `{"id":"lost","kind":"episodic","content":"I hide behind a ghost.","aside":{"summary":"ghost"}}
{"id":"a","kind":"episodic","content":"The kiln burns wood.","aside":{"summary":"sum"}}
{"id":"sum","kind":"episodic","content":"The kiln burns wood.","provenance":{"origin":"summary","extractor":"quotations/1","turns":["a"]}}
`
	for range 2 { // an import that is made again finds what one that broke off left
		if res, err := m.Import(t.Context(), w, strings.NewReader(file), nil); err != nil || res.FailedN != 0 {
			t.Fatal(res, err)
		}
		if got := holds(t, m, w, time.Time{}); !slices.Equal(got, []string{"I hide behind a ghost.", "The kiln burns wood."}) {
			t.Errorf("seen: %q", got)
		}
	}
	imp := m.importer(t.Context(), w)
	sc, _ := m.memory(w)
	putAll(t, m, w, []store.Item{{ID: "late", Kind: store.Episodic, Content: "So do I.", RecordedAt: clock.now(), Aside: store.Aside{Summary: "spook"}, Provenance: store.Provenance{Import: imp.id}}})
	if err := imp.freeSources(true); err != nil {
		t.Fatal(err)
	}
	if items, err := m.store.Get(t.Context(), sc, []string{"late", "a"}); err != nil || items[0].Aside.Summary+items[1].Aside.Summary != "sum" {
		t.Errorf("after a restart: %+v, %v", items, err)
	}
}

// What filters tell a source by, and its date, are those of its summary. Once they differ, the summary goes; it stands for none
// that was changed meanwhile.
func TestChangedSourcesEndTheirSummaries(t *testing.T) {
	t.Parallel()
	behavior, day := store.Behavior, time.Date(2026, 1, 20, 9, 0, 0, 0, time.UTC)
	tag := store.Metadata{"proj": store.String("figs")}
	byTag := store.Filter{Metadata: []store.Condition{{Key: "proj", In: []store.Value{store.String("figs")}}}}
	for name, change := range map[string]struct {
		r      UpdateRequest
		filter store.Filter
	}{
		"metadata": {UpdateRequest{Metadata: tag}, byTag},
		"category": {UpdateRequest{Category: &behavior}, store.Filter{Categories: []store.Category{behavior}}},
		"date":     {UpdateRequest{ValidFrom: &day}, store.Filter{Valid: store.TimeRange{To: day.Add(time.Hour)}}},
	} {
		for _, when := range []string{"stands", "softly forgotten", "taken back"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				x := sumUp(t)
				var batch, un string
				switch when {
				case "softly forgotten":
					batch = x.forget(t, true, x.sum.ID)
				case "taken back":
					un = x.undo(t, x.op)
				}
				r := change.r
				r.Who, r.ID = x.w, x.ids[1]
				now, err := x.Update(t.Context(), r)
				if err != nil || now.Aside.Summary != "" {
					t.Fatal(now.Aside, err)
				}
				x.pass(time.Hour)
				if batch != "" {
					if _, err := x.Restore(t.Context(), RestoreRequest{Who: x.w, Batch: batch}); err != nil {
						t.Fatal(err)
					}
				}
				if un != "" {
					x.undo(t, un)
				}
				if got := holds(t, x.Memory, x.w, time.Time{}); len(got) != len(x.ids) {
					t.Errorf("%q", got)
				}
				page, err := x.List(t.Context(), ListRequest{Who: x.w, Filter: change.filter})
				if err != nil || len(page.Items) != 1 || page.Items[0].ID != x.ids[1] {
					t.Errorf("found by what changed: %+v, %v", page.Items, err)
				}
			})
		}
	}
}

// Changes that no filter tells apart leave a summary where it is; its own category and metadata are not changed alone.
func TestChangesThatLeaveASummary(t *testing.T) {
	t.Parallel()
	x := sumUp(t)
	important, late := 0.9, x.sum.ValidFrom.Add(time.Minute)
	if now, err := x.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.ids[1], Importance: &important, Category: ptr(store.Category("")), ValidFrom: &late}); err != nil || now.Aside.Summary != x.sum.ID {
		t.Errorf("%+v, %v", now.Aside, err)
	}
	for _, r := range []UpdateRequest{{Category: ptr(store.Goal)}, {Metadata: store.Metadata{"a": store.String("b")}}} {
		r.Who, r.ID = x.w, x.sum.ID
		if _, err := x.Update(t.Context(), r); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if got := holds(t, x.Memory, x.w, time.Time{}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// An edited summary that was softly forgotten comes back exactly as it was, and so do the marks of its sources.
func TestAnEditedSummaryComesBackAsItWas(t *testing.T) {
	t.Parallel()
	x := sumUp(t)
	text := x.sum.Content + " It was a good week."
	if _, err := x.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.sum.ID, Content: &text}); err != nil {
		t.Fatal(err)
	}
	x.pass(time.Hour)
	before := exported(t, x.Memory, x.w)
	batch := x.forget(t, true, x.ids[1])
	if _, err := x.Restore(t.Context(), RestoreRequest{Who: x.w, Batch: batch}); err != nil {
		t.Fatal(err)
	}
	if after := exported(t, x.Memory, x.w); after != before {
		t.Errorf("restored otherwise than it was:\n%s\n%s", before, after)
	}
}
