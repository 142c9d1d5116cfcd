package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
	"evoke/store/lifecycle"
)

type contextT = context.Context

// ctxOf is a context for tests of either kind.
func ctxOf(t any) context.Context {
	if t, ok := t.(interface{ Context() context.Context }); ok {
		return t.Context()
	}
	return context.Background()
}

// swept runs an operation and returns what it took.
func swept(t interface{ Fatal(args ...any) }, m *Memory, start func(context.Context) (store.Operation, error)) Swept {
	op, err := start(ctxOf(t))
	if err == nil {
		op, err = m.WaitOperation(ctxOf(t), op.ID)
	}
	if err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var s Swept
	if err := json.Unmarshal(op.Result, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// oddItems are n items of every kind, category, age, importance and state.
func oddItems(r *rand.Rand, n int, now time.Time) []store.Item {
	items := make([]store.Item, n)
	for i := range items {
		it := store.Item{
			ID: fmt.Sprintf("x%06d", i), Kind: store.Kinds()[r.IntN(3)], Content: fmt.Sprintf("item %d of many", i), Importance: float64(r.IntN(6)) / 5,
			Confidence: float64(r.IntN(3)) / 2, RecordedAt: now.AddDate(0, 0, -r.IntN(400)), Uses: r.IntN(3),
		}
		if it.Kind == store.Semantic {
			it.Category = append(store.Categories(), "")[r.IntN(7)]
		}
		switch r.IntN(10) {
		case 0:
			it.ValidTo = it.RecordedAt.AddDate(0, 0, r.IntN(50))
			it.ClosedAt = it.ValidTo
		case 1:
			it.RetractedAt = it.RecordedAt.AddDate(0, 0, r.IntN(50))
		case 2:
			it.ExpiresAt = now.AddDate(0, 0, r.IntN(20)-10)
		case 3:
			if i > 0 {
				it.Aside.Summary = fmt.Sprintf("x%06d", r.IntN(i))
			}
		}
		it.ContentKey = store.ContentKey(it.Kind, it.Content)
		items[i] = it
	}
	return items
}

func putAll(t interface{ Fatal(args ...any) }, m *Memory, who Who, items []store.Item) {
	sc, err := m.memory(who)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(items, 1000) {
		w := m.newWrite(sc)
		w.Put = part
		if err := m.commit(ctxOf(t), w); err != nil {
			t.Fatal(err)
		}
	}
}

func anyPolicy() *rapid.Generator[RetentionPolicy] {
	return rapid.Custom(func(t *rapid.T) RetentionPolicy {
		days := rapid.SampledFrom([]int{0, 30, 100, 300})
		return RetentionPolicy{
			MaxItems: rapid.SampledFrom([]int{0, 1, 10, 30}).Draw(t, "items"), TTLDays: days.Draw(t, "ttl"), HistoryDays: days.Draw(t, "history"),
			Kinds:      map[store.Kind]int{store.Episodic: days.Draw(t, "episodic"), store.Semantic: days.Draw(t, "semantic")},
			Categories: map[store.Category]int{store.Goal: days.Draw(t, "goal"), store.Correction: days.Draw(t, "correction")},
			Hard:       rapid.Bool().Draw(t, "hard"),
		}
	})
}

// A run takes exactly what a dry run told, for the reasons it told; a second run finds nothing more but what a higher bound
// of worth left. What it took softly comes back as it was.
func TestRetentionTakesWhatItsDryRunTells(t *testing.T) {
	oneByOne(t)
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now).now})
	user := 0
	rapid.Check(t, func(t *rapid.T) {
		user++
		who := Who{User: fmt.Sprint("u", user)}
		putAll(t, m, who, oddItems(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), rapid.IntRange(1, 60).Draw(t, "n"), now))
		p := anyPolicy().Draw(t, "policy")
		run := func(dry bool) Swept {
			return swept(t, m, func(ctx context.Context) (store.Operation, error) {
				return m.Retain(ctx, RetainRequest{User: who.User, DryRun: dry, Policy: &p})
			})
		}
		before := exported(t, m, who)
		told := run(true)
		if exported(t, m, who) != before {
			t.Fatal("a dry run changed something")
		}
		had := all(t, m, who)
		took := run(false)
		left := all(t, m, who)
		for _, x := range told.Removals {
			if !had[x.ID] || left[x.ID] {
				t.Fatalf("%s was to go (%s): had %t, left %t", x.ID, x.Reason, had[x.ID], left[x.ID])
			}
		}
		if n := len(had) - len(left); took.Items != n || told.Items != n || len(told.Removals) != n || took.Until.IsZero() != p.Hard {
			t.Fatalf("%d went; told %+v, took %+v", n, told, took)
		}
		for reason, n := range told.Reasons {
			if took.Reasons[reason] != n {
				t.Fatalf("told %v, took %v", told.Reasons, took.Reasons)
			}
		}
		if again := run(true); again.Items != 0 {
			t.Fatalf("there is more to take at once: %+v", again)
		}
		if p.Hard {
			return
		}
		if _, err := m.Restore(ctxOf(t), RestoreRequest{Who: who, All: true}); err != nil {
			t.Fatal(err)
		}
		if exported(t, m, who) != before {
			t.Fatal("restored otherwise than it was")
		}
	})
}

// all are the ids of what may be read of a memory in whatever version.
func all(t interface{ Fatal(args ...any) }, m *Memory, who Who) map[string]bool {
	page, err := m.List(ctxOf(t), ListRequest{Who: who, All: true, Limit: 1000})
	if err != nil || page.Next != "" {
		t.Fatal(err, "more than a page")
	}
	ids := map[string]bool{}
	for i := range page.Items {
		ids[page.Items[i].ID] = true
	}
	return ids
}

// The classic rules, case by case, with the reasons.
func TestRetentionReasons(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	base := store.Item{ID: "x", Kind: store.Semantic, Content: "c", Importance: 0.2, Confidence: 1, RecordedAt: days(100)}
	change := func(f func(*store.Item)) store.Item { it := base; f(&it); return it }
	classic := RetentionPolicy{TTLDays: 90}
	kinds := RetentionPolicy{Kinds: map[store.Kind]int{store.Semantic: 90, store.Procedural: 90}, Categories: map[store.Category]int{store.Goal: 200, store.Context: 0}}
	for _, c := range []struct {
		name   string
		policy RetentionPolicy
		item   store.Item
		want   lifecycle.Reason
	}{
		{"nothing is on", RetentionPolicy{}, base, ""},
		{"old and of no importance", classic, base, lifecycle.Unimportant},
		{"on the day itself", classic, change(func(it *store.Item) { it.RecordedAt = days(90) }), ""},
		{"important enough", classic, change(func(it *store.Item) { it.Importance = 0.3 }), ""},
		{"a correction", classic, change(func(it *store.Item) { it.Category = store.Correction }), ""},
		{"a standing instruction", classic, change(func(it *store.Item) { it.Kind = store.Procedural }), ""},
		{"recorded in the future", classic, change(func(it *store.Item) { it.RecordedAt = days(-100) }), ""},
		{"by kind, whatever the importance", kinds, change(func(it *store.Item) { it.Importance = 1 }), lifecycle.TooOld},
		{"its category is kept longer", kinds, change(func(it *store.Item) { it.Category = store.Goal }), ""},
		{"its category is kept for good", kinds, change(func(it *store.Item) { it.Category = store.Context }), ""},
		{"corrected, by kind alone", kinds, change(func(it *store.Item) { it.Provenance.Corrections = 1 }), ""},
		{"instructions, their kind is named", kinds, change(func(it *store.Item) { it.Kind = store.Procedural }), lifecycle.TooOld},
		{"expired", RetentionPolicy{}, change(func(it *store.Item) { it.ExpiresAt = now }), lifecycle.Expired},
		{"retracted long ago", RetentionPolicy{HistoryDays: 30}, change(func(it *store.Item) { it.RetractedAt = days(31) }), lifecycle.OldVersion},
		{"closed of late", RetentionPolicy{HistoryDays: 30}, change(func(it *store.Item) { it.ValidTo, it.ClosedAt = days(50), days(10) }), ""},
		{"ends in the future", RetentionPolicy{HistoryDays: 30}, change(func(it *store.Item) { it.ValidTo, it.ClosedAt = days(-1), days(90) }), ""},
		{"a section of the profile", classic, change(func(it *store.Item) { it.ContentKey = store.ProfileKey("work") }), ""},
	} {
		if got := c.policy.Reason(&c.item, now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, p := range []RetentionPolicy{{MaxItems: -1}, {TTLDays: 40000}, {Kinds: map[store.Kind]int{"x": 1}}, {Categories: map[store.Category]int{"": 1}}} {
		if _, err := Open(t.Context(), &Options{Retention: &p}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// Beyond max_items those of the least worth go, equal ones by age and id, and what is protected last.
func TestRetentionOrder(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now).now, Retention: &RetentionPolicy{MaxItems: 3}})
	who := Who{User: "ann"}
	var items []store.Item
	for i, id := range []string{"d", "b", "c", "a", "correction", "rule", "dear"} {
		it := store.Item{ID: id, Kind: store.Semantic, Content: "text of " + id, Importance: 0.5, Confidence: 1, RecordedAt: now.AddDate(0, 0, -1)}
		switch id {
		case "d":
			it.RecordedAt = now // of the same worth nearly: younger
		case "correction":
			it.Category, it.Importance = store.Correction, 0
		case "rule":
			it.Kind, it.Importance = store.Procedural, 0.1
		case "dear":
			it.Importance = 1
		}
		it.ContentKey = store.ContentKey(it.Kind, it.Content)
		_ = i
		items = append(items, it)
	}
	putAll(t, m, who, items)
	want := []string{"a", "b", "c", "d", "dear", "correction", "rule"} // who goes first
	for n := 7; n >= 0; n-- {
		p := RetentionPolicy{MaxItems: n}
		got := swept(t, m, func(ctx context.Context) (store.Operation, error) {
			return m.Retain(ctx, RetainRequest{DryRun: true, Policy: &p})
		})
		var ids []string
		for _, x := range got.Removals {
			ids = append(ids, x.ID)
		}
		exp := slices.Sorted(slices.Values(want[:7-n]))
		if n == 0 {
			exp = nil // no bound
		}
		if !slices.Equal(ids, exp) {
			t.Errorf("with room for %d: %v, want %v", n, ids, exp)
		}
	}
	if got := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.Retain(ctx, RetainRequest{}) }); got.Items != 4 || got.Reasons[lifecycle.OverCount] != 4 {
		t.Errorf("the tenant's own policy: %+v", got)
	}
}

// Summaries go with all that they stand for, however many go at once, and come back with it.
func TestRetentionTakesWholeSummaries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var items []store.Item
	for s := range 3 { // the sources of all are in one order by id
		sum := store.Item{ID: fmt.Sprint("sum", s), Kind: store.Semantic, Provenance: store.Provenance{Origin: store.SummaryOrigin}}
		for i := range 90 {
			it := store.Item{ID: fmt.Sprintf("i%02d-%d", i, s), Kind: store.Semantic, Content: fmt.Sprintf("word%c%c.", 'a'+s, 'a'+i%26), Importance: 1}
			it.Aside.Summary = sum.ID
			sum.Content, sum.Provenance.Turns = sum.Content+it.Content+" ", append(sum.Provenance.Turns, it.ID)
			items = append(items, it)
		}
		items = append(items, sum)
	}
	for i := range items {
		items[i].Confidence, items[i].RecordedAt = 1, now.AddDate(0, 0, -100)
	}
	for _, hard := range []bool{false, true} {
		m, who := open(t, &Options{Clock: clockAt(now).now}), Who{User: "ann"}
		putAll(t, m, who, items)
		before := exported(t, m, who)
		p := RetentionPolicy{TTLDays: 30, Hard: hard}
		took := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.Retain(ctx, RetainRequest{Policy: &p}) })
		if left := all(t, m, who); len(left) > 0 || took.Items != 273 || took.Reasons[lifecycle.WithSummary] != 270 {
			t.Errorf("hard %t: %+v, left %v", hard, took, left)
		}
		if hard {
			continue
		}
		if _, err := m.Restore(t.Context(), RestoreRequest{Who: who, All: true}); err != nil || exported(t, m, who) != before {
			t.Errorf("restored otherwise than it was, %v", err)
		}
	}
}

// A hundred thousand items are planned over in bounded time and memory.
func TestRetentionOfMany(t *testing.T) {
	oneByOne(t)
	n := 2_000
	if os.Getenv("EVOKE_SOAK") == "" {
		t.Logf("%d items; EVOKE_SOAK for 100,000", n)
	} else {
		n = 100_000
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now).now})
	who := Who{User: "ann"}
	putAll(t, m, who, oddItems(rand.New(rand.NewPCG(7, 7)), n, now))
	sc, _ := m.memory(who)
	p := RetentionPolicy{MaxItems: n / 2, TTLDays: 300, HistoryDays: 100}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	plan, err := p.Plan(t.Context(), m.store, sc, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	planned := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if most := int64(n) * 400; kept > most {
		t.Errorf("a plan of %d removals holds %d bytes, want at most %d", len(plan.Removals), kept, most)
	}
	began = time.Now()
	got := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.Retain(ctx, RetainRequest{Policy: &p}) })
	t.Logf("soak: retention | %d items planned in %v, %d bytes held, %d items taken in %v", n, planned.Round(time.Millisecond), kept, got.Items, time.Since(began).Round(time.Millisecond))
	if got.Items != len(plan.Removals) {
		t.Errorf("%d of %d went", got.Items, len(plan.Removals))
	}
	if limit := time.Duration(n) * time.Millisecond; planned > limit {
		t.Errorf("planned in %v, want at most %v", planned, limit)
	}
}
