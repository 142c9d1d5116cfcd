package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// held puts an operation into quarantine and returns the entry's id.
func held(t *testing.T, db *sqlitestore.DB, id, turn string, op any) string {
	t.Helper()
	b, err := json.Marshal(op)
	if err != nil {
		t.Fatal(err)
	}
	q := store.Quarantined{ID: id, Scope: ann, Event: "e", Thread: "t", Turn: turn, Extractor: "llm/1", Reason: "ungrounded", Operation: b, At: time.Now()}
	if err := store.Commit(context.Background(), db, db, store.Write{ID: "w" + id, Scope: ann, Quarantine: []store.Quarantined{q}}); err != nil {
		t.Fatal(err)
	}
	return id
}

// reviewer is a worker that nobody started, over a thread of one exchange.
func reviewer(t *testing.T) (*sqlitestore.DB, *extract.Worker, string) {
	t.Helper()
	db := open(t)
	r := say(t, ingester(t, db, nil), "t", message.Message{Role: message.User, Content: "If I had a boat I would name it Wanda."},
		message.Message{Role: message.Assistant, Content: "Nice."})
	w, err := extract.NewWorker(db, db, rules.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return db, w, r.Turns[0].ID
}

func TestApproveStores(t *testing.T) {
	for name, op := range map[string]extract.Operation{
		"ungrounded":     {Action: extract.Add, Kind: store.Semantic, Category: store.Knowledge, Content: "Has a boat.", Quote: "my boat", Speaker: "user", Confidence: 0.9, Importance: 0.6},
		"not asserted":   {Action: extract.Add, Kind: store.Semantic, Content: "Has a boat.", Quote: "If I had a boat", Confidence: 0.9, Modality: extract.Hypothetical},
		"not sure":       {Action: extract.Add, Kind: store.Semantic, Content: "Has a boat.", Quote: "a boat", Confidence: 0.1},
		"no kind":        {Action: extract.Add, Content: "Has a boat.", Confidence: 7, Importance: -1, Category: "vehicles"},
		"unknown target": {Action: extract.Supersede, Target: "none", Kind: store.Semantic, Content: "Has a boat.", Quote: "a boat", Confidence: 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			db, w, turn := reviewer(t)
			id := held(t, db, "q", turn, op)
			got, err := w.Approve(t.Context(), "acme", id)
			if err != nil || len(got) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			facts := factsOf(t, db)
			if len(facts) != 1 || facts[0].Content != "Has a boat." || facts[0].ID != got[0].ID {
				t.Fatalf("%+v", facts)
			}
			p := facts[0].Provenance
			if p.Origin != "review" || p.Extractor != "review/llm/1" || !slices.Equal(p.Turns, []string{turn}) {
				t.Errorf("provenance %+v", p)
			}
			if grounded := op.Quote == "a boat" || op.Quote == "If I had a boat"; grounded && p.Quote != op.Quote || !grounded && p.Quote != "" {
				t.Errorf("quote %q", p.Quote)
			}
			if _, err := w.Approve(t.Context(), "acme", id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

func TestApproveReconciles(t *testing.T) {
	db, w, turn := reviewer(t)
	op := extract.Operation{Action: extract.Add, Kind: store.Semantic, Category: store.Context, Content: "Lives in Rome.", Speaker: "user", Subject: "home", Exclusive: true, Confidence: 0.9}
	next := op
	next.Content = "Lives in Oslo."
	first, second, again := held(t, db, "q1", turn, op), held(t, db, "q2", turn, next), held(t, db, "q3", turn, next)
	for _, id := range []string{first, second, again} {
		if _, err := w.Approve(t.Context(), "acme", id); err != nil {
			t.Fatal(err)
		}
	}
	if facts := factsOf(t, db); len(facts) != 1 || facts[0].Content != "Lives in Oslo." || facts[0].Supersedes == "" {
		t.Errorf("%+v, want the later home alone, linked to the former", facts)
	}
}

func TestApproveRefuses(t *testing.T) {
	db, w, turn := reviewer(t)
	ctx := context.Background()
	good := extract.Operation{Action: extract.Add, Kind: store.Semantic, Content: "Has a boat.", Confidence: 0.9}
	for name, c := range map[string]struct {
		op   any
		turn string
		want error
	}{
		"retracts nothing":    {extract.Operation{Action: extract.Retract, Target: "none", Confidence: 0.9}, turn, store.ErrInvalid},
		"says nothing":        {extract.Operation{Action: extract.Add, Kind: store.Semantic, Content: " "}, turn, store.ErrInvalid},
		"no action":           {extract.Operation{Content: "x"}, turn, store.ErrInvalid},
		"of a turn not there": {good, "gone", store.ErrInvalid},
		"not an operation":    {[]string{"x"}, turn, store.ErrCorrupt},
	} {
		id := held(t, db, name, c.turn, c.op)
		if _, err := w.Approve(ctx, "acme", id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, err := db.GetQuarantined(ctx, "acme", id); err != nil {
			t.Errorf("%s: the entry is gone: %v", name, err)
		}
	}
	id := held(t, db, "mine", turn, good)
	foreign, unknown := errorOf(w.Approve(ctx, "rival", id)), errorOf(w.Approve(ctx, "rival", "unknown"))
	if !errors.Is(foreign, store.ErrNotFound) || foreign.Error() != unknown.Error() {
		t.Errorf("another tenant's entry: %v; an unknown one: %v", foreign, unknown)
	}
	if err := db.Apply(ctx, ann, store.Change{Delete: []string{turn}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Approve(ctx, "acme", id); err == nil {
		t.Error("an operation of a forgotten turn is stored")
	}
	if facts := factsOf(t, db); len(facts) != 0 {
		t.Errorf("%+v", facts)
	}
}

func errorOf(_ []store.Item, err error) error { return err }

// TestApproveAtOnce: however many approve one entry, it is stored once.
func TestApproveAtOnce(t *testing.T) {
	db, w, turn := reviewer(t)
	id := held(t, db, "q", turn, extract.Operation{Action: extract.Add, Kind: store.Semantic, Content: "Has a boat.", Confidence: 0.9})
	var wg sync.WaitGroup
	done := make(chan error, 8)
	for range cap(done) {
		wg.Go(func() {
			_, err := w.Approve(context.Background(), "acme", id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("want not found: %w", err)
			}
			done <- err
		})
	}
	wg.Wait()
	close(done)
	stored := 0
	for err := range done {
		if err == nil {
			stored++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	if facts := factsOf(t, db); stored != 1 || len(facts) != 1 {
		t.Errorf("%d approvals, %d facts", stored, len(facts))
	}
}
