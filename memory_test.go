package evoke

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/embed"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/scoring"
	"evoke/store"
)

// bagEmbedder is a small real vector space: a text is the normalised sum of fixed pseudo-random vectors of its tokens.
type bagEmbedder struct {
	revision string
	mu       sync.Mutex
	fail     error
}

func (b *bagEmbedder) Model() embed.Model {
	return embed.Model{Name: "bag", Revision: b.revision, Dim: 64, Pooling: "mean", Low: 0, High: 1}
}

func (b *bagEmbedder) setFail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

func (b *bagEmbedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return nil, b.fail
	}
	vs := make([][]float32, len(texts))
	for i, t := range texts {
		vs[i] = bag(t)
	}
	return vs, ctx.Err()
}

func (b *bagEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := b.EmbedPassages(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vs[0], nil
}

func bag(text string) []float32 {
	v := make([]float32, 64)
	for _, tok := range append(scoring.Tokens(text), "·") {
		h := fnv.New64a()
		h.Write([]byte(tok))
		x := h.Sum64()
		for i := range v {
			x = x*6364136223846793005 + 1442695040888963407
			v[i] += float32(int64(x>>33)%2000-1000) / 1000
		}
	}
	var n float64
	for _, f := range v {
		n += float64(f) * float64(f)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v
}

func open(t *testing.T, o *Options) *Memory {
	t.Helper()
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func chat(lines ...string) []message.Message {
	ms := make([]message.Message, len(lines))
	for i, l := range lines {
		ms[i] = message.Message{Role: message.User, Content: l}
		if i%2 == 1 {
			ms[i].Role = message.Assistant
		}
	}
	return ms
}

func settle(t *testing.T, m *Memory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

func contents(hits []recall.Hit) string {
	var s []string
	for _, h := range hits {
		s = append(s, h.Item.Content)
	}
	return strings.Join(s, "|")
}

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
	m := open(t, &Options{Embedder: &bagEmbedder{}, Clock: func() time.Time { return now }})
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
	v2, err := m.Update(ctx, UpdateRequest{Who: who, ID: r.Item.ID, Content: ptr("Ann works at Globex.")})
	if err != nil || v2.ID == r.Item.ID || v2.Supersedes != r.Item.ID || v2.Importance != 0.8 {
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
	if n, err := m.Feedback(ctx, FeedbackRequest{Who: who, IDs: []string{v2.ID, "unknown"}}); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
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

func TestExportImportKeepsEverything(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	for i := range 30 {
		w := Who{User: fmt.Sprintf("u%d", i%3), Thread: "t"}
		if _, err := m.Ingest(ctx, IngestRequest{Who: w, Messages: chat(fmt.Sprintf("note %d 你好", i), "ok")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Remember(ctx, RememberRequest{Who: Who{User: "u1", Agent: "bot"}, Content: "a fact", Metadata: store.Metadata{"n": store.Number(3), "l": store.List("a", "b")}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := m.Export(ctx, Who{}, &out)
	if err != nil || n != 61 {
		t.Fatalf("%d, %v", n, err)
	}
	to := open(t, nil)
	res, err := to.Import(ctx, Who{}, bytes.NewReader(out.Bytes()), nil)
	if err != nil || res.Imported != 61 || res.FailedN != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	var back bytes.Buffer
	if _, err := to.Export(ctx, Who{}, &back); err != nil || back.String() != out.String() {
		t.Fatalf("the export of the import differs: %v", err)
	}
	res, err = to.Import(ctx, Who{}, bytes.NewReader(out.Bytes()), nil)
	if err != nil || res.Imported != 0 || res.Same != 61 {
		t.Fatalf("again: %+v, %v", res, err)
	}
}

func TestImportReportsLinesAndTakesTheRest(t *testing.T) {
	m := open(t, nil)
	in := strings.Join([]string{
		`{"ns":"x","id":"D1:1","text":"Hello there","speaker":"Caroline","time":"2023-05-08T13:56:00Z","type":"episodic","meta":{"session":1,"seq":0,"note":null}}`,
		`not json`,
		`{"id":"D1:2","text":"Second","type":"episodic","meta":{"session":"1","seq":1,"deep":{"a":1}}}`,
		`{"id":"D1:3","text":"   "}`,
		`{"id":"D1:4","text":"x","type":"dream"}`,
		``,
		`{"id":"D1:1","text":"Other text"}`,
		`{"id":"D1:5","text":"` + strings.Repeat("x", maxImportLine) + `"}`,
		`{"id":"D1:6","content":"no time, no place","importance":2}`,
		`{"id":"D1:7","text":"last line without an end","time":null}`,
	}, "\n")
	res, err := m.Import(t.Context(), Who{User: "u"}, strings.NewReader(in), nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, f := range res.Failed {
		lines = append(lines, f.Line)
	}
	if res.Imported != 3 || res.FailedN != 6 || len(lines) != 6 {
		t.Fatalf("%+v", res)
	}
	it, err := m.Get(t.Context(), Who{User: "u"}, "D1:1")
	if err != nil || it.Turn.Session != "1" || it.Turn.Position != 0 || it.Turn.Speaker != "Caroline" || it.Content != "Hello there" {
		t.Fatalf("%+v, %v", it, err)
	}
	if it, _ := m.Get(t.Context(), Who{User: "u"}, "D1:7"); !it.ValidFrom.IsZero() {
		t.Errorf("no time stays no time: %v", it.ValidFrom)
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

func TestBadInput(t *testing.T) {
	m := open(t, nil)
	ctx, who := t.Context(), Who{User: "u", Thread: "t"}
	long := strings.Repeat("x", 1<<20+1)
	for name, call := range map[string]func() error{
		"blank content":    func() error { _, err := m.Remember(ctx, RememberRequest{Who: who, Content: " \x00\n"}); return err },
		"content too long": func() error { _, err := m.Remember(ctx, RememberRequest{Who: who, Content: long}); return err },
		"unknown kind": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Kind: "dream"})
			return err
		},
		"importance": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Importance: ptr(math.NaN())})
			return err
		},
		"year 0": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", ValidFrom: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)})
			return err
		},
		"end before start": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", ValidFrom: time.Now(), ValidTo: time.Now().Add(-time.Hour)})
			return err
		},
		"reserved metadata": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Metadata: store.Metadata{"evoke_id": store.String("")}})
			return err
		},
		"negative limit": func() error { _, err := m.List(ctx, ListRequest{Who: who, Limit: -1}); return err },
		"recall limit": func() error {
			_, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "x", Limit: 5000}})
			return err
		},
		"min_score": func() error {
			_, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "x", MinScore: ptr(1.5)}})
			return err
		},
		"budget":         func() error { _, err := m.Context(ctx, ContextRequest{Who: who, MaxTokens: ptr(-1)}); return err },
		"forget nothing": func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who}); return err },
		"forget empty":   func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who, Filter: &store.Filter{}}); return err },
		"forget two ways": func() error {
			_, err := m.Forget(ctx, ForgetRequest{Who: who, All: true, IDs: []string{"a"}})
			return err
		},
		"no ids": func() error { _, err := m.Feedback(ctx, FeedbackRequest{Who: who}); return err },
		"key too long": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", IdempotencyKey: long})
			return err
		},
		"unknown role": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: []message.Message{{Role: "robot", Content: "x"}}})
			return err
		},
		"no thread": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: Who{User: "u"}, Messages: chat("x")})
			return err
		},
		"user with newlines": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: Who{User: "a\nb", Thread: "t"}, Messages: chat("x")})
			return err
		},
	} {
		if err := call(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st, err := m.Stats(ctx, who); err != nil || st.Total != 0 {
		t.Errorf("nothing was kept of all that: %+v, %v", st, err)
	}
	if _, err := m.Event(ctx, "unknown", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown event: %v", err)
	}
	if _, err := Open(ctx, &Options{Memory: MemoryOptions{MaxFacts: 5}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("max_facts: %v", err)
	}
}
