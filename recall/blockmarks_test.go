package recall

import (
	"strings"
	"testing"

	"evoke/store"
)

// A section that rested on something forgotten may still tell of it, and is left out until it is written anew.
func TestAStaleSectionIsInNoBlock(t *testing.T) {
	f := furnished()
	stale := section("top_of_mind", "Wants to forget the fire.")
	stale.MarkProfileStale()
	f.add(alice, stale)
	b := block(t, f, BlockRequest{Request: Request{Query: "Where did I buy the hide glue?"}})
	if strings.Contains(b.Text, "fire") || !strings.Contains(b.Text, "[profile/work]") {
		t.Errorf("%s", b.Text)
	}
}

// A way of working tells how it went so far; its line is an echo like any other.
func TestOutcomesInABlock(t *testing.T) {
	f := newFake()
	it := store.Item{ID: "w", Kind: store.Procedural, Content: "To glue a bridge, heat the hide glue first", Importance: 0.5, Confidence: 0.9, RecordedAt: now, ValidFrom: now}
	it.Outcomes.Count(store.Succeeded, now)
	it.Outcomes.Count(store.Succeeded, now)
	it.Outcomes.Count(store.Failed, now)
	f.add(alice, it)
	b := block(t, f, BlockRequest{Request: Request{Query: "How do I glue a bridge with hide glue?"}})
	line := "[2026-06-15 procedural worked=2/3 last=failed] To glue a bridge, heat the hide glue first"
	if !strings.Contains(b.Text, line) {
		t.Errorf("%s", b.Text)
	}
	found := false
	for _, e := range FindEchoes("- " + line) {
		found = found || e.Key == EchoKey(&it)
	}
	if !found {
		t.Error("its line is no echo")
	}
}
