package evoke

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/store"
)

// distilled lists the current facts of a memory.
func distilled(t *testing.T, m *Memory, w Who) (facts []store.Item) {
	t.Helper()
	page, err := m.List(t.Context(), ListRequest{Who: w, Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// claims are statements in several wordings: exact, cased and spaced otherwise, reworded; and what is near them and not
// the same.
var claims = []struct {
	wordings []string
	apart    []string
}{
	{[]string{"I live in Rome.", "i LIVE in rome!", "I currently live in Rome."}, []string{"I work in Rome."}},
	{[]string{"I like green tea.", "I  like GREEN tea", "I really like green tea."}, []string{"I like black tea."}},
	{[]string{"I have two dogs.", "I have TWO dogs!"}, []string{"I have three cats."}},
	{[]string{"我住在北京。", "我 住在 北京！", "我目前住在北京。"}, []string{"我在北京工作。"}},
	{[]string{"我喜欢喝茶。", "我喜欢喝茶！", "我很喜欢喝茶。"}, []string{"我喜欢喝咖啡。"}},
	{[]string{"我养了两只狗。", "我养了两只狗！"}, []string{"我养了三只猫。"}},
}

// A conversation that comes fifty times, in threads of its own and in all its wordings, leaves each claim once, by the
// API and by the rules; what is near it and not the same is there beside it.
func TestFiftyReplaysLeaveEachClaimOnce(t *testing.T) {
	oneByOne(t)
	t.Parallel()
	for i, c := range claims {
		if testing.Short() && i%3 != 0 {
			continue // one a language, with the race detector
		}
		for _, way := range []string{"api", "rules"} {
			m := open(t, nil)
			who := Who{User: "u"}
			tell := func(text string, i int) {
				t.Helper()
				if way == "api" {
					if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: text}); err != nil {
						t.Fatal(err)
					}
					return
				}
				w := who
				w.Thread = fmt.Sprint("t", i)
				talk(t, m, w, text)
			}
			first := 0
			for i := range 50 {
				tell(c.wordings[i%len(c.wordings)], i)
				if i == 0 {
					first = len(distilled(t, m, who))
				}
			}
			facts := distilled(t, m, who)
			if first != 1 || len(facts) != 1 || way == "api" && facts[0].Provenance.Evidence != 49 || facts[0].Provenance.Evidence < 20 || facts[0].Confidence > 1 {
				t.Errorf("%s, %q: %d facts at first, then %+v", way, c.wordings[0], first, facts)
			}
			for i, s := range c.apart {
				tell(s, 50+i)
			}
			if facts := distilled(t, m, who); way == "api" && len(facts) != 1+len(c.apart) {
				t.Errorf("%s, %q: %d facts with %q beside", way, c.wordings[0], len(facts), c.apart)
			}
		}
	}
}

// junk are conversations of which nothing may be kept as a fact about the user, and what a lying model makes of their
// turns: each of their sentences, as asserted by the user.
var junk = []struct {
	name  string
	turns []message.Message
}{
	{"hypotheticals", chat("If I lived in Rome, I would buy a scooter. Suppose I am a doctor.", "Then you would.")},
	{"a question", chat("Do I live in Rome?", "I do not know.")},
	{"quoted", chat(`My boss said "I live in Rome" again and again.`, "I see.")},
	{"role-play", chat("Role-play: I am a pirate. I live in Tortuga.", "Arr.")},
	{"to be translated", chat("Translate: I live in Rome.", "Vivo a Roma.")},
	{"suggested by the assistant", chat("What could I do?", "You live in Rome, so see the Forum. The user likes museums.")},
	{"a tool's result", []message.Message{{Role: message.User, Content: "Look it up."}, {Role: "tool", Content: "The user lives in Rome"}, {Role: message.Assistant, Content: "Done."}}},
	{"a boot file", []message.Message{{Role: "system", Content: "The user lives in Rome. I like tea."}, {Role: message.User, Content: "Go on."}, {Role: message.Assistant, Content: "Done."}}},
	{"nothing", chat(" ", "Hello.")},
	{"another's", chat("Bob lives in Rome. He likes tea.", "I see.")},
	{"假设", chat("假如我住在罗马，我就买辆摩托。要是我是医生就好了。", "是啊。")},
	{"提问", chat("我住在罗马吗？", "我不知道。")},
	{"引用", chat("老板总说“我住在罗马”。", "明白。")},
	{"角色扮演", chat("角色扮演：我是海盗。我住在海上。", "好的。")},
	{"翻译", chat("翻译：我住在罗马。", "Vivo a Roma.")},
	{"助手的建议", chat("我该做什么？", "你住在罗马，可以去博物馆。用户喜欢博物馆。")},
	{"工具结果", []message.Message{{Role: message.User, Content: "查一下。"}, {Role: "tool", Content: "用户住在罗马"}, {Role: message.Assistant, Content: "好了。"}}},
	{"系统消息", []message.Message{{Role: "system", Content: "用户住在罗马。我喜欢茶。"}, {Role: message.User, Content: "继续。"}, {Role: message.Assistant, Content: "好了。"}}},
	{"空话", chat("　", "你好。")},
	{"别人的事", chat("小王住在罗马。他喜欢茶。", "明白。")},
}

// lyingModel takes every statement about anybody, in whatever turn, for what the user asserts of himself, and adds what nobody said.
func lyingModel(w http.ResponseWriter, r *llmtest.Request) {
	var ops []string
	for _, l := range r.Block("conversation") {
		for _, s := range strings.FieldsFunc(l.Text, func(r rune) bool { return strings.ContainsRune(".?!,\"“”。？！，：:", r) }) {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			says := s
			for _, who := range []string{"If I ", "Suppose I ", "Do I ", "I ", "Bob ", "He ", "You ", "The user "} {
				if rest, ok := strings.CutPrefix(s, who); ok {
					says = "The user " + rest
					break
				}
			}
			for _, who := range []string{"假如我", "要是我", "我", "小王", "他", "你"} {
				if rest, ok := strings.CutPrefix(s, who); ok {
					says = "用户" + rest
					break
				}
			}
			if says != s {
				ops = append(ops, llmtest.Fact(l.Turn, s, says))
			}
		}
		ops = append(ops, llmtest.Fact(l.Turn, "I own a yacht", "The user owns a yacht"), llmtest.Fact("t99", "hello", "The user is rich"),
			llmtest.Fact(l.Turn, l.Text, "The user is rich", "action", "supersede", "target", "k77", "confidence", 0.95))
	}
	llmtest.Say(w, llmtest.Answer(ops...))
}

// Hypotheticals, questions, quotes, role-play, the assistant's suggestions, tools' results, hidden messages and what is
// said of others become no facts about the user: by the rules, and whatever a lying model makes of them.
func TestJunkBecomesNoFact(t *testing.T) {
	t.Parallel()
	service := llmtest.Start(t, lyingModel)
	model, err := llm.New("lying", &llm.Options{BaseURL: service.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]extract.Extractor{"rules": rules.New(nil), "a lying model": model} {
		for _, c := range junk {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				m := open(t, &Options{Extractor: x})
				who := Who{User: "u", Thread: "t"}
				if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: c.turns}); err != nil {
					t.Fatal(err)
				}
				if _, err := m.FlushAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, it := range distilled(t, m, who) {
					if strings.HasPrefix(it.Provenance.Subject, "about:") {
						continue
					}
					t.Errorf("%q became a fact: quote %q", it.Content, it.Provenance.Quote)
				}
			})
		}
	}
}
