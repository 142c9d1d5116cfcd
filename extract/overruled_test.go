package extract_test

import (
	"context"
	"testing"
	"testing/synctest"

	"evoke/extract"
	"evoke/store"
)

// reporting is an extractor that tells what it refuses, as those with a model do.
type reporting struct{ name string }

func (r *reporting) Name() string { return r.name }

func (r *reporting) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	op := fact(b.Turns[0], "The user lives in Rome", "home")
	return []extract.Operation{op}, nil
}

func (r *reporting) Report(ctx context.Context, b extract.Batch) (extract.Report, error) {
	ops, err := r.Extract(ctx, b)
	return extract.Report{Operations: ops}, err
}

// What a model says and a second look refuses, as it was not asserted or is of somebody else, waits for a person as what the
// model's answer was refused for does.
func TestWhatASecondLookRefusesWaitsForReview(t *testing.T) {
	for said, reason := range map[string]string{"If I lived in Rome, I would be happy": "not_asserted", "My sister lives in Rome": "other_owner"} {
		synctest.Test(t, func(t *testing.T) {
			db := open(t)
			g, w := line(t, db, &reporting{"model/1"}, extract.WorkerOptions{})
			ev, err := w.Settle(t.Context(), "acme", say(t, g, "a", user(said), assistant("ok")).Event)
			if err != nil || ev.State != store.EventQuarantined || ev.Facts != 0 {
				t.Fatalf("%+v, %v", ev, err)
			}
			page, err := db.ListQuarantined(t.Context(), "acme", store.QuarantineQuery{})
			if err != nil || len(page.Entries) != 1 || page.Entries[0].Reason != reason {
				t.Errorf("%s: %+v, %v", said, page, err)
			}
		})
	}
}
