package evoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/extract"
	"evoke/recall"
	"evoke/store"
)

// exported is all that a memory holds, line by line.
func exported(t interface{ Fatal(args ...any) }, m *Memory, w Who) string {
	var b bytes.Buffer
	sc, err := m.memory(w)
	if err != nil {
		t.Fatal(err)
	}
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 1000}
	page, err := m.store.List(ctxOf(t), sc, q)
	if err != nil || page.Next != "" {
		t.Fatal(err, "more than a page")
	}
	enc := json.NewEncoder(&b)
	for i := range page.Items {
		if err := enc.Encode(page.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// secretive puts turns, facts and sections of a profile into a memory; each text has a word of its own, secretN.
func secretive(t *testing.T, m *Memory, who Who, now time.Time) (ids []string) {
	t.Helper()
	sc, err := m.memory(who)
	if err != nil {
		t.Fatal(err)
	}
	w := m.newWrite(sc)
	for i := range 8 {
		it := store.Item{ID: fmt.Sprintf("i%d", i), Kind: store.Semantic, Content: fmt.Sprintf("Ann told of secret%d at tea", i), Importance: 0.5, Confidence: 1,
			ValidFrom: now, RecordedAt: now.Add(-time.Hour)}
		if i < 5 {
			it.Kind, it.Turn = store.Episodic, store.Turn{Thread: "t", Session: "t", Position: i, Role: "user", Speaker: "Ann"}
		}
		if i >= 5 && i < 7 { // distilled: i5 from i4, i6 from i0 and i1
			it.Provenance = store.Provenance{Origin: "rules", Extractor: "rules/1", Turns: [][]string{{"i4"}, {"i0", "i1"}}[i-5]}
		}
		it.ContentKey = store.ContentKey(it.Kind, it.Content)
		w.Put = append(w.Put, it)
		ids = append(ids, it.ID)
	}
	if err := m.commit(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	old := written(t, m, sc, "p0", "work", "Once of secret0.", now.Add(-time.Minute), nil, "i0")
	written(t, m, sc, "p1", "work", "Works on secret0 and secret1.", now, &old, "i0", "i1")
	written(t, m, sc, "p2", "personal", "Likes secret2.", now, nil, "i2")
	written(t, m, sc, "p3", "earlier", "Knew secret3 and secret4.", now, nil, "i3", "i4")
	return append(ids, "p0", "p1", "p2", "p3")
}

// shown is all that the ways to read show of a memory, now and of the past.
func shown(t *testing.T, m *Memory, who Who, ids []string, now time.Time) string {
	t.Helper()
	ctx := t.Context()
	var all []any
	see := func(v any, err error) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	past := now.Add(time.Second)
	for _, r := range []ListRequest{{}, {All: true}, {AsOf: past}, {Filter: store.Filter{ContentKeys: store.ProfileKeys()}, All: true}} {
		r.Who = who
		see(m.List(ctx, r))
	}
	for _, at := range []time.Time{{}, past} {
		q := recall.Request{Query: "what did Ann tell of at tea: secret0 secret1 secret2 secret3 secret4?", Limit: 100, AsOf: at, Explain: true, WhyNot: ids}
		see(m.Recall(ctx, RecallRequest{Who: who, Request: q}))
		see(m.Context(ctx, ContextRequest{Who: who, Request: q}))
		see(m.Profile(ctx, ProfileRequest{Who: who, AsOf: at}))
	}
	see(m.Diff(ctx, DiffRequest{Who: who, From: now.Add(-2 * time.Hour)}))
	for _, id := range ids {
		see(m.Get(ctx, who, id))
		see(m.History(ctx, who, id))
		see(m.Changes(ctx, who, id))
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is softly forgotten is out of every way to read, also of the past, and with it what the profile tells of it; those
// who ask for it by name are told. Restored, all is as it was.
func TestSoftlyForgottenIsOutOfSight(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(time.Hour))
	m := open(t, &Options{Clock: clock.now, Embedder: &bagEmbedder{}})
	who := Who{User: "ann"}
	ids := secretive(t, m, who, now)
	settle(t, m)
	before, seen := exported(t, m, who), shown(t, m, who, ids, now)
	for _, s := range []string{"secret0", "secret1", "secret2", "secret3", "secret7"} {
		if !strings.Contains(seen, s) {
			t.Fatalf("%s is not shown to begin with", s)
		}
	}
	res, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"i0", "i2", "i3", "i7"}, Soft: true})
	if err != nil || res.Forgotten != 4 || res.Sections != 4 || res.ID == "" || !res.Until.Equal(clock.now().AddDate(0, 0, 30)) {
		t.Fatalf("%+v, %v", res, err)
	}
	settle(t, m)
	gone := shown(t, m, who, ids, now)
	for _, s := range []string{"Once of secret0", "Likes secret2", "of secret0 at tea", "of secret2 at tea", "of secret3 at tea", "secret7"} {
		if strings.Contains(gone, s) {
			t.Errorf("%q is shown", s)
		}
	}
	profile, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if err != nil || !sectionOf(t, profile, "work").Stale || sectionOf(t, profile, "personal").ID != "" || !sectionOf(t, profile, "earlier").Stale {
		t.Errorf("profile: %+v, %v", profile, err)
	}
	if _, err := m.Get(t.Context(), who, "i0"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(fmt.Sprint(err), "forgotten on 2026-03-01 and can be restored until 2026-03-31") {
		t.Errorf("get: %v", err)
	}
	r, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "secret7", WhyNot: []string{"i7"}}})
	if err != nil || len(r.WhyNot) != 1 || r.WhyNot[0].Outcome != recall.NotInView || r.WhyNot[0].Detail != "it was forgotten on 2026-03-01" || r.WhyNot[0].Score != 0 {
		t.Errorf("why not: %+v, %v", r.WhyNot, err)
	}
	for what, err := range map[string]error{
		"update":   errOf(m.Update(t.Context(), UpdateRequest{Who: who, ID: "i7", Importance: ptr(1.0)})),
		"remember": errOf(m.Remember(t.Context(), RememberRequest{Who: who, ID: "i7", Content: "Ann told of secret7 at tea"})),
	} {
		if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s of what is forgotten: %v", what, err)
		}
	}
	if f, err := m.Feedback(t.Context(), FeedbackRequest{Who: who, IDs: []string{"i7", "i1"}}); err != nil || f.Updated != 1 || !slices.Equal(f.Unknown, []string{"i7"}) {
		t.Errorf("feedback: %+v, %v", f, err)
	}
	list, err := m.Forgotten(t.Context(), ListRequest{Who: who})
	if err != nil || len(list.Items) != 6 || list.Items[0].ID != "i0" || list.Items[0].Aside.ForgottenBy != res.ID {
		t.Errorf("listed as forgotten: %+v, %v", list.Items, err)
	}
	again, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"i0"}, Soft: true})
	if err != nil || again.Forgotten != 0 || len(again.Unknown) != 0 {
		t.Errorf("forgotten twice: %+v, %v", again, err)
	}
	clock.set(clock.now().AddDate(0, 0, 29))
	back, err := m.Restore(t.Context(), RestoreRequest{Who: who, Batch: res.ID})
	if err != nil || back.Restored != 4 || back.Sections != 4 {
		t.Fatalf("%+v, %v", back, err)
	}
	settle(t, m)
	after := strings.Replace(exported(t, m, who), `"uses":1,"last_used":"2026-03-01T10:00:00Z"`, `"uses":0`, 1) // the feedback
	if before != after {
		t.Errorf("restored otherwise than it was:\n%s\n%s", before, after)
	}
}

func errOf[T any](_ T, err error) error { return err }

// Any softly forgotten parts, restored in any order, leave a memory as it was.
func TestRestoreUndoesExactly(t *testing.T) {
	oneByOne(t)
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(time.Hour))
	m := open(t, &Options{Clock: clock.now})
	who := Who{User: "ann"}
	ids := secretive(t, m, who, now)
	before := exported(t, m, who)
	rapid.Check(t, func(t *rapid.T) {
		var batches []string
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			clock.set(clock.now().Add(time.Second))
			r := ForgetRequest{Who: who, IDs: rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 6, rapid.ID).Draw(t, "ids"), Soft: true}
			res, err := m.Forget(ctxOf(t), r)
			if err != nil {
				t.Fatal(err)
			}
			if res.ID != "" {
				batches = append(batches, res.ID)
			}
			if rapid.Bool().Draw(t, "some back") {
				if _, err := m.Restore(ctxOf(t), RestoreRequest{Who: who, IDs: r.IDs[:1]}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, id := range rapid.Permutation(batches).Draw(t, "order") {
			if _, err := m.Restore(ctxOf(t), RestoreRequest{Who: who, Batch: id}); err != nil {
				t.Fatal(err)
			}
		}
		if after := exported(t, m, who); after != before {
			t.Fatalf("restored otherwise than it was:\n%s\n%s", before, after)
		}
	})
}

// A section that was written anew while the one before was out of sight stands.
func TestRestoredSectionYieldsToItsSuccessor(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now.Add(time.Hour)).now})
	who := Who{User: "ann"}
	secretive(t, m, who, now)
	if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"i2"}, Soft: true}); err != nil {
		t.Fatal(err)
	}
	sc, _ := m.memory(who)
	written(t, m, sc, "p9", "personal", "Likes other things.", now.Add(time.Minute), nil, "i5")
	if _, err := m.Restore(t.Context(), RestoreRequest{Who: who, All: true}); err != nil {
		t.Fatal(err)
	}
	res, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if s := sectionOf(t, res, "personal"); err != nil || s.ID != "p9" {
		t.Errorf("%+v, %v", s, err)
	}
	h, err := m.History(t.Context(), who, "p2")
	if err != nil || len(h) != 2 || h[0].ID != "p2" || h[1].ID != "p9" {
		t.Errorf("history: %+v, %v", h, err)
	}
}

// What is past its time goes for good with the purge, which a hold stops; until then it comes back, and not after.
func TestPurge(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(time.Hour))
	m := open(t, &Options{Clock: clock.now})
	who := Who{User: "ann"}
	secretive(t, m, who, now)
	soon := clock.now().AddDate(0, 0, 2)
	for _, r := range []ForgetRequest{{IDs: []string{"i0"}, Until: soon}, {IDs: []string{"i2"}, Soft: true}, {IDs: []string{"i7"}, Until: soon}} {
		r.Who = who
		if _, err := m.Forget(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	brief, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "The tent is in the hall.", ExpiresAt: soon})
	if err != nil || !brief.Item.ExpiresAt.Equal(soon) {
		t.Fatal(brief, err)
	}
	if n := len(mustList(t, m, who)); n != 6 {
		t.Fatalf("%d items are seen", n)
	}
	hold, err := m.AddHold(t.Context(), LegalHold{ID: "case-7", Thread: "t", Reason: "claim of March"})
	if err != nil {
		t.Fatal(err)
	}
	clock.set(soon)
	if n := len(mustList(t, m, who)); n != 5 {
		t.Fatalf("%d items are seen once one has expired", n)
	}
	if got := swept(t, m, m.Purge); got.Items != 1 || got.Held != 1 {
		t.Errorf("%+v: i7 goes, i0 is held", got)
	}
	if res, err := m.Restore(t.Context(), RestoreRequest{Who: who, IDs: []string{"i0", "i7"}}); err != nil || res.Restored != 0 || len(res.Unknown) != 2 {
		t.Errorf("restored past their time: %+v, %v", res, err)
	}
	if err := m.ReleaseHold(t.Context(), hold.ID); err != nil {
		t.Fatal(err)
	}
	if got := swept(t, m, m.Purge); got.Items != 1 || got.Held != 0 {
		t.Errorf("%+v: i0 goes", got)
	}
	if s := exported(t, m, who); strings.Contains(s, "secret7") || strings.Contains(s, "of secret0 at tea") || strings.Contains(s, "Once of secret0") || !strings.Contains(s, "secret2") || !strings.Contains(s, "The tent") {
		t.Errorf("after the purge:\n%s", s)
	}
	if res, err := m.Restore(t.Context(), RestoreRequest{Who: who, IDs: []string{"i2"}}); err != nil || res.Restored != 1 || res.Sections != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	clock.set(soon.AddDate(0, 0, 30))
	if got := swept(t, m, m.Purge); got.Items != 1 {
		t.Errorf("%+v: what expired a month ago goes", got)
	}
	if strings.Contains(exported(t, m, who), "The tent") {
		t.Error("what expired is kept")
	}
}

func mustList(t *testing.T, m *Memory, who Who) []store.Item {
	t.Helper()
	page, err := m.List(t.Context(), ListRequest{Who: who})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// A legal hold stops forgetting for good, erasure and retention, and says which it is; soft forgetting goes on.
func TestLegalHolds(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		hold   LegalHold
		held   []string // of i0, in a thread, and i7, outside of any
		erases bool     // of the user's memories
	}{
		{"user", LegalHold{User: "ann"}, []string{"i0", "i7"}, false},
		{"thread", LegalHold{Thread: "t"}, []string{"i0"}, false},
		{"thread of the user", LegalHold{Thread: "t", User: "ann"}, []string{"i0"}, false},
		{"tenant", LegalHold{Tenant: true}, []string{"i0", "i7"}, false},
		{"another user", LegalHold{User: "bob"}, nil, true},
		{"an agent", LegalHold{Agent: "chef"}, nil, true},
	} {
		m := open(t, &Options{Clock: clockAt(now.AddDate(1, 0, 0)).now})
		who := Who{User: "ann"}
		secretive(t, m, who, now)
		c.hold.Reason = "claim of March"
		h, err := m.AddHold(t.Context(), c.hold)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"i0", "i7"} {
			if res, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{id}, Soft: true}); err != nil || res.Forgotten != 1 {
				t.Errorf("%s: softly forgotten: %+v, %v", c.name, res, err)
			}
			_, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{id}})
			if slices.Contains(c.held, id) {
				if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), h.ID) || !strings.Contains(err.Error(), "claim of March") {
					t.Errorf("%s: forget %s: %v", c.name, id, err)
				}
			} else if err != nil {
				t.Errorf("%s: forget %s: %v", c.name, id, err)
			}
		}
		op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
		if c.erases != (err == nil) || !c.erases && !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: erase: %v", c.name, err)
		}
		if err == nil {
			if _, err := m.WaitOperation(t.Context(), op.ID); err != nil {
				t.Fatal(err)
			}
		}
		got := swept(t, m, func(c2 contextT) (store.Operation, error) {
			return m.Retain(c2, RetainRequest{Policy: &RetentionPolicy{Kinds: map[store.Kind]int{store.Episodic: 10, store.Semantic: 10}, Hard: true}})
		})
		if want := map[string]int{"user": 6, "tenant": 6, "another user": 0, "an agent": 0, "thread": 6, "thread of the user": 6}[c.name]; got.Held != want {
			t.Errorf("%s: retention: %+v", c.name, got)
		}
		if err := m.ReleaseHold(t.Context(), h.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, All: true}); err != nil {
			t.Errorf("%s: once it is released: %v", c.name, err)
		}
	}
	m := open(t, nil)
	for name, h := range map[string]LegalHold{"no reason": {User: "a"}, "nothing": {Reason: "x"}, "everything and one": {Tenant: true, User: "a", Reason: "x"}} {
		if _, err := m.AddHold(t.Context(), h); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.ReleaseHold(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("release of none: %v", err)
	}
}

// What was distilled from softly forgotten turns alone goes out of sight with the last of them, and comes back with it.
func TestSoftlyForgottenTurnsTakeTheirFacts(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now.Add(time.Hour)).now})
	who := Who{User: "ann"}
	secretive(t, m, who, now)
	before := exported(t, m, who)
	for _, c := range []struct {
		forget  string
		derived int
		gone    []string
	}{{"i4", 1, []string{"i5"}}, {"i0", 0, nil}, {"i1", 1, []string{"i6"}}} {
		res, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{c.forget}, Soft: true})
		if err != nil || res.Forgotten != 1 || res.Derived != c.derived {
			t.Fatalf("%s: %+v, %v", c.forget, res, err)
		}
		for _, id := range c.gone {
			if _, err := m.Get(t.Context(), who, id); !errors.Is(err, store.ErrForgotten) {
				t.Errorf("%s without %s: %v", id, c.forget, err)
			}
		}
	}
	sc, _ := m.memory(who)
	same := extract.Operation{Kind: store.Semantic, Content: "Ann told of secret5 at tea", Turn: "i4"}
	other := same
	other.Turn = "i3"
	if gone, err := m.erasedFacts(t.Context(), sc, []extract.Operation{same, other}); err != nil || !slices.Equal(gone, []bool{true, false}) {
		t.Errorf("distilled again from the same turn and from another: %v, %v", gone, err)
	}
	for _, id := range []string{"i4", "i1", "i0"} {
		if res, err := m.Restore(t.Context(), RestoreRequest{Who: who, IDs: []string{id}}); err != nil || res.Restored < 1 {
			t.Fatal(res, err)
		}
	}
	if res, err := m.Forget(t.Context(), ForgetRequest{Who: who, Filter: &store.Filter{Threads: []string{"t"}}, Soft: true}); err != nil || res.Forgotten != 5 || res.Derived != 2 {
		t.Errorf("a thread: %+v, %v", res, err)
	}
	if res, err := m.Restore(t.Context(), RestoreRequest{Who: who, Filter: &store.Filter{Threads: []string{"t"}}}); err != nil || res.Restored != 7 {
		t.Errorf("and back: %+v, %v", res, err)
	}
	if exported(t, m, who) != before {
		t.Error("restored otherwise than it was")
	}
}
