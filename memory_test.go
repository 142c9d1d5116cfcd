package evoke

import (
	"errors"
	"evoke/embed"
	"evoke/recall"
	"evoke/store"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestIngestThenRecallEndToEnd(t *testing.T) {
	m := open(t, &Options{Path: t.TempDir(), Embedder: &bagEmbedder{}})
	ctx := t.Context()
	who := Who{User: "ann", Thread: "t1"}
	res, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat(
		"My name is Ann and I live in Lisbon.", "Nice to meet you, Ann!",
		"I prefer window seats on long flights.", "Noted.")})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Turns) != 4 || res.State != store.EventPending {
		t.Fatalf("%+v", res)
	}
	found, err := m.Recall(ctx, RecallRequest{Who: Who{User: "ann"}, Request: recall.Request{Query: "window seats flights"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Item.Content, "window seats") {
		t.Fatalf("found by its words at once: %s", contents(found.Hits))
	}
	if n, err := m.Flush(ctx, who); err != nil || n != 1 {
		t.Fatalf("flush: %d, %v", n, err)
	}
	ev, err := m.Event(ctx, res.EventID, time.Minute)
	if err != nil || ev.State != store.EventStored || ev.Facts == 0 {
		t.Fatalf("%+v, %v", ev, err)
	}
	settle(t, m)
	st, err := m.Stats(ctx, Who{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if st.Episodic != 4 || st.Semantic == 0 || st.Pending != (Pending{}) || st.Total != st.Episodic+st.Semantic+st.Procedural {
		t.Fatalf("%+v", st)
	}
	found, err = m.Recall(ctx, RecallRequest{Who: Who{User: "ann"}, Request: recall.Request{Query: "where does Ann live?", Explain: true}})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%v, %v", found, err)
	}
	top := found.Hits[0]
	if !strings.Contains(top.Item.Content, "Lisbon") || top.Explain == nil || found.PendingVectors != 0 || found.Embedder == "none" {
		t.Fatalf("%+v", found)
	}
	if p := top.Parts; math.Abs(p.Semantic+p.Recency+p.Importance+p.Update-top.Score) > 1e-6 {
		t.Errorf("parts %+v do not sum to %v", p, top.Score)
	}
	block, err := m.Context(ctx, ContextRequest{Who: Who{User: "ann"}, Request: recall.Request{Query: "where does Ann live?"}, MaxTokens: ptr(120)})
	if err != nil || block.Tokens == 0 || block.Tokens > 120 || !strings.Contains(block.Text, "Lisbon") {
		t.Fatalf("%+v, %v", block, err)
	}
	again, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat(block.Text, "ok")})
	if err != nil || len(again.Turns) != 1 {
		t.Fatalf("an injected block is not captured again: %+v, %v", again, err)
	}
}

func TestIdempotencyKeyAcrossRestart(t *testing.T) {
	dir := t.TempDir()
	ask := IngestRequest{Who: Who{User: "u", Thread: "t"}, Messages: chat("I like tea.", "Good."), IdempotencyKey: "k1"}
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	first, err := m.Ingest(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	rem := RememberRequest{Who: Who{User: "u"}, Content: "Ann's dog is called Rex.", IdempotencyKey: "k2"}
	one, err := m.Remember(t.Context(), rem)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, &Options{Path: dir})
	second, err := m.Ingest(t.Context(), ask)
	if err != nil || second.EventID != first.EventID || fmt.Sprint(second.Turns) != fmt.Sprint(first.Turns) {
		t.Fatalf("%+v, want %+v, %v", second, first, err)
	}
	two, err := m.Remember(t.Context(), rem)
	if err != nil || two.Item.ID != one.Item.ID {
		t.Fatalf("%+v, %v", two, err)
	}
	rem.Content = "Ann's dog is called Max."
	if _, err := m.Remember(t.Context(), rem); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another body under one key: %v", err)
	}
	if st, err := m.Stats(t.Context(), Who{User: "u"}); err != nil || st.Total != 3 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestRememberUpdateHistoryForget(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now)
	m := open(t, &Options{Embedder: &bagEmbedder{}, Clock: clock.now})
	ctx, who := t.Context(), Who{User: "ann"}
	r, err := m.Remember(ctx, RememberRequest{Who: who, Content: "Ann works at Acme.", Category: store.Knowledge,
		Metadata: store.Metadata{"source": store.String("form")}, Importance: ptr(0.8)})
	if err != nil {
		t.Fatal(err)
	}
	same, err := m.Remember(ctx, RememberRequest{Who: who, Content: "ann works at ACME"})
	if err != nil || !same.Existing || same.Item.ID != r.Item.ID {
		t.Fatalf("the same statement is stored once: %+v, %v", same, err)
	}
	now = now.Add(24 * time.Hour)
	clock.set(now)
	v2, err := m.Update(ctx, UpdateRequest{Who: who, ID: r.Item.ID, Content: ptr("Ann works at Globex.")})
	if err != nil || v2.ID == r.Item.ID || v2.Supersedes != r.Item.ID || v2.Importance < 0.8 || v2.Importance > 0.82 {
		t.Fatalf("%+v, %v", v2, err)
	}
	if _, err := m.Update(ctx, UpdateRequest{Who: who, ID: r.Item.ID, Content: ptr("x")}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an old version: %v", err)
	}
	h, err := m.History(ctx, who, r.Item.ID)
	if err != nil || len(h) != 2 || h[0].ID != r.Item.ID || h[0].SupersededBy != v2.ID || !h[0].ValidTo.Equal(now) {
		t.Fatalf("%+v, %v", h, err)
	}
	current, err := m.List(ctx, ListRequest{Who: who})
	if err != nil || len(current.Items) != 1 || current.Items[0].ID != v2.ID {
		t.Fatalf("%+v, %v", current, err)
	}
	before, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "where does Ann work", AsOf: now.Add(-time.Hour)}})
	if err != nil || contents(before.Hits) != "Ann works at Acme." {
		t.Fatalf("as of yesterday: %q, %v", contents(before.Hits), err)
	}
	after, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "where does Ann work"}})
	if err != nil || contents(after.Hits) != "Ann works at Globex." {
		t.Fatalf("today: %q, %v", contents(after.Hits), err)
	}
	if n, err := m.Feedback(ctx, FeedbackRequest{Who: who, IDs: []string{v2.ID, "unknown"}}); err != nil || n.Updated != 1 || !slices.Equal(n.Unknown, []string{"unknown"}) {
		t.Fatalf("%+v, %v", n, err)
	}
	if got, _ := m.Get(ctx, who, v2.ID); got.Uses != 1 {
		t.Errorf("uses %d", got.Uses)
	}
	for _, dry := range []bool{true, false} {
		f, err := m.Forget(ctx, ForgetRequest{Who: who, IDs: []string{v2.ID, "unknown"}, DryRun: dry})
		if err != nil || f.Forgotten != 1 || len(f.Unknown) != 1 {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	if _, err := m.Get(ctx, who, v2.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after forget: %v", err)
	}
}

func TestPolicyNoneNeitherReadsNorWrites(t *testing.T) {
	m := open(t, &Options{Policy: ExpertsPolicy()})
	who := Who{User: "u", Agent: "lawyer", Thread: "t"}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("a secret", "ok")})
	if err != nil || in.Skipped != "namespace_policy" {
		t.Fatalf("%+v, %v", in, err)
	}
	rem, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "a secret"})
	if err != nil || rem.Skipped != "namespace_policy" {
		t.Fatalf("%+v, %v", rem, err)
	}
	got, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "secret"}})
	if err != nil || got.Skipped != "namespace_policy" || len(got.Hits) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	block, err := m.Context(t.Context(), ContextRequest{Who: who, Request: recall.Request{Query: "secret"}})
	if err != nil || block.Skipped != "namespace_policy" || block.Text != "" {
		t.Fatalf("%+v, %v", block, err)
	}
}

func TestPairSeesTheUsersOwnAndNobodyElses(t *testing.T) {
	m := open(t, nil)
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	say := func(m *Memory, w Who, s string) {
		t.Helper()
		if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: s}); err != nil {
			t.Fatal(err)
		}
	}
	say(m, Who{User: "ann"}, "passphrase of ann alone")
	say(m, Who{User: "ann", Agent: "bot"}, "passphrase of ann and bot")
	say(m, Who{User: "ann", Agent: "bot2"}, "passphrase of ann and bot2")
	say(m, Who{User: "bob"}, "passphrase of bob")
	say(other, Who{User: "ann"}, "passphrase of ann elsewhere")
	see := func(m *Memory, r RecallRequest) map[string]bool {
		t.Helper()
		r.Query, r.Limit = "passphrase", 100
		res, err := m.Recall(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, h := range res.Hits {
			got[h.Item.Content] = true
		}
		return got
	}
	for _, tc := range []struct {
		r    RecallRequest
		want []string
	}{
		{RecallRequest{Who: Who{User: "ann"}}, []string{"passphrase of ann alone"}},
		{RecallRequest{Who: Who{User: "ann", Agent: "bot"}}, []string{"passphrase of ann alone", "passphrase of ann and bot"}},
		{RecallRequest{Who: Who{User: "ann", Agent: "bot"}, PairOnly: true}, []string{"passphrase of ann and bot"}},
		{RecallRequest{Who: Who{User: "carl"}}, nil},
	} {
		got := see(m, tc.r)
		if len(got) != len(tc.want) {
			t.Errorf("%+v sees %v, want %v", tc.r.Who, got, tc.want)
		}
		for _, w := range tc.want {
			if !got[w] {
				t.Errorf("%+v does not see %q", tc.r.Who, w)
			}
		}
	}
	if got := see(other, RecallRequest{Who: Who{User: "ann"}}); len(got) != 1 || !got["passphrase of ann elsewhere"] {
		t.Errorf("the other tenant sees %v", got)
	}
}

func TestAnotherModelNeverMixesNorDeletes(t *testing.T) {
	dir := t.TempDir()
	ctx, who := t.Context(), Who{User: "u"}
	m, err := Open(ctx, &Options{Path: dir, Embedder: &bagEmbedder{revision: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remember(ctx, RememberRequest{Who: who, Content: "The key is under the mat."}); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(o *Options, dense bool) {
		t.Helper()
		m, err := Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		res, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "where is the key"}})
		if err != nil || len(res.Hits) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		if (res.Embedder != "none") != dense || (res.Degraded["dense"] == "") != dense {
			t.Errorf("embedder %q, degraded %v", res.Embedder, res.Degraded)
		}
		if st, err := m.Stats(ctx, who); err != nil || st.Total != 1 || (st.Note == "") != dense {
			t.Errorf("%+v, %v", st, err)
		}
	}
	check(&Options{Path: dir, Embedder: &bagEmbedder{revision: "b"}}, false)
	check(&Options{Path: dir}, false)
	check(&Options{Path: dir, Embedder: &bagEmbedder{revision: "a"}}, true)
}

func TestEmbedderOutageLosesNothing(t *testing.T) {
	e := &bagEmbedder{fail: fmt.Errorf("down: %w", embed.ErrUnavailable)}
	m := open(t, &Options{Embedder: e})
	ctx, who := t.Context(), Who{User: "u"}
	if _, err := m.Remember(ctx, RememberRequest{Who: who, Content: "The meeting is on Friday."}); err != nil {
		t.Fatalf("an outage refuses no write: %v", err)
	}
	res, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "meeting Friday"}})
	if err != nil || len(res.Hits) != 1 || res.PendingVectors != 1 || res.Degraded["dense"] == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	e.setFail(nil)
	settle(t, m)
	res, err = m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "meeting Friday"}})
	if err != nil || len(res.Hits) != 1 || res.PendingVectors != 0 || res.Embedder == "none" {
		t.Fatalf("%+v, %v", res, err)
	}
}

func TestForgottenTurnLeavesItsFollowersVectors(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	ctx, who := t.Context(), Who{User: "u", Thread: "t"}
	res, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat("zebra crossing incident", "understood")})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	ask := RecallRequest{Who: Who{User: "u"}, Request: recall.Request{Query: "zebra crossing incident", Explain: true, MinScore: ptr(0.0)}}
	cosine := func() float64 {
		t.Helper()
		settle(t, m)
		got, err := m.Recall(ctx, ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range got.Hits {
			if h.Item.Content == "understood" {
				return h.Explain.Terms["cosine"]
			}
		}
		t.Fatal("the follower is not found")
		return 0
	}
	with := cosine()
	if _, err := m.Forget(ctx, ForgetRequest{Who: Who{User: "u"}, IDs: []string{res.Turns[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if without := cosine(); without >= with-0.1 {
		t.Errorf("the forgotten text still shines through: %v, was %v", without, with)
	}
}
