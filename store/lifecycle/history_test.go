package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// An edit is told as one where it begins and where it ends the version before, and does not rest on the words of a turn that
// the version before was distilled from.
func TestAnEditIsToldAsOne(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	distilled := store.Provenance{Origin: "rules", Extractor: "rules/1", Turns: []string{"t"}, Quote: "I live in Porto"}
	edited := distilled
	edited.Edited = true
	old := store.Item{ID: "a", RecordedAt: at, ClosedAt: at.Add(time.Hour), SupersededBy: "b", Provenance: distilled}
	next := store.Item{ID: "b", RecordedAt: at.Add(time.Hour), Supersedes: "a", Provenance: edited}
	want := []Change{
		{At: at, Did: Added, ID: "a", By: "rules/1", Turns: []string{"t"}, Quote: "I live in Porto"},
		{At: at.Add(time.Hour), Did: Replaced, ID: "a", With: "b", By: "update"},
		{At: at.Add(time.Hour), Did: Added, ID: "b", By: "update"},
	}
	if d := cmp.Diff(want, Changes([]store.Item{old, next})); d != "" {
		t.Error(d)
	}
}
