package evoke

import (
	"errors"
	"strings"
	"testing"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

const deerFile = `{"user":{"workContext":{"summary":"Builds bridges.","updatedAt":"2026-03-01T10:00:00Z"}},
"facts":[{"id":"f1","content":"The user likes green tea","category":"preference","confidence":0.9,"createdAt":"2026-01-02T03:04:05Z"},
{"id":"f2","content":"","category":"preference"}, {"id":"f3","content":"The user lives in Chengdu","category":"knowledge","confidence":0.8,"createdAt":"2026-01-02T03:04:05Z"}]}`

// A foreign file is found by recall, once, however often it is imported; its sections are the profile's.
func TestImportFrom(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "alice"}
	for round, want := range []ImportResult{{Imported: 3, FailedN: 1}, {Same: 3, FailedN: 1}} {
		res, err := m.ImportFrom(t.Context(), who, foreign.DeerFlow, strings.NewReader(deerFile), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Imported != want.Imported || res.Same != want.Same || res.FailedN != want.FailedN || res.Failed[0].Line != 8 {
			t.Errorf("round %d: %+v, want %+v", round, res, want)
		}
	}
	got, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "which tea?"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Hits) == 0 || got.Hits[0].Item.ID != "deer-flow:f1" || got.Hits[0].Item.Category != store.Preference {
		t.Errorf("hits %+v", got.Hits)
	}
	profile, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if err != nil {
		t.Fatal(err)
	}
	if len(profile.Sections) == 0 || profile.Sections[0].Content != "Builds bridges." {
		t.Errorf("profile %+v", profile)
	}
	other := strings.NewReader(`{"facts":[],"user":{"workContext":{"summary":"Paints."}}}`)
	if res, err := m.ImportFrom(t.Context(), who, foreign.DeerFlow, other, nil); err != nil || res.FailedN != 1 {
		t.Errorf("another section of that name: %+v, %v", res, err)
	}
	if _, err := m.ImportFrom(t.Context(), who, foreign.ChatGPT, strings.NewReader(deerFile), nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a file of another format: %v", err)
	}
}
