package evoke_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"evoke"
	"evoke/extract/message"
	"evoke/store"
)

// Ended events and remembered answers are kept for their days and then dropped; what was stored stays.
func TestOldEntriesOfTheLedgerAreDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("its made-up hours take minutes under the race detector; it runs without -short")
	}
	synctest.Test(t, func(t *testing.T) {
		m, err := evoke.Open(t.Context(), &evoke.Options{LedgerDays: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		who := evoke.Who{User: "ann", Thread: "th"}
		r, err := m.Ingest(t.Context(), evoke.IngestRequest{Who: who, IdempotencyKey: "k", Messages: []message.Message{
			{Role: message.User, Content: "I live in Rome."}, {Role: message.Assistant, Content: "I see."},
		}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Hour)
		if ev, err := m.Event(t.Context(), r.EventID, 0); err != nil || ev.State != store.EventStored {
			t.Errorf("within its days: %+v %v", ev, err)
		}
		time.Sleep(31 * time.Hour)
		if _, err := m.Event(t.Context(), r.EventID, 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("after its days: %v", err)
		}
		if st, err := m.Stats(t.Context(), who); err != nil || st.Total != 3 {
			t.Errorf("%+v %v", st, err)
		}
	})
	if _, err := evoke.Open(t.Context(), &evoke.Options{LedgerDays: 4000}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("4000 days: %v", err)
	}
}
