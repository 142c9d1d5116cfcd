package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// hostile names: two of them must never lead to one memory, whatever they are made of.
var hostile = []string{"*", "'", `"`, "a'; DROP TABLE items; --", `{"user":"x"}`, "a:b", "a", "b:a", "1:a", "a/b", "a|b", "%", "_", "аdmin", "admin", "Admin",
	"admin ", "..", "../admin", "default", "é", "e\u0301", "\u200badmin", "𝒶", "null", "0"}

// TestNoScopeSeesAnother fills the memories of hostile tenants, users and agents with the same texts under the same
// ids, each marked with a secret of its own, and looks for a foreign secret in everything the façade answers or logs.
func TestNoScopeSeesAnother(t *testing.T) {
	oneByOne(t)
	var logged bytes.Buffer
	m := open(t, &Options{Embedder: &bagEmbedder{}, Policy: &Policy{Rules: []PolicyRule{{"own *", OwnNamespace}, {"*", PairNamespace}}},
		Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	type memory struct {
		m      *Memory
		who    Who
		secret string
		sees   string // the secret of the user's own memory, which a pair sees too
	}
	var all []memory
	secretOf := map[string]string{}
	add := func(tenant string, w Who) {
		tm, err := m.ForTenant(tenant)
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("secret%03d", len(all))
		secretOf[fmt.Sprintf("%q/%q/%q", tenant, w.User, w.Agent)] = s
		mem := memory{m: tm, who: w, secret: s, sees: s}
		if w.Agent != "" {
			mem.sees = secretOf[fmt.Sprintf("%q/%q/%q", tenant, w.User, "")]
		}
		all = append(all, mem)
	}
	for i, name := range hostile {
		if strings.TrimSpace(name) != name {
			continue // surrounding blanks are kept apart by the scopes test below
		}
		add("acme", Who{User: name})
		if name != "*" { // no tenant's name
			add(name, Who{User: "shared"})
		}
		if i < 12 {
			add("acme", Who{User: name, Agent: "bot"})
			add("acme", Who{User: "u", Agent: name})
		}
	}
	for _, x := range all {
		fillMemory(t, x.m, x.who, x.secret)
	}
	settle(t, m)
	for _, x := range all {
		said := answers(t, x.m, x.who)
		for _, y := range all {
			if y.secret != x.secret && y.secret != x.sees && strings.Contains(said, y.secret) {
				t.Errorf("tenant %q %+v reads %s of tenant %q %+v", x.m.Tenant(), x.who, y.secret, y.m.Tenant(), y.who)
			}
		}
		if !strings.Contains(said, x.secret) {
			t.Errorf("tenant %q %+v does not read its own", x.m.Tenant(), x.who)
		}
	}
	if strings.Contains(logged.String(), "secret") {
		t.Errorf("the log holds content: %s", logged.String())
	}
}

func fillMemory(t *testing.T, m *Memory, w Who, secret string) {
	t.Helper()
	ctx := t.Context()
	if _, err := m.Remember(ctx, RememberRequest{Who: w, ID: "same-id", Content: "The password of the vault is " + secret + "."}); err != nil {
		t.Fatal(err)
	}
	w.Thread = "same-thread"
	msgs := chat("My name is "+secret+" and I like tea.", "Hello "+secret)
	msgs[0].ID, msgs[1].ID = "same-turn", "same-answer"
	if _, err := m.Ingest(ctx, IngestRequest{Who: w, Messages: msgs, IdempotencyKey: "same-key"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(ctx, w); err != nil {
		t.Fatal(err)
	}
	sc, err := m.memory(w)
	if err != nil {
		t.Fatal(err)
	}
	written(t, m, sc, "same-section", "work", "Keeps "+secret+".", m.now(), nil, "same-turn")
	wr := m.newWrite(sc)
	wr.Quarantine = []store.Quarantined{{
		ID: newID(), Scope: sc, Thread: w.Thread, Turn: "same-turn", Extractor: "x/1", Reason: "ungrounded", At: m.now(), Operation: []byte(`{"Content":"` + secret + `"}`),
	}}
	if err := store.Commit(ctx, m.store, m.ledger, wr); err != nil {
		t.Fatal(err)
	}
}

// answers is everything that the façade says of one memory, as text.
func answers(t *testing.T, m *Memory, w Who) string {
	t.Helper()
	ctx := t.Context()
	var b bytes.Buffer
	put := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(j)
	}
	wide := recall.Request{Query: "password of the vault secret name tea", Limit: 1000, MinScore: ptr(0.0), Explain: true}
	put(m.Recall(ctx, RecallRequest{Who: w, Request: wide}))
	put(m.Recall(ctx, RecallRequest{Who: w, Request: recall.Request{Limit: 1000}}))
	put(m.Recall(ctx, RecallRequest{Who: w, Request: recall.Request{Query: "vault", Limit: 1000, AsOf: time.Now()}}))
	put(m.Recall(ctx, RecallRequest{Who: w, Request: recall.Request{Query: "vault", Limit: 1000, Filter: store.Filter{
		Any: []store.Filter{{IDs: []string{"same-id"}}, {None: []store.Filter{{IDs: []string{"nothing"}}}}}}}}))
	block, err := m.Context(ctx, ContextRequest{Who: w, Request: wide, MaxTokens: ptr(100000)})
	put(block, err)
	put(m.List(ctx, ListRequest{Who: w, All: true, Limit: 1000}))
	put(m.Recent(ctx, w, 1000))
	put(m.Get(ctx, w, "same-id"))
	put(m.History(ctx, w, "same-id"))
	put(m.Stats(ctx, w))
	put(m.Profile(ctx, ProfileRequest{Who: w}))
	put(m.Profile(ctx, ProfileRequest{Who: w, AsOf: time.Now()}))
	put(m.History(ctx, w, "same-section"))
	put(m.Quarantined(ctx, QuarantineRequest{Who: w}))
	put(m.Events(ctx, EventsRequest{Who: w}))
	put(m.Usage(ctx, UsageRequest{}))
	put(m.QueueStats(ctx))
	_, err = m.Export(ctx, w, &b)
	put(nil, err)
	w.Thread = "same-thread"
	put(m.List(ctx, ListRequest{Who: w, Limit: 1000}))
	msgs := chat("My name is someone and I like tea.", "Hello")
	res, err := m.Ingest(ctx, IngestRequest{Who: w, Messages: msgs, NoStore: true, IdempotencyKey: "same-key"})
	put(res, err)
	return b.String()
}

func TestScopeKeysNeverMeet(t *testing.T) {
	keys := map[string]store.Scope{}
	names := append([]string{""}, hostile...)
	for _, tenant := range hostile {
		for _, user := range names {
			for _, agent := range names {
				sc := store.Scope{Tenant: tenant, User: user, Agent: agent}
				if old, ok := keys[sc.Key()]; ok {
					t.Fatalf("%+v and %+v share a key", old, sc)
				}
				keys[sc.Key()] = sc
			}
		}
	}
}

// TestForeignEventsAndWritesAreUnknown: what one memory may not read, it may not change either.
func TestForeignEventsAndWritesAreUnknown(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	ann := Who{User: "ann", Thread: "t"}
	in, err := m.Ingest(ctx, IngestRequest{Who: ann, Messages: chat("I like tea.", "ok")})
	if err != nil {
		t.Fatal(err)
	}
	id := in.Turns[0].ID
	if _, err := other.Event(ctx, in.EventID, 0); err == nil {
		t.Error("another tenant reads the event")
	}
	for name, try := range map[string]func(*Memory, Who) bool{
		"get": func(m *Memory, w Who) bool { _, err := m.Get(ctx, w, id); return err == nil },
		"update": func(m *Memory, w Who) bool {
			_, err := m.Update(ctx, UpdateRequest{Who: w, ID: id, Content: ptr("x")})
			return err == nil
		},
		"feedback": func(m *Memory, w Who) bool {
			n, err := m.Feedback(ctx, FeedbackRequest{Who: w, IDs: []string{id}})
			return err != nil || n.Updated > 0
		},
		"forget": func(m *Memory, w Who) bool {
			f, err := m.Forget(ctx, ForgetRequest{Who: w, IDs: []string{id}})
			return err != nil || f.Forgotten > 0
		},
		"forget all": func(m *Memory, w Who) bool {
			f, err := m.Forget(ctx, ForgetRequest{Who: w, All: true})
			return err != nil || f.Forgotten > 0
		},
		"outcome": func(m *Memory, w Who) bool {
			_, err := m.Outcome(ctx, OutcomeRequest{Who: w, ID: id, Outcome: store.Failed})
			return err == nil
		},
		"profile": func(m *Memory, w Who) bool {
			p, err := m.Profile(ctx, ProfileRequest{Who: w})
			return err != nil || len(p.Sections)+len(p.Facts) > 0
		},
		"flush": func(m *Memory, w Who) bool { n, err := m.Flush(ctx, w); return err != nil || n > 0 },
	} {
		for _, w := range []struct {
			m *Memory
			w Who
		}{{other, ann}, {m, Who{User: "bob", Thread: "t"}}, {m, Who{User: "bob", Agent: "ann"}}} {
			if try(w.m, w.w) {
				t.Errorf("%s works on a foreign item as tenant %s %+v", name, w.m.Tenant(), w.w)
			}
		}
	}
	if it, err := m.Get(ctx, ann, id); err != nil || it.Content != "I like tea." || it.Uses != 0 {
		t.Errorf("%+v, %v", it, err)
	}
}
