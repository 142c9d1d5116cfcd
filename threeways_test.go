package evoke

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/extract/rules"
	"evoke/store"
)

// uttered is one statement: the user's words, what they state, and its subject as a model names it.
type uttered struct{ words, states, subject string }

// lifeStories are statements one after another, and what holds after them.
var lifeStories = []struct {
	name     string
	said     []uttered
	holds    []string
	versions int // of all statements, closed ones included
}{
	{"once in other words", []uttered{{"I live in Rome.", "The user lives in Rome", "home"}, {"I reside in Rome.", "The user resides in Rome", "home"}}, []string{"The user lives in Rome"}, 1},
	{"another value", []uttered{{"I live in Rome.", "The user lives in Rome", "home"}, {"I live in Oslo.", "The user lives in Oslo", "home"}}, []string{"The user lives in Oslo"}, 2},
	{"back to an old value", []uttered{{"I live in Rome.", "The user lives in Rome", "home"}, {"I live in Oslo.", "The user lives in Oslo", "home"}, {"I live in Rome.", "The user lives in Rome", "home"}}, []string{"The user lives in Rome"}, 3},
	{"two things liked", []uttered{{"I like tea.", "The user likes tea", "likes:tea"}, {"I like coffee.", "The user likes coffee", "likes:coffee"}}, []string{"The user likes coffee", "The user likes tea"}, 2},
	{"no longer liked", []uttered{{"I like tea.", "The user likes tea", "likes:tea"}, {"I don't like tea.", "The user dislikes tea", "likes:tea"}}, []string{"The user dislikes tea"}, 2},
	{"a name set right", []uttered{{"My name is Ann.", "The user's name is Ann", "name"}, {"My name is Anna.", "The user's name is Anna", "name"}}, []string{"The user's name is Anna"}, 2},
	{"numbers differ", []uttered{{"I'm 30 years old.", "The user is 30 years old", "age"}, {"I'm 31 years old.", "The user is 31 years old", "age"}}, []string{"The user is 31 years old"}, 2},

	{"换句话说", []uttered{{"我住在北京。", "用户住在北京", "home"}, {"我居住在北京。", "用户居住在北京", "home"}}, []string{"用户住在北京"}, 1},
	{"换了地方", []uttered{{"我住在北京。", "用户住在北京", "home"}, {"我住在上海。", "用户住在上海", "home"}}, []string{"用户住在上海"}, 2},
	{"又搬回来", []uttered{{"我住在北京。", "用户住在北京", "home"}, {"我住在上海。", "用户住在上海", "home"}, {"我住在北京。", "用户住在北京", "home"}}, []string{"用户住在北京"}, 3},
	{"喜欢两样", []uttered{{"我喜欢茶。", "用户喜欢茶", "likes:茶"}, {"我喜欢咖啡。", "用户喜欢咖啡", "likes:咖啡"}}, []string{"用户喜欢咖啡", "用户喜欢茶"}, 2},
	{"不再喜欢", []uttered{{"我喜欢茶。", "用户喜欢茶", "likes:茶"}, {"我不喜欢茶。", "用户不喜欢茶", "likes:茶"}}, []string{"用户不喜欢茶"}, 2},
	{"改名", []uttered{{"我叫王伟。", "用户叫王伟", "name"}, {"我叫王维。", "用户叫王维", "name"}}, []string{"用户叫王维"}, 2},
	{"数字不同", []uttered{{"我今年30岁。", "用户今年30岁", "age"}, {"我今年31岁。", "用户今年31岁", "age"}}, []string{"用户今年31岁"}, 2},
}

// What an application stores, what the rules find and what a model finds go through one reconciliation: the same
// statements come to the same view, with the same versions.
func TestOneReconciliationThreeWays(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"api", "api in the user's words", "rules", "model", "api, rules", "rules, api", "api, model", "model, api"} {
		for _, story := range lifeStories {
			t.Run(way+"/"+story.name, func(t *testing.T) {
				t.Parallel()
				var clock testClock
				at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
				clock.set(at)
				var x extract.Extractor = rules.New(nil)
				if strings.Contains(way, "model") {
					x = modelThatFinds(t, story.said)
				}
				m := open(t, &Options{Clock: clock.now, Extractor: x})
				who := Who{User: "u", Thread: "t"}
				for i, s := range story.said {
					clock.set(at.Add(time.Duration(i+1) * time.Hour))
					var err error
					turn := way
					if ways := strings.Split(way, ", "); len(ways) == 2 { // in turns
						turn = ways[i%2]
					}
					switch turn {
					case "api":
						_, err = m.Remember(t.Context(), RememberRequest{Who: who, Content: s.states})
					case "api in the user's words":
						_, err = m.Remember(t.Context(), RememberRequest{Who: who, Content: s.words})
					default:
						if _, err = m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat(s.words, "Noted.")}); err == nil {
							_, err = m.Flush(t.Context(), who)
						}
					}
					if err != nil {
						t.Fatalf("%d: %v", i, err)
					}
				}
				facts := store.Filter{Kinds: []store.Kind{store.Semantic}}
				now, err := m.List(t.Context(), ListRequest{Who: who, Filter: facts})
				if err != nil {
					t.Fatal(err)
				}
				all, err := m.List(t.Context(), ListRequest{Who: who, Filter: facts, All: true})
				if err != nil {
					t.Fatal(err)
				}
				var holds []string
				for _, it := range now.Items {
					holds = append(holds, meaning(it, story.holds))
				}
				slices.Sort(holds)
				if d := cmp.Diff(story.holds, holds); d != "" || len(all.Items) != story.versions {
					t.Errorf("%d versions, want %d; %s", len(all.Items), story.versions, d)
				}
				for _, it := range all.Items {
					if it.ValidTo.IsZero() != (it.SupersededBy == "") {
						t.Errorf("%q ends without a successor: %+v", it.Content, it)
					}
				}
			})
		}
	}
}

// meaning is the one of some statements that an item makes, or its own words.
func meaning(it store.Item, of []string) string {
	f := extract.NewForm(extract.StatementOf(&it))
	for _, s := range of {
		if g := extract.NewForm(extract.Statement{Kind: it.Kind, Content: s}); f.Same(&g) != extract.Different {
			return s
		}
	}
	return it.Content
}

func modelThatFinds(t *testing.T, all []uttered) extract.Extractor {
	t.Helper()
	var find []llmtest.Statement
	for _, s := range all {
		st := llmtest.Statement{Quote: s.words, Content: s.states, More: []any{"subject", s.subject, "category", "context"}}
		if !slices.ContainsFunc(find, func(o llmtest.Statement) bool { return o.Quote == st.Quote }) {
			find = append(find, st)
		}
	}
	service := llmtest.Start(t, llmtest.Knowing(find...))
	x, err := llm.New("scripted", &llm.Options{BaseURL: service.URL, HTTPClient: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
