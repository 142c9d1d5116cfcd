package evoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/recall"
	"evoke/store"
)

// seen is all that a caller can get to see in a memory by the verbs that read: items and their history by id, lists,
// recall, context, profile, statistics, export, events and what waits for review.
func seen(t *testing.T, m *Memory, w Who, ids []string, queries ...string) string {
	t.Helper()
	ctx := t.Context()
	var out bytes.Buffer
	add := func(v any, err error) {
		if err == nil {
			err = json.NewEncoder(&out).Encode(v)
		}
		if ignoreNotFound(err) != nil && !errors.Is(err, store.ErrInvalid) { // which says that the agent has no memory
			t.Fatal(err)
		}
	}
	for _, all := range []bool{false, true} {
		l, err := m.List(ctx, ListRequest{Who: w, All: all, Limit: 1000})
		add(l, err)
	}
	for _, q := range append(queries, "") {
		r, err := m.Recall(ctx, RecallRequest{Who: w, Request: recall.Request{Query: q, Limit: 50, MinScore: ptr(0.0)}})
		add(r.Hits, err) // the answer itself repeats what was asked
		c, err := m.Context(ctx, ContextRequest{Who: w, Request: recall.Request{Query: q, Limit: 50, MinScore: ptr(0.0)}})
		add(c.Block, err)
	}
	for _, id := range ids {
		it, err := m.Get(ctx, w, id)
		add(it, err)
		h, err := m.History(ctx, w, id)
		add(h, err)
	}
	r, err := m.Recent(ctx, w, 100)
	add(r, err)
	p, err := m.Profile(ctx, ProfileRequest{Who: w})
	add(p, err)
	s, err := m.Stats(ctx, w)
	add(s, err)
	_, err = m.Export(ctx, w, &out)
	add(nil, err)
	return out.String()
}

// idsOf are the ids of all items that the tenant holds, wherever they are.
func idsOf(t *testing.T, m *Memory) (ids []string) {
	t.Helper()
	scopes, err := m.store.Scopes(t.Context(), m.tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range scopes {
		page, err := m.store.List(t.Context(), sc, store.ListQuery{View: store.View{All: true}, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// talk says something to an agent and lets it be extracted.
func talk(t *testing.T, m *Memory, w Who, text string) IngestResult {
	t.Helper()
	if w.Thread == "" {
		w.Thread = "t"
	}
	r, err := m.Ingest(t.Context(), IngestRequest{Who: w, Messages: chat(text, "Noted / 好的。")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.FlushAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// Turns, queue, facts, profile, recall, context, lists, history and export: under none nothing is kept or found by
// anyone; under pair it is found by this user with this agent and nobody else; under own by everyone with that agent and
// nobody without. In English and Chinese.
func TestNamespacesOnTheWholePath(t *testing.T) {
	t.Parallel()
	policy := &Policy{Rules: []PolicyRule{{"expert-*", NoNamespace}, {"project-*", OwnNamespace}, {"plain-*", UserNamespace}, {"*", PairNamespace}}}
	everyone := []Who{
		{User: "ann"}, {User: "bob"}, {User: "ann", Agent: "chef"}, {User: "bob", Agent: "chef"}, {User: "ann", Agent: "baker"}, {User: "bob", Agent: "baker"},
		{User: "ann", Agent: "project-x"}, {User: "bob", Agent: "project-x"}, {User: "ann", Agent: "project-y"}, {User: "ann", Agent: "expert-law"}, {User: "bob", Agent: "expert-law"},
		{User: "ann", Agent: "plain-1"}, {User: "bob", Agent: "plain-1"},
	}
	for _, c := range []struct {
		said Who
		sees func(Who) bool
	}{
		{Who{User: "ann", Agent: "expert-law"}, func(Who) bool { return false }},
		{Who{User: "ann", Agent: "chef"}, func(w Who) bool { return w.User == "ann" && w.Agent == "chef" }},
		{Who{User: "ann", Agent: "project-x"}, func(w Who) bool { return w.Agent == "project-x" }},
		{Who{User: "ann"}, func(w Who) bool { // the user's own: with agents of a pair, too
			return w.User == "ann" && !strings.HasPrefix(w.Agent, "project-") && !strings.HasPrefix(w.Agent, "expert-")
		}},
		{Who{User: "ann", Agent: "plain-1"}, func(w Who) bool {
			return w.User == "ann" && !strings.HasPrefix(w.Agent, "project-") && !strings.HasPrefix(w.Agent, "expert-")
		}},
	} {
		for _, words := range []struct{ text, secret, query string }{
			{"I love zebrafish sushi.", "zebrafish", "zebrafish sushi"}, {"我喜欢斑马鱼寿司。", "斑马鱼", "斑马鱼寿司"},
		} {
			t.Run(c.said.Agent+"/"+words.secret, func(t *testing.T) {
				t.Parallel()
				m := open(t, &Options{Policy: policy})
				r := talk(t, m, c.said, words.text)
				ids := idsOf(t, m)
				if kept := len(ids) > 0; kept != (c.said.Agent != "expert-law") || kept && len(ids) < 3 {
					t.Fatalf("%d items are kept", len(ids))
				}
				if c.said.Agent == "expert-law" {
					q, err := m.QueueStats(t.Context())
					ev, err2 := m.Events(t.Context(), EventsRequest{})
					if err != nil || err2 != nil || r.Skipped != skippedByPolicy || len(r.Turns) != 0 || r.EventID != "" || q.Waiting != 0 || len(ev.Events) != 0 {
						t.Errorf("none: %+v, queue %+v, %d events, %v %v", r, q, len(ev.Events), err, err2)
					}
				}
				for _, w := range everyone {
					if got, want := strings.Contains(seen(t, m, w, ids, words.query), words.secret), c.sees(w); got != want {
						t.Errorf("%+v sees it: %v, want %v", w, got, want)
					}
				}
			})
		}
	}
}

// Under none applications' own writes are not kept either, nor are imports, and nothing that exists can be changed.
func TestNothingIsWrittenUnderNone(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{Policy: ExpertsPolicy()})
	who := Who{User: "ann", Agent: "lawyer"}
	for _, content := range []string{"zebrafish sushi", "斑马鱼寿司"} {
		if r, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: content}); err != nil || r.Skipped != skippedByPolicy {
			t.Errorf("%+v, %v", r, err)
		}
	}
	var out bytes.Buffer
	other := open(t, nil)
	if _, err := other.Remember(t.Context(), RememberRequest{Who: Who{User: "ann"}, Content: "zebrafish sushi"}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Export(t.Context(), Who{User: "ann"}, &out); err != nil {
		t.Fatal(err)
	}
	if r, err := m.Import(t.Context(), who, &out, nil); err == nil && r.Imported > 0 {
		t.Errorf("%+v", r)
	}
	if ids := idsOf(t, m); len(ids) > 0 {
		t.Errorf("%d items are kept", len(ids))
	}
}

// strangers are turns that speak of another user or another project, and what a model makes of them: rightly, or taking
// them for the user's own.
var strangers = []struct {
	said    string
	finds   llmtest.Statement
	kept    string // what may be kept: a statement about that other person, under his name
	without string // what must be in no fact
}{
	{"My colleague Bob wants his reports in French.", llmtest.Statement{Quote: "Bob wants his reports in French", Content: "Bob wants his reports in French", More: []any{"durability", "other"}}, "", "French"},
	{"My colleague Bob wants his reports in French.", llmtest.Statement{Quote: "Bob wants his reports in French", Content: "The user wants his reports in French"}, "", "French"},
	{"Bob lives in Oslo.", llmtest.Statement{Quote: "Bob lives in Oslo", Content: "Bob lives in Oslo", More: []any{"about", "Bob", "subject", "home"}}, "about:bob:home", ""},
	{"Bob lives in Oslo.", llmtest.Statement{Quote: "Bob lives in Oslo", Content: "The user lives in Oslo", More: []any{"subject", "home"}}, "", "Oslo"},
	{"In the other team's project Apollo they deploy on Fridays.", llmtest.Statement{Quote: "they deploy on Fridays", Content: "Apollo is deployed on Fridays", More: []any{"durability", "other"}}, "", "Fridays"},
	{"In the other team's project Apollo they deploy on Fridays.", llmtest.Statement{Quote: "they deploy on Fridays", Content: "The user deploys on Fridays"}, "", "Fridays"},
	{"我同事小王想要法语报告。", llmtest.Statement{Quote: "小王想要法语报告", Content: "小王想要法语报告", More: []any{"durability", "other"}}, "", "法语"},
	{"我同事小王想要法语报告。", llmtest.Statement{Quote: "小王想要法语报告", Content: "用户想要法语报告"}, "", "法语"},
	{"小王住在奥斯陆。", llmtest.Statement{Quote: "小王住在奥斯陆", Content: "小王住在奥斯陆", More: []any{"about", "小王", "subject", "home"}}, "about:小王:home", ""},
	{"小王住在奥斯陆。", llmtest.Statement{Quote: "小王住在奥斯陆", Content: "用户住在奥斯陆", More: []any{"subject", "home"}}, "", "奥斯陆"},
	{"另一个项目组每周五发布。", llmtest.Statement{Quote: "另一个项目组每周五发布", Content: "阿波罗项目每周五发布", More: []any{"durability", "other"}}, "", "周五"},
	{"他们每周五发布新版本。", llmtest.Statement{Quote: "他们每周五发布新版本", Content: "用户每周五发布新版本"}, "", "周五"},
}

// Talk about another user or project is not stored as this user's, whatever the model makes of it, and takes the place of
// nothing that is his.
func TestTalkOfOthersIsNotTheUsers(t *testing.T) {
	t.Parallel()
	for i, c := range strangers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			service := llmtest.Start(t, llmtest.Knowing(c.finds,
				llmtest.Statement{Quote: "I live in Rome", Content: "The user lives in Rome", More: []any{"subject", "home"}},
				llmtest.Statement{Quote: "我住在罗马", Content: "用户住在罗马", More: []any{"subject", "home"}}))
			x, err := llm.New("scripted", &llm.Options{BaseURL: service.URL})
			if err != nil {
				t.Fatal(err)
			}
			m := open(t, &Options{Extractor: x})
			who := Who{User: "ann", Agent: "chef", Thread: "t"}
			own := "I live in Rome."
			if strings.Contains(c.said, "。") {
				own = "我住在罗马。"
			}
			talk(t, m, who, own)
			talk(t, m, who, c.said)
			page, err := m.List(context.Background(), ListRequest{Who: who, Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}})
			if err != nil {
				t.Fatal(err)
			}
			home, kept := 0, 0
			for _, it := range page.Items {
				switch {
				case it.Provenance.Subject == "home" && (it.Content == "The user lives in Rome" || it.Content == "用户住在罗马"):
					home++
				case c.kept != "" && it.Provenance.Subject == c.kept:
					kept++
				default:
					t.Errorf("%q became a fact: %+v", c.said, it)
				}
				if c.without != "" && strings.Contains(it.Content, c.without) {
					t.Errorf("%q became %q", c.said, it.Content)
				}
			}
			if home != 1 || (kept == 1) != (c.kept != "") {
				t.Errorf("%q: %d homes, %d statements about the other", c.said, home, kept)
			}
		})
	}
}

// What another person is said to like is not the user's own, by the rules.
func TestRulesKeepTalkOfOthersOut(t *testing.T) {
	t.Parallel()
	m := open(t, nil)
	who := Who{User: "ann", Agent: "chef"}
	talk(t, m, who, "I love quokka pancakes. Bob says he loves walrus tea.")
	talk(t, m, who, "张三说他喜欢茶。我喜欢咖啡。")
	pair, err := m.List(t.Context(), ListRequest{Who: who, All: true})
	if err != nil || len(pair.Items) < 4 {
		t.Fatalf("the pair holds %d items, %v", len(pair.Items), err)
	}
	for _, it := range pair.Items {
		if it.Provenance.Origin != "turn" && (strings.Contains(it.Content, "walrus") || strings.Contains(it.Content, "茶")) {
			t.Errorf("another's liking became a fact of the user: %+v", it)
		}
	}
}
