package llm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store"
)

func section(name, content string) store.Item {
	return store.Item{ID: "p-" + name, Kind: store.Semantic, Content: content, ContentKey: store.ProfileKey(name), Provenance: store.Provenance{Origin: store.ProfileOrigin, Subject: store.ProfileKey(name)}}
}

func written(name, content string, turns ...string) llmtest.Section {
	return llmtest.Section{Name: name, Content: content, Turns: turns}
}

// The model is shown the profile as it stands, and what it writes anew is reported with its sources.
func TestProfile(t *testing.T) {
	x, s := open(t, always(llmtest.AnswerWith([]llmtest.Section{
		written("work", "The user is a nurse and changed to the night shift in May 2026.", "t1"),
		written("personal", "用户养了一只猫。", "t3", "t1"),
	}, fact("t1", "I changed to the night shift", "The user works the night shift"))), nil)
	b := batch("user: I changed to the night shift", "assistant: Noted.", "user: 我养了一只猫")
	stale, closed := section("earlier", "The user was a baker."), section("long_term", "The user is old.")
	stale.MarkProfileStale()
	closed.Close(noon, noon)
	work := section("work", "The user is a nurse.")
	work.ValidFrom = noon
	b.Profile = []store.Item{work, section("top_of_mind", "A flat </profile> to paint."), stale, closed}
	rep := run(t, x, b)
	want := []extract.Section{
		{Name: "work", Content: "The user is a nurse and changed to the night shift in May 2026.", Turns: []string{"turn-0"}},
		{Name: "personal", Content: "用户养了一只猫。", Turns: []string{"turn-2", "turn-0"}},
	}
	if d := cmp.Diff(want, rep.Sections); d != "" {
		t.Error(d)
	}
	if len(rep.Operations) != 1 || len(rep.Rejected) != 0 || x.Stats().Sections != 2 {
		t.Errorf("%+v, %+v", rep, x.Stats())
	}
	shown := s.Requests()[0].Block("profile")
	if d := cmp.Diff([]line{{Section: "work", Since: "2026-05-01", Content: "The user is a nurse."}, {Section: "top_of_mind", Content: "A flat </profile> to paint."}}, shown); d != "" {
		t.Error(d)
	}
}

// A section that was not said, that only an assistant said, or that cites what was not shown is not written.
func TestSectionsThatDoNotHold(t *testing.T) {
	x, _ := open(t, always(llmtest.AnswerWith([]llmtest.Section{
		written("work", "The user owns a yacht in Monaco and races horses.", "t1"),
		written("personal", "The user likes tea since 1999.", "t1"),
		written("top_of_mind", "The user is in Rome.", "t2"),
		written("earlier", "The user likes tea.", "t1", "t9"),
		written("long_term", "The user likes tea.", "t1"),
	})), nil)
	b := batch("user: I like tea", "assistant: You are in Rome.")
	b.Profile = []store.Item{section("long_term", "The user likes tea.")}
	rep := run(t, x, b)
	if rep.Sections != nil {
		t.Errorf("%+v", rep.Sections) // the last one says nothing new
	}
	got := strings.Fields(reasons(rep.Rejected))
	want := []string{string(llm.SectionUnknownTurn), string(llm.SectionUngrounded), string(llm.SectionUngrounded), string(llm.SectionAssistantOnly)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, r := range rep.Rejected {
		if !strings.HasPrefix(r.Operation.Subject, "profile:") || r.Operation.Content != "" || x.Stats().Rejected[llm.Reason(r.Reason)] == 0 {
			t.Errorf("%+v", r)
		}
	}
}

// What there is no room to show is not written anew, or what still holds of it would be lost.
func TestSectionsThatCouldNotBeShown(t *testing.T) {
	x, s := open(t, always(llmtest.AnswerWith([]llmtest.Section{written("work", "The user likes tea.", "t1"), written("long_term", "The user likes tea.", "t1")})), func(o *llm.Options) {
		o.MaxInputTokens = 4000
	})
	b := batch("user: I like tea")
	b.Profile = []store.Item{section("long_term", strings.Repeat("The user is a nurse. ", 40))}
	rep := run(t, x, b)
	if len(s.Requests()[0].Block("profile")) != 0 || len(rep.Sections) != 1 || rep.Sections[0].Name != "work" || reasons(rep.Rejected) != string(llm.SectionHidden) {
		t.Errorf("%+v", rep)
	}
}

// Of a batch in several calls, each is shown what the one before wrote, and the text rests on the turns of all.
func TestProfileOverSeveralCalls(t *testing.T) {
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		text := "Says word."
		for _, l := range r.Block("profile") {
			text = l.Content + " Says word."
		}
		say(w, llmtest.AnswerWith([]llmtest.Section{written("recent_months", text, "t1")}))
	}, func(o *llm.Options) { o.MaxInputTokens = 7000 })
	rep := run(t, x, batch(numbered(60, 100)...))
	n := s.Calls()
	if n < 2 || len(rep.Sections) != 1 || strings.Count(rep.Sections[0].Content, "Says") != n || len(rep.Sections[0].Turns) != n {
		t.Errorf("%d calls: %+v", n, rep.Sections)
	}
}

func TestWorkflows(t *testing.T) {
	more := []any{"kind", "procedural", "category", "behavior", "steps", []string{"1. run make clean", "then make release"}, "needs", []string{"the signing key"}, "outcome", "succeeded"}
	x, _ := open(t, always(answer(
		fact("t2", "make clean first, then make release", "To release the client", more...),
		fact("t2", "make release", "To release the server", append(more[:4:4], "steps", []string{"summon a demon", "sacrifice goats"})...),
		fact("t3", "That worked", "", "action", "confirm", "target", "k1", "kind", "procedural", "outcome", "ok"),
		fact("t3", "That worked", "The user is content", "outcome", "failed"),
	)), nil)
	b := batch("user: How do I release the client?", "assistant: Have the signing key ready. Run make clean first, then make release.", "user: That worked, thanks!")
	b.Known = []store.Item{{ID: "way", Kind: store.Procedural, Content: "To release the client"}}
	rep := run(t, x, b)
	if len(rep.Operations) != 3 || reasons(rep.Rejected) != "ungrounded" {
		t.Fatalf("%+v", rep)
	}
	want := "To release the client\nNeeds: the signing key\n1. run make clean\n2. then make release"
	if got := rep.Operations[0]; got.Content != want || got.Outcome != extract.Succeeded || got.Kind != store.Procedural {
		t.Errorf("%+v", got)
	}
	if got := rep.Operations[1]; got.Action != extract.Confirm || got.Target != "way" || got.Outcome != extract.Succeeded {
		t.Errorf("%+v", got)
	}
	if got := rep.Operations[2]; got.Outcome != "" {
		t.Errorf("a fact has an outcome: %+v", got)
	}
	x, _ = open(t, always(answer(fact("t2", "先运行 make clean", "发布客户端", more...))), nil)
	rep = run(t, x, batch("user: 怎么发布客户端？", "assistant: 先运行 make clean，然后 run make release，需要 the signing key。", "user: 成功了，谢谢！"))
	if len(rep.Operations) != 1 || !strings.Contains(rep.Operations[0].Content, "\n前提：the signing key\n1. run") {
		t.Errorf("%+v", rep)
	}
}

// What a turn says of another user or project is told apart, and not given out as this user's.
func TestOtherUsersAndProjects(t *testing.T) {
	x, _ := open(t, always(answer(
		fact("t1", "Bob wants his reports in French", "Bob wants his reports in French", "durability", "other", "about", "Bob"),
		fact("t1", "My sister Mia lives in Rome", "The user's sister Mia lives in Rome", "about", "Mia", "subject", "home"),
		fact("t1", "in English", "The user wants reports in English"),
	)), nil)
	rep := run(t, x, batch("user: My colleague Bob wants his reports in French, I want mine in English. My sister Mia lives in Rome."))
	if contents(rep.Operations) != "The user's sister Mia lives in Rome; The user wants reports in English" || reasons(rep.Rejected) != string(llm.OtherOwner) {
		t.Errorf("%+v", rep)
	}
	if rep.Operations[0].Subject != "about:mia:home" || rep.Operations[0].About != "Mia" {
		t.Errorf("%+v", rep.Operations[0])
	}
}
