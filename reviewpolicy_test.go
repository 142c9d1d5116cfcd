package evoke

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// parrot makes a fact of every user's turn of the form "subject|category|confidence|statement"; "gone subject|…" ends it.
type parrot struct{ section bool }

func (parrot) Name() string { return "parrot/1" }

func (x parrot) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	r, err := x.Report(ctx, b)
	return r.Operations, err
}

func (x parrot) Report(_ context.Context, b extract.Batch) (extract.Report, error) {
	var r extract.Report
	for _, t := range b.Turns {
		f := strings.Split(t.Content, "|")
		if len(f) != 4 {
			continue
		}
		op := extract.Operation{
			Action: extract.Add, Kind: store.Semantic, Category: store.Category(f[1]), Content: f[3], Turn: t.ID, Quote: t.Content, Speaker: t.Turn.Speaker,
			Subject: f[0], Exclusive: true, Confidence: map[string]float64{"low": 0.75, "high": 0.95}[f[2]], Importance: 0.5,
		}
		if s, ok := strings.CutPrefix(f[0], "gone "); ok {
			op.Action, op.Subject, op.Content = extract.Retract, s, ""
		}
		r.Operations = append(r.Operations, op)
		if x.section {
			r.Sections = []extract.Section{{Name: "personal", Content: "About " + f[3], Turns: []string{t.ID}}}
		}
	}
	return r, nil
}

// reviewing is a memory whose clock moves an hour with every conversation told.
type reviewing struct {
	*Memory
	t     *testing.T
	clock *testClock
}

func reviewed(t *testing.T, x extract.Extractor, p *ReviewPolicy) reviewing {
	t.Helper()
	clock := clockAt(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
	return reviewing{open(t, &Options{Extractor: x, Review: p, Clock: clock.now}), t, clock}
}

// tell says something in a conversation of ann's, waits until it is extracted and returns the turn's id.
func (m reviewing) tell(thread, text string) string {
	m.t.Helper()
	m.clock.set(m.clock.now().Add(time.Hour))
	who := Who{User: "ann", Thread: thread}
	in, err := m.Ingest(m.t.Context(), IngestRequest{Who: who, Messages: chat(text, "I see.")})
	if err != nil {
		m.t.Fatal(err)
	}
	m.clock.set(m.clock.now().Add(time.Minute))
	if _, err := m.Flush(m.t.Context(), who); err != nil {
		m.t.Fatal(err)
	}
	if ev, err := m.Event(m.t.Context(), in.EventID, 20*time.Second); err != nil || ev.State == store.EventPending || ev.State == store.EventDead {
		m.t.Fatalf("%+v, %v", ev, err)
	}
	return in.Turns[0].ID
}

func (m reviewing) facts() []string {
	m.t.Helper()
	page, err := m.List(m.t.Context(), ListRequest{Who: Who{User: "ann"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}, Limit: 1000})
	if err != nil {
		m.t.Fatal(err)
	}
	out := []string{}
	for _, it := range page.Items {
		out = append(out, it.Content)
	}
	slices.Sort(out)
	return out
}

func (m reviewing) waits() []QuarantineEntry {
	m.t.Helper()
	page, err := m.Quarantined(m.t.Context(), QuarantineRequest{Who: Who{User: "ann"}})
	if err != nil {
		m.t.Fatal(err)
	}
	return page.Entries
}

// What a mode sends to a person waits, the rest is stored; off sends nothing.
func TestReviewModes(t *testing.T) {
	t.Parallel()
	said := []string{
		"home|context|high|Lives in Rome", "pet|preference|low|Likes cats", "工作|context|low|用户是面包师", "goal|goal|high|用户想学画画",
	}
	for name, c := range map[string]struct {
		policy *ReviewPolicy
		stored []string
		why    string
	}{
		"none":     {nil, []string{"Lives in Rome", "Likes cats", "用户是面包师", "用户想学画画"}, ""},
		"off":      {&ReviewPolicy{Mode: extract.ReviewOff}, []string{"Lives in Rome", "Likes cats", "用户是面包师", "用户想学画画"}, ""},
		"low":      {&ReviewPolicy{Mode: extract.ReviewConfidence}, []string{"Lives in Rome", "用户想学画画"}, extract.WaitsForConfidence},
		"lower":    {&ReviewPolicy{Mode: extract.ReviewConfidence, Below: 0.72}, []string{"Lives in Rome", "Likes cats", "用户是面包师", "用户想学画画"}, ""},
		"category": {&ReviewPolicy{Mode: extract.ReviewCategory, Categories: []store.Category{store.Context, store.Goal}}, []string{"Likes cats"}, extract.WaitsForCategory},
		"all":      {&ReviewPolicy{Mode: extract.ReviewAll}, []string{}, extract.WaitsForAll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := reviewed(t, parrot{}, c.policy)
			for _, s := range said {
				m.tell("t", s)
			}
			slices.Sort(c.stored)
			if d := cmp.Diff(c.stored, m.facts()); d != "" {
				t.Errorf("stored: %s", d)
			}
			waits := m.waits()
			if len(waits) != len(said)-len(c.stored) {
				t.Errorf("%d wait", len(waits))
			}
			for _, e := range waits {
				if e.Reason != c.why || e.Times != 1 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	for _, bad := range []ReviewPolicy{{Mode: "some"}, {Mode: extract.ReviewCategory}, {Mode: extract.ReviewCategory, Categories: []store.Category{"x"}}, {Below: 2}} {
		if _, err := Open(t.Context(), &Options{Review: &bad}); classOf(err) != classInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A proposal is seen nowhere and changes nothing; approved, it does what it says; edited, it says what the person wrote.
func TestProposalsAreInertUntilApproved(t *testing.T) {
	t.Parallel()
	m := reviewed(t, parrot{section: true}, &ReviewPolicy{Mode: extract.ReviewAll})
	ctx, ann := t.Context(), Who{User: "ann"}
	if _, err := m.Remember(ctx, RememberRequest{Who: ann, Content: "Lives in Rome", Subject: "home", Speaker: "user"}); err != nil {
		t.Fatal(err)
	}
	m.tell("t", "home|context|high|Lives in Oslo")
	m.tell("t", "home|context|high|Lives in Rome") // what is known already does not wait
	if d := cmp.Diff([]string{"Lives in Rome"}, m.facts()); d != "" {
		t.Fatal(d)
	}
	waits := m.waits()
	if len(waits) != 1 || waits[0].Operation.Content != "Lives in Oslo" || waits[0].Operation.Replaces == "" {
		t.Fatalf("%+v", waits)
	}
	hits, err := m.Recall(ctx, RecallRequest{Who: ann, Request: recall.Request{Query: "where does the user live", Kinds: []store.Kind{store.Semantic}, MinScore: ptr(0.0)}})
	if err != nil || contents(hits.Hits) != "Lives in Rome" {
		t.Errorf("%q, %v", contents(hits.Hits), err)
	}
	if st, err := m.Stats(ctx, ann); err != nil || st.Semantic != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	block, err := m.Context(ctx, ContextRequest{Who: ann, Request: recall.Request{Kinds: []store.Kind{store.Semantic}}})
	if err != nil || strings.Contains(block.Text, "Oslo") {
		t.Errorf("%q, %v", block.Text, err)
	}
	if p, err := m.Profile(ctx, ProfileRequest{Who: ann}); err != nil || p.Source != ProfileOfFacts {
		t.Errorf("%+v, %v", p, err)
	}
	m.tell("u", "pet|preference|high|Likes cats")
	m.tell("u", "job|context|high|Bakes bread")
	waits = m.waits()
	pet := waits[1].ID
	e, err := m.EditProposal(ctx, EditProposalRequest{ID: pet, Content: ptr("Likes two cats"), Category: ptr(store.Context)})
	if err != nil || !e.Edited || e.Operation.Content != "Likes two cats" || e.Operation.Category != store.Context {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, bad := range []EditProposalRequest{{ID: pet}, {ID: pet, Content: ptr(" ")}, {ID: pet, Importance: ptr(2.0)}, {ID: pet, Category: ptr(store.Category("x"))}, {Content: ptr("x")}} {
		if _, err := m.EditProposal(ctx, bad); classOf(err) != classInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := m.EditProposal(ctx, EditProposalRequest{ID: "none", Content: ptr("x")}); classOf(err) != "not_found" {
		t.Error(err)
	}
	if no, err := m.Reject(ctx, []string{waits[0].ID}); err != nil || no.Rejected != 1 {
		t.Errorf("%+v, %v", no, err)
	}
	ok, err := m.Approve(ctx, []string{pet, waits[2].ID})
	if err != nil || ok.Approved != 1 || len(ok.Refused) != 1 || !strings.Contains(ok.Refused[0].Why, "given another value since") {
		t.Fatalf("Rome was said again after Oslo: %+v, %v", ok, err)
	}
	p := ok.Items[0].Provenance
	if !p.Edited || p.Origin != "review" || p.Extractor != "review/parrot/1" {
		t.Errorf("%+v", p)
	}
	if d := cmp.Diff([]string{"Likes two cats", "Lives in Rome"}, m.facts()); d != "" {
		t.Error(d)
	}
	m.tell("t", "home|context|high|Lives in Lima")
	if ok, err := m.Approve(ctx, []string{m.waits()[0].ID}); err != nil || ok.Approved != 1 {
		t.Fatalf("%+v, %v", ok, err)
	}
	if d := cmp.Diff([]string{"Likes two cats", "Lives in Lima"}, m.facts()); d != "" {
		t.Error(d)
	}
}

// What changed since it was proposed is refused with the reason, and stays until it is rejected.
func TestStaleProposals(t *testing.T) {
	t.Parallel()
	m := reviewed(t, parrot{}, &ReviewPolicy{Mode: extract.ReviewAll})
	ctx, ann := t.Context(), Who{User: "ann"}
	refused := func(id, why string) {
		t.Helper()
		ok, err := m.Approve(ctx, []string{id})
		if err != nil || ok.Approved != 0 || len(ok.Refused) != 1 || !strings.Contains(ok.Refused[0].Why, why) {
			t.Errorf("want %q: %+v, %v", why, ok, err)
		}
	}
	remember := func(text, subject string) {
		t.Helper()
		if _, err := m.Remember(ctx, RememberRequest{Who: ann, Content: text, Subject: subject, Speaker: "user"}); err != nil {
			t.Fatal(err)
		}
	}
	remember("Lives in Rome", "home")
	m.tell("a", "home|context|high|Lives in Oslo")
	m.clock.set(m.clock.now().Add(time.Hour))
	remember("Lives in Lima", "home") // said later than what waits
	refused(m.waits()[0].ID, "given another value since")

	m.tell("b", "pet|context|high|Has a cat")
	ok, err := m.Approve(ctx, []string{m.waits()[0].ID})
	if err != nil || ok.Approved != 1 {
		t.Fatalf("%+v, %v", ok, err)
	}
	cat := ok.Items[0].ID
	m.tell("b", "gone pet|context|high|")
	end := m.waits()[0].ID
	if _, err := m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{cat}}); err != nil {
		t.Fatal(err)
	}
	refused(end, "unknown target")

	m.tell("c", "job|context|high|Bakes bread")
	job := m.waits()[0].ID
	undo(t, m.Memory, ann, lifecycle.Batch{Thread: "c"})
	refused(job, "taken back since")

	turn := m.tell("d", "car|context|high|Has a car")
	car := m.waits()[0].ID
	if _, err := m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{turn}}); err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Approve(ctx, []string{car}); err != nil || !slices.Equal(ok.Unknown, []string{car}) {
		t.Errorf("%+v, %v", ok, err)
	}
	if d := cmp.Diff([]string{"Lives in Lima"}, m.facts()); d != "" {
		t.Error(d)
	}
	if n := len(m.waits()); n != 3 {
		t.Errorf("%d wait", n)
	}
}

// The same proposal from several conversations is one, as long as one of its turns is there; a filter decides on many.
func TestProposalsAreFoldedAndDecidedInBulk(t *testing.T) {
	t.Parallel()
	m := reviewed(t, parrot{}, &ReviewPolicy{Mode: extract.ReviewAll})
	ctx, ann := t.Context(), Who{User: "ann"}
	first := m.tell("a", "pet|preference|high|Likes cats")
	m.tell("b", "pet|preference|high|Likes cats")
	if waits := m.waits(); len(waits) != 1 || waits[0].Times != 2 || waits[0].Turn != first {
		t.Fatalf("%+v", waits)
	}
	if _, err := m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{first}}); err != nil {
		t.Fatal(err)
	}
	if waits := m.waits(); len(waits) != 1 || waits[0].Times != 1 {
		t.Fatalf("%+v", waits)
	}
	m.tell("c", "job|context|low|Bakes bread")
	m.tell("c", "goal|goal|high|Wants to paint")
	m.tell("c", "home|context|high|Lives in Rome")
	m.tell("c", "home|context|high|Lives in Oslo")
	if _, err := m.ApproveAll(ctx, ReviewAllRequest{}); classOf(err) != classInvalid {
		t.Error(err)
	}
	no, err := m.RejectAll(ctx, ReviewAllRequest{Filter: ReviewFilter{Category: store.Goal}})
	if err != nil || no.Rejected != 1 {
		t.Errorf("%+v, %v", no, err)
	}
	if no, err := m.RejectAll(ctx, ReviewAllRequest{Filter: ReviewFilter{Who: Who{User: "bob"}}}); err != nil || no.Rejected != 0 {
		t.Errorf("%+v, %v", no, err)
	}
	ok, err := m.ApproveAll(ctx, ReviewAllRequest{Filter: ReviewFilter{Who: ann, Extractor: "parrot/1"}, Limit: 3})
	if err != nil || ok.Approved != 3 || ok.Next == "" {
		t.Errorf("%+v, %v", ok, err)
	}
	ok, err = m.ApproveAll(ctx, ReviewAllRequest{Filter: ReviewFilter{Who: ann}, Cursor: ok.Next})
	if err != nil || ok.Approved != 1 || ok.Next != "" {
		t.Errorf("%+v, %v", ok, err)
	}
	if d := cmp.Diff([]string{"Bakes bread", "Likes cats", "Lives in Oslo"}, m.facts()); d != "" {
		t.Error(d)
	}
}
