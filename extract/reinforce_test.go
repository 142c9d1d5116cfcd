package extract

import (
	"fmt"
	"testing"

	"evoke/store"
)

func TestAnswersAreTold(t *testing.T) {
	for text, want := range map[string]answerKind{
		"Exactly.": agrees, "exactly": agrees, "Exactly right!": agrees, "Yes, exactly.": agrees, "That's right.": agrees, "that is correct, thanks": agrees, "You're right.": agrees,
		"Correct": agrees, "Yes.": agrees, "yep": agrees, "Right, and I love it": agrees, "Precisely!": agrees, "Absolutely. What next?": agrees, "You got it": agrees,
		"没错": agrees, "没错，就是这样": agrees, "对": agrees, "对的。": agrees, "对对对": agrees, "是的，谢谢": agrees, "嗯，没错": agrees, "你说得对": agrees, "正是": agrees, "完全正确！": agrees, "确实如此": agrees, "对啊": agrees, "你记得很对": agrees,
		"No, that's wrong.": denies, "That's not true": denies, "That isn't right.": denies, "Wrong!": denies, "You're mistaken": denies,
		"不对": denies, "不是的，别乱说": denies, "你记错了": denies, "说错了。": denies, "不，不对！": denies,

		"Exactly what do you mean?": noAnswer, "exactly how many?": noAnswer, "Exactly?": noAnswer, "Right?": noAnswer, "Right now I am busy": noAnswer, "Yes?": noAnswer, "Correct the typo please": noAnswer,
		"That's right, but not anymore": noAnswer, "Yes, but no": noAnswer, "True love waits": noAnswer, "Absolutely not": noAnswer, "Sure thing is": noAnswer, "Indeed?": noAnswer, "Not exactly.": noAnswer,
		"Is that right?": noAnswer, "No problem": noAnswer, "No, thanks": noAnswer, "wrong number of arguments": noAnswer, "Not right now": noAnswer, "You're right, actually no": noAnswer,
		"对不对？": noAnswer, "对吗？": noAnswer, "对了，明天几点？": noAnswer, "没错吧？": noAnswer, "没错，但是我搬家了": noAnswer, "对面是谁": noAnswer, "正确答案是什么": noAnswer, "是不是？": noAnswer, "不对吗": noAnswer,
		"不是明天吗": noAnswer, "对方不同意": noAnswer, "错了怎么办": noAnswer, "是我的": noAnswer, "对，不过现在不了": noAnswer, "确实？": noAnswer, "不是。": noAnswer, "": noAnswer,
	} {
		if a := answerOf(text); a.kind != want {
			t.Errorf("%q: %d (%q), want %d", text, a.kind, a.words, want)
		}
	}
}

// chatOf makes a batch of turns that alternate, the user first.
func chatOf(m *memory, texts ...string) Batch {
	var b Batch
	for i, s := range texts {
		it := store.Item{ID: fmt.Sprint("c", len(m.turns)), Content: s, ValidFrom: m.now, Turn: store.Turn{Session: "th", Position: i, Role: [...]string{"user", "assistant"}[i%2], Speaker: [...]string{"user", "assistant"}[i%2]}}
		m.turns[it.ID] = it
		b.Turns = append(b.Turns, it)
	}
	b.Known = m.current()
	return b
}

func TestAgreementRaisesWhatTheAssistantQuotes(t *testing.T) {
	for _, c := range []struct {
		fact, said, answer string
		raised, lowered    bool
	}{
		{"The user lives in Rome", "So you live in Rome, right?", "Exactly.", true, false},
		{"The user lives in Rome", "You live in Rome. What can I do?", "That's right. Find me a bar.", true, false},
		{"The user lives in Rome", "I remember that you live in Rome.", "yes", true, false},
		{"The user's dog is called Bello", "Your dog is called Bello, correct?", "Correct!", true, false},
		{"用户住在罗马", "所以你住在罗马，对吗？", "没错", true, false},
		{"用户住在罗马", "我记得你居住在罗马。", "对的", true, false},
		{"用户喜欢喝茶", "你喜欢喝茶，是吧？", "是的", true, false},
		{"用户的狗叫豆豆", "您的狗叫豆豆，对不对？", "正是", true, false},
		{"The user lives in Rome", "So you live in Rome?", "No, that's wrong.", false, true},
		{"用户住在罗马", "你住在罗马吗？", "不对，你记错了", false, true},

		{"The user lives in Rome", "So you live in Oslo, right?", "Exactly.", false, false},
		{"The user lives in Rome", "So you do not live in Rome?", "Exactly.", false, false},
		{"The user lives in Rome", "Your sister lives in Rome, right?", "Exactly.", false, false},
		{"The user lives in Rome", "You live in Rome. Shall I book a table?", "Yes.", false, false},
		{"The user lives in Rome", "So you live in Rome, right?", "Exactly what do you mean?", false, false},
		{"用户住在罗马", "你住在罗马。要我订位吗？", "对", false, false},
		{"用户住在罗马", "你不住在罗马，对吗？", "没错", false, false},
		{"用户住在罗马", "你妹妹住在罗马，对吗？", "没错", false, false},
		{"用户住在罗马", "你住在罗马，对吗？", "对不对？", false, false},
		{"用户喜欢喝茶", "你喜欢喝咖啡，对吗？", "对", false, false},
	} {
		m := newMemory(t, ReconcileOptions{})
		m.take(m.turn("t0", c.fact, ""))
		was := m.items["f001"]
		b := chatOf(m, "hello", c.said, c.answer)
		m.take(reinforced(b, nil)...)
		it := m.items["f001"]
		if (it.Confidence > was.Confidence && it.Importance > was.Importance && it.Provenance.Evidence == 1) != c.raised || (it.Confidence < was.Confidence) != c.lowered || len(m.items) != 1 {
			t.Errorf("%s / %s / %s: confidence %v → %v, importance %v → %v", c.fact, c.said, c.answer, was.Confidence, it.Confidence, was.Importance, it.Importance)
		}
		again := b // the same conversation extracted again changes nothing
		again.Known = m.current()
		if m.take(reinforced(again, nil)...); m.items["f001"].Confidence != it.Confidence {
			t.Errorf("%s: counted twice", c.answer)
		}
	}
}

func TestAgreementRaisesWhatWasJustSaid(t *testing.T) {
	for _, c := range []struct {
		said, echo, answer string
		raised             bool
	}{
		{"The user lives in Rome", "So you live in Rome?", "Exactly!", true},
		{"The user lives in Rome", "Rome?", "That's right.", true},
		{"The user lives in Rome", "Which Rome?", "Exactly.", false},
		{"The user lives in Rome", "Nice weather.", "Exactly.", false},
		{"用户住在东京", "东京？", "没错", true},
		{"用户住在东京", "你住在东京？", "对", true},
		{"用户住在东京", "大阪？", "没错", false},
		{"用户住在东京", "天气真好。", "没错", false},
	} {
		m := newMemory(t, ReconcileOptions{})
		b := chatOf(m, c.said, c.echo, c.answer)
		op := Operation{Action: Add, Kind: store.Semantic, Category: store.Context, Content: c.said, Turn: b.Turns[0].ID, Quote: c.said, Speaker: "user", Subject: "home", Exclusive: true, Confidence: 0.8, Importance: 0.5}
		m.take(reinforced(b, []Operation{op})...)
		if it := m.items["f001"]; (it.Confidence > 0.8) != c.raised || (it.Provenance.Evidence == 1) != c.raised || len(m.items) != 1 {
			t.Errorf("%+v: %+v", c, m.items)
		}
	}
}

// Agreeing to what was so before it changed does not bring it back.
func TestAgreementKeepsItsPlaceAmongTheTurns(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	b := chatOf(m, "The user lives in Rome", "So you live in Rome?", "Exactly.", "And now?", "The user lives in Oslo")
	op := Operation{Action: Add, Kind: store.Semantic, Category: store.Context, Content: "The user lives in Rome", Turn: b.Turns[0].ID, Quote: "The user lives in Rome", Speaker: "user", Subject: "home", Exclusive: true, Confidence: 0.8, Importance: 0.5}
	next := op
	next.Content, next.Turn, next.Quote = "The user lives in Oslo", b.Turns[4].ID, "The user lives in Oslo"
	m.take(reinforced(b, []Operation{op, next})...)
	if got := contentsOf(m.current()); len(got) != 1 || got[0] != "The user lives in Oslo" {
		t.Errorf("%q", got)
	}
}
