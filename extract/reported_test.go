package extract

import (
	"testing"
	"time"

	"evoke/store"
)

// What a conversation tells of how a way of working went is counted, once a turn; of facts nothing is.
func TestOutcomesThatConversationsTell(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	says := func(turn string, kind store.Kind, how Outcome) Operation {
		op := m.turn(turn, "To release, run the tests, then tag", "")
		op.Kind, op.Category, op.Outcome, op.At = kind, store.Behavior, how, day0.Add(time.Duration(turn[0])*time.Hour)
		return op
	}
	m.take(says("a", store.Procedural, Succeeded))
	m.take(says("b", store.Procedural, Failed), says("b", store.Procedural, Failed))
	m.take(says("c", store.Procedural, ""), says("d", store.Procedural, "perhaps"))
	m.take(says("e", store.Semantic, Failed))
	for _, it := range m.current() {
		want := store.Outcomes{}
		if it.Kind == store.Procedural {
			want = store.Outcomes{Succeeded: 1, Failed: 1, Last: store.Failed, LastAt: day0.Add('b' * time.Hour)}
		}
		if it.Outcomes != want {
			t.Errorf("%s %q: %+v, want %+v", it.Kind, it.Content, it.Outcomes, want)
		}
	}
	if n := len(m.current()); n != 2 {
		t.Errorf("%d items", n)
	}
}
