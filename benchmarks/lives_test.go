package benchmarks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A life is a list of changes to what is true of one user, in the words of a chat. Its fixture says what can change
// (slots with values and states), how it may be said, and which of these ways the rule extractor is meant to
// understand; that mark is part of the fixture, set before any run.
type life struct {
	Assistant string
	Slots     []lifeSlot
	Others    []lifeOther
}

type lifeSlot struct {
	Slot   string
	Each   bool // every value has a state of its own; otherwise the slot has one value
	Rounds int
	Values []string
	States map[string]lifeState
	Say    []lifeSay
}

type lifeState struct {
	Content  string // what a good extractor stores; "": nothing is so any more
	Holds    string // what a fact that says so contains
	Kind     string
	Category string
}

type lifeSay struct {
	Text    string // with {v} and, in corrections, {old}
	State   string
	Covered bool
}

// lifeOther changes nothing: another person's fact, a supposition, a question, a quotation.
type lifeOther struct {
	Text   string
	Values []string
	Kind   string
}

// change is one step of a life.
type change struct {
	Text    string
	Covered bool
	Kind    string // "change", or why nothing changes
	Subject string // what it is about: the slot, or the slot and the value; "" when nothing changes
	State   *lifeState
	Value   string
	Against []string // what no current fact may hold afterwards
	Again   bool     // the state is what it was: it is said again
}

func loadLife(t *testing.T, lang string) *life {
	t.Helper()
	b, err := os.ReadFile("testdata/lives/" + lang + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var l life
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	return &l
}

// changes writes the life out: the slots take turns; within one, every fifth change returns to an older value and every
// fifth says again what is so; after every third change something is said that changes nothing.
func (l *life) changes() []change {
	var out []change
	at := make([]slotState, len(l.Slots))
	others := 0
	for n := 0; ; n++ {
		left := false
		for i := range l.Slots {
			if n >= l.Slots[i].Rounds {
				continue
			}
			left = true
			out = append(out, at[i].next(&l.Slots[i], n))
			if len(out)%4 == 3 {
				out = append(out, l.Others[others%len(l.Others)].change(others/len(l.Others)))
				others++
			}
		}
		if !left {
			return out
		}
	}
}

func (o *lifeOther) change(round int) change {
	text := o.Text
	if len(o.Values) > 0 {
		text = strings.ReplaceAll(text, "{v}", o.Values[round%len(o.Values)])
	}
	return change{Text: text, Covered: true, Kind: o.Kind}
}

// slotState is where a slot stands while a life is written out.
type slotState struct {
	said    []int // values, in the order in which they were said
	fresh   int
	known   int // the last value said in covered words, + 1; 0: none
	current map[string]string
}

func (s *slotState) next(slot *lifeSlot, n int) change {
	if s.current == nil {
		s.current = map[string]string{}
	}
	v := s.fresh % len(slot.Values)
	switch {
	case n%5 == 2 && len(s.said) > 1:
		v = s.said[len(s.said)-2]
	case n%5 == 4 && len(s.said) > 0:
		v = s.said[len(s.said)-1]
	default:
		s.fresh++
	}
	say := slot.Say[n%len(slot.Say)]
	if strings.Contains(say.Text, "{old}") && (s.known == 0 || s.known-1 == v && !strings.Contains(slot.States[say.State].Content+"{v}", "{v}")) || strings.Contains(say.Text, "{old}") && strings.Contains(say.Text, "{v}") && s.known-1 == v {
		say = slot.Say[0]
	}
	if say.State == "" {
		say.State = "is"
	}
	st := slot.States[say.State]
	old := ""
	if strings.Contains(say.Text, "{old}") {
		old = slot.Values[s.known-1]
		if !strings.Contains(say.Text, "{v}") {
			v = s.known - 1
		}
	}
	value := slot.Values[v]
	c := change{
		Text: strings.NewReplacer("{v}", value, "{old}", old).Replace(say.Text), Covered: say.Covered, Kind: "change",
		Subject: slot.Slot, State: &st, Value: value,
	}
	if slot.Each {
		c.Subject += ":" + value
	}
	want := strings.ReplaceAll(st.Holds, "{v}", value)
	for _, other := range slot.States {
		for _, ov := range slot.Values {
			if slot.Each && ov != value {
				continue
			}
			if h := strings.ReplaceAll(other.Holds, "{v}", ov); h != "" && h != want {
				c.Against = append(c.Against, h)
			}
		}
	}
	c.Again = s.current[c.Subject] == want && want != ""
	s.current[c.Subject] = want
	s.said = append(s.said, v)
	s.known = 0
	if say.Covered && st.Content != "" {
		s.known = v + 1
	}
	return c
}

// holds is what a fact that says so contains, and content what a good extractor stores.
func (c *change) holds() string {
	if c.State == nil {
		return ""
	}
	return strings.ReplaceAll(c.State.Holds, "{v}", c.Value)
}

func (c *change) content() string { return strings.ReplaceAll(c.State.Content, "{v}", c.Value) }

func TestLivesAreLongAndMostlyCovered(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		covered, changes, nothing, again := 0, 0, 0, 0
		said := map[string]int{}
		all := loadLife(t, lang).changes()
		for _, c := range all {
			said[c.Text]++
			if c.Covered {
				covered++
			}
			if c.Again {
				again++
			}
			if c.Subject == "" {
				nothing++
			} else {
				changes++
			}
		}
		share := float64(covered) / float64(len(all))
		t.Logf("%s: %d steps, %d of them changes (%d said again), %d that change nothing; covered %d = %.0f %%; %d different sentences", lang, len(all), changes, again, nothing, covered, 100*share, len(said))
		if changes < 200 || share < 0.6 {
			t.Errorf("%s: %d steps, %d changes, %.2f covered", lang, len(all), changes, share)
		}
	}
}
