package extract

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
)

func TestOnlyWhatIsAssertedBecomesAFact(t *testing.T) {
	for _, mod := range []Modality{Hypothetical, Question, Quoted, RolePlay, "sung"} {
		m := newMemory(t, ReconcileOptions{})
		op := m.turn("t1", "lives in Rome", "home")
		op.Modality = mod
		if out := m.take(op); out.facts != 0 || len(m.items) != 0 || out.note(0) != "1 not asserted" {
			t.Errorf("%s: %+v %q", mod, m.items, out.note(0))
		}
	}
	for _, mod := range []Modality{"", Asserted} {
		m := newMemory(t, ReconcileOptions{})
		op := m.turn("t1", "lives in Rome", "home")
		op.Modality = mod
		if out := m.take(op); out.facts != 1 {
			t.Errorf("%q: %+v", mod, out)
		}
	}
}

func TestNothingThatIsNotAssertedTakesAFactAway(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "lives in Rome", "home"))
	op := m.turn("t2", "maybe not in Rome", "home")
	op.Action, op.Modality = Retract, Hypothetical
	m.take(op)
	op = m.turn("t3", "lives in Oslo", "home")
	op.Action, op.Target, op.Modality = Supersede, "f001", Question
	m.take(op)
	if d := cmp.Diff([]string{"lives in Rome"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
}

func TestDurabilityIsKept(t *testing.T) {
	for d, want := range map[Durability]string{"": "", DurableUser: "", DurableAgent: "agent", DurableProject: "project", DurableTask: "task"} {
		m := newMemory(t, ReconcileOptions{})
		op := m.turn("t1", "answers in French", "")
		op.Durability = d
		m.take(op)
		if got := m.items["f001"].Provenance.Durability; got != want {
			t.Errorf("%q is kept as %q, want %q", d, got, want)
		}
	}
}

func TestAnotherPersonsHomeIsNotTheSpeakers(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "lives in Rome", "home"))
	op := m.turn("t2", "Mia lives in Oslo", "home")
	op.About = "Mia"
	m.take(op)
	op = m.turn("t3", "Ben lives in Bern", "home")
	op.About = "Ben"
	m.take(op)
	if d := cmp.Diff([]string{"Ben lives in Bern", "Mia lives in Oslo", "lives in Rome"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
	op = m.turn("t4", "Mia lives in Turin", "about:mia:home") // the form of a model's extractor
	op.About = "Mia"
	m.take(op)
	m.take(m.turn("t5", "lives in Lima", "home"))
	if d := cmp.Diff([]string{"Ben lives in Bern", "Mia lives in Turin", "lives in Lima"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
}

func TestACorrectionIsCountedAndWeighsMore(t *testing.T) {
	for said, want := range map[string]int{
		"actually I live in Oslo": 1, "I live in Oslo, not Rome": 1, "No, I live in Oslo": 1, "sorry, Oslo": 1, "not Rome but Oslo": 1,
		"no, actually it is Oslo": 1, "I meant Oslo": 1, "I misspoke, it is Oslo": 1, "that's wrong, I live in Oslo": 1, "I was wrong about Rome, it is Oslo": 1,
		"correction: Oslo": 1, "my mistake, Oslo": 1, "Oslo rather than Rome": 1,
		"其实我住在奥斯陆": 1, "我说错了，是奥斯陆": 1, "不是罗马，是奥斯陆": 1, "不对，我住在奥斯陆": 1, "我是说奥斯陆": 1, "我的意思是奥斯陆": 1, "更正一下，奥斯陆": 1,
		"记错了，是奥斯陆": 1, "应该是奥斯陆": 1, "是奥斯陆，不是罗马": 1, "写错了，奥斯陆": 1, "刚才讲错了，奥斯陆": 1, "纠正一下，是奥斯陆": 1,

		"I moved to Oslo last week": 0, "I live in Oslo now": 0, "since May I live in Oslo": 0, "I finally live in Oslo": 0, "I know that I live in Oslo": 0, "these days it is Oslo": 0, "I live in Oslo again": 0,
		"我搬到奥斯陆了": 0, "我现在住在奥斯陆": 0, "五月起我住在奥斯陆": 0, "我终于住到奥斯陆了": 0, "如今是奥斯陆": 0, "我又住回奥斯陆": 0, "上周我去了奥斯陆住下": 0,
	} {
		m := newMemory(t, ReconcileOptions{})
		m.take(m.turn("t1", "lives in Rome", "home"))
		m.now = m.now.Add(time.Hour)
		op := m.turn("t2", said, "home")
		op.Content = "lives in Oslo"
		m.take(op)
		it, old := m.items["f002"], m.items["f001"]
		if it.Provenance.Corrections != want || (it.Importance == correctedImportance) != (want > 0) || it.Protected() != (want > 0) {
			t.Errorf("%s: %d corrections, importance %v", said, it.Provenance.Corrections, it.Importance)
		}
		if (old.Confidence == 0.8*lowered) != (want > 0) || old.SupersededBy != "f002" {
			t.Errorf("%s: the old one has confidence %v and is superseded by %q", said, old.Confidence, old.SupersededBy)
		}
	}
	m := newMemory(t, ReconcileOptions{})
	op := m.turn("t1", "it is Ms Lee, not Mrs Lee", "")
	op.Category = "correction"
	m.take(op)
	if it := m.items["f001"]; it.Provenance.Corrections != 1 || it.Importance != correctedImportance {
		t.Errorf("%+v", it)
	}
	m = newMemory(t, ReconcileOptions{}) // correction words in place of nothing correct nothing
	m.take(m.turn("t1", "actually likes tea", "likes:tea"))
	if it := m.items["f001"]; it.Provenance.Corrections != 0 {
		t.Errorf("%+v", it)
	}
}

func TestCorrectionsAddUp(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "is 30", "age"))
	for i, c := range []string{"actually 31", "sorry, 32", "33 since today"} {
		m.now = m.now.Add(time.Hour)
		m.take(m.turn("c"+string(rune('0'+i)), c, "age"))
	}
	if it := m.items["f004"]; it.Provenance.Corrections != 2 || !it.Protected() {
		t.Errorf("%+v", it)
	}
	m.now = m.now.Add(time.Hour)
	op := m.turn("t9", "actually Ben is 40", "age")
	op.Speaker = "Ben"
	m.take(op)
	if it := m.items["f005"]; it.Provenance.Corrections != 0 {
		t.Errorf("another speaker's first word is no correction: %+v", it)
	}
}

// Whatever is said how often, in whatever order: confidence and importance stay from 0 to 1, agreement never lowers and
// denial never raises.
func TestConfidenceStaysInItsBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		it := store.Item{Confidence: rapid.Float64Range(0, 1).Draw(rt, "confidence"), Importance: rapid.Float64Range(0, 1).Draw(rt, "importance")}
		for range rapid.IntRange(1, 200).Draw(rt, "times") {
			was := it
			if rapid.Bool().Draw(rt, "agrees") {
				raise(&it, rapid.Float64Range(0, 1).Draw(rt, "c"), rapid.Float64Range(0, 1).Draw(rt, "i"))
				if it.Confidence < was.Confidence || it.Importance < was.Importance || it.Provenance.Evidence != was.Provenance.Evidence+1 {
					rt.Fatalf("%+v after %+v", it, was)
				}
			} else if lower(&it); it.Confidence > was.Confidence || it.Importance != was.Importance {
				rt.Fatalf("%+v after %+v", it, was)
			}
			if store.InUnit("", it.Confidence) != nil || store.InUnit("", it.Importance) != nil {
				rt.Fatalf("%+v", it)
			}
			if v := it.Worth(day0); v < 0 || v > 1 {
				rt.Fatal(v)
			}
		}
	})
}

func TestTheSameInOtherWordsConfirms(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	m.take(m.turn("t1", "The user lives in Rome", "home"), m.turn("t2", "用户住在北京", "family_home"))
	m.now = m.now.Add(time.Hour)
	out := m.take(m.turn("t3", "The user resides in Rome", "home"), m.turn("t4", "用户居住在北京", "family_home"))
	if len(m.items) != 2 || out.facts != 2 || len(m.items["f001"].Provenance.Turns) != 2 || m.items["f002"].Provenance.Evidence != 1 {
		t.Errorf("%+v", m.items)
	}
	op := m.turn("t5", "The user resides in Rome", "home")
	op.Action, op.Target = Supersede, "f001" // nothing is replaced by itself
	if m.take(op); len(m.items) != 2 || !m.items["f001"].ValidTo.IsZero() {
		t.Errorf("%+v", m.items)
	}
	m.take(m.turn("t6", "The user does not live in Rome", "home"))
	if d := cmp.Diff([]string{"The user does not live in Rome", "用户住在北京"}, contentsOf(m.current())); d != "" {
		t.Error(d)
	}
	ben := m.turn("t7", "The user resides in Beijing", "")
	ben.Speaker = "Ben"
	own := m.turn("t8", "The user lives in Beijing", "")
	if m.take(ben, own); len(m.current()) != 4 {
		t.Errorf("two speakers' statements are one: %v", contentsOf(m.current()))
	}
	task := m.turn("t9", "The user lives in Beijing", "")
	task.Durability = DurableTask
	if m.take(task); len(m.current()) != 5 {
		t.Errorf("what holds for a task confirmed what holds on: %v", contentsOf(m.current()))
	}
}
