package evoke

import (
	"errors"
	"strings"
	"testing"

	"evoke/store"
)

// A write that was recorded while the item store was away is there for the next call that reads before it writes: no
// count is lost, nothing that was forgotten comes back, and a retry finds what it stored.
func TestCallsAfterAnOutageSeeWhatWasRecorded(t *testing.T) {
	ctx, who := t.Context(), Who{User: "u"}
	away := func(t *testing.T, f *flaky, call func() error) {
		t.Helper()
		f.down.Store(true)
		defer f.down.Store(false)
		if err := call(); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("while the store is away: %v", err)
		}
	}
	remember := func(m *Memory, id, key string) error {
		_, err := m.Remember(ctx, RememberRequest{Who: who, ID: id, Kind: store.Procedural, Content: "Run the tests of " + id, IdempotencyKey: key})
		return err
	}
	t.Run("forget", func(t *testing.T) {
		m, f := openFlaky(t)
		away(t, f, func() error { return remember(m, "a", "") })
		if res, err := m.Forget(ctx, ForgetRequest{Who: who, All: true}); err != nil || res.Forgotten != 1 {
			t.Errorf("%+v, %v", res, err)
		}
		if err := m.replay(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Get(ctx, who, "a"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("forgotten, and back: %v", err)
		}
	})
	t.Run("counts", func(t *testing.T) {
		m, f := openFlaky(t)
		if err := remember(m, "a", ""); err != nil {
			t.Fatal(err)
		}
		feedback := func() error { _, err := m.Feedback(ctx, FeedbackRequest{Who: who, IDs: []string{"a"}}); return err }
		outcome := func() error {
			_, err := m.Outcome(ctx, OutcomeRequest{Who: who, ID: "a", Outcome: store.Failed})
			return err
		}
		away(t, f, feedback)
		if err := feedback(); err != nil {
			t.Fatal(err)
		}
		away(t, f, outcome)
		if err := outcome(); err != nil {
			t.Fatal(err)
		}
		away(t, f, feedback)
		if _, err := m.Update(ctx, UpdateRequest{Who: who, ID: "a", Importance: ptr(0.9)}); err != nil {
			t.Fatal(err)
		}
		if it, err := m.Get(ctx, who, "a"); err != nil || it.Uses != 3 || it.Outcomes.Failed != 2 || it.Importance != 0.9 {
			t.Errorf("%d uses, %+v, importance %g, %v", it.Uses, it.Outcomes, it.Importance, err)
		}
	})
	t.Run("retry", func(t *testing.T) {
		m, f := openFlaky(t)
		away(t, f, func() error { return remember(m, "a", "key") })
		if err := remember(m, "a", "key"); err != nil {
			t.Errorf("a retry under the key: %v", err)
		}
	})
	t.Run("import", func(t *testing.T) {
		m, f := openFlaky(t)
		line := `{"id":"a","kind":"semantic","content":"Likes tea.","valid_from":"2026-01-01T00:00:00Z"}`
		away(t, f, func() error { _, err := m.Import(ctx, who, strings.NewReader(line), nil); return err })
		if res, err := m.Import(ctx, who, strings.NewReader(line), nil); err != nil || res.Same != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
