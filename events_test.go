package evoke

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

// moody fails for good until it is told to work.
type moody struct {
	extract.Extractor
	works atomic.Bool
}

func (x *moody) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	if !x.works.Load() {
		return nil, errors.New("not today")
	}
	return x.Extractor.Extract(ctx, b)
}

// What was given up is listed and extracted again on demand, though the conversation went on behind it.
func TestRetryEvents(t *testing.T) {
	ctx := t.Context()
	x := &moody{Extractor: rules.New(nil)}
	m := open(t, &Options{Extractor: x})
	who := Who{User: "ann", Thread: "t"}
	say := func(want store.EventState, lines ...string) string {
		t.Helper()
		res, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat(lines...)})
		if err != nil {
			t.Fatal(err)
		}
		if st, err := m.QueueStats(ctx); err != nil || st.Waiting+st.Leased != 1 {
			t.Errorf("queue %+v (%v)", st, err)
		}
		if _, err := m.Flush(ctx, who); err != nil {
			t.Fatal(err)
		}
		if ev, err := m.Event(ctx, res.EventID, 10*time.Second); err != nil || ev.State != want {
			t.Fatalf("%s (%s), want %s: %v", ev.State, ev.Note, want, err)
		}
		return res.EventID
	}
	lost := say(store.EventDead, "I prefer window seats on long flights.", "Noted.")
	x.works.Store(true)
	kept := say(store.EventStored, "I work as a nurse in Leeds.", "Good to know.")
	page, err := m.Events(ctx, EventsRequest{State: store.EventDead})
	if err != nil || len(page.Events) != 1 || page.Events[0].ID != lost || page.Events[0].User != "ann" {
		t.Fatalf("dead events %+v (%v)", page.Events, err)
	}
	want := map[store.EventState]int{store.EventDead: 1, store.EventStored: 1, store.EventPending: 0, store.EventNothing: 0, store.EventQuarantined: 0}
	if diff := cmp.Diff(want, page.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	facts := func() int {
		t.Helper()
		st, err := m.Stats(ctx, who)
		if err != nil {
			t.Fatal(err)
		}
		return st.Semantic
	}
	before := facts()
	res, err := m.RetryEvents(ctx, []string{lost, kept, "unknown"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(RetryResult{Revived: 1, Skipped: []string{kept, "unknown"}}, res); diff != "" {
		t.Errorf("retried (-want +got):\n%s", diff)
	}
	if ev, err := m.Event(ctx, lost, 10*time.Second); err != nil || ev.State != store.EventStored {
		t.Errorf("the retried event is %s (%s), %v", ev.State, ev.Note, err)
	}
	if after := facts(); after != before+1 {
		t.Errorf("%d facts, want the lost one beside the %d", after, before)
	}
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if res, err := other.RetryEvents(ctx, []string{lost}); err != nil || res.Revived != 0 {
		t.Errorf("another tenant retried %+v (%v)", res, err)
	}
	if page, err := other.Events(ctx, EventsRequest{}); err != nil || len(page.Events) != 0 {
		t.Errorf("another tenant sees %+v (%v)", page.Events, err)
	}
	if _, err := m.Events(ctx, EventsRequest{State: "lost"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an unknown state: %v", err)
	}
}

// Whoever counts extractions hears of each once, with what came of it.
func TestExtractionsAreTold(t *testing.T) {
	ctx := t.Context()
	var mu sync.Mutex
	told := map[store.EventState]int{}
	facts := 0
	m := open(t, &Options{Events: &Events{Extracted: func(n int, state store.EventState) {
		mu.Lock()
		defer mu.Unlock()
		told[state]++
		facts += n
	}}})
	for i, line := range []string{"I work as a nurse in Leeds.", "What is the weather like there today?", "I prefer window seats on long flights."} {
		who := Who{User: "ann", Thread: strconv.Itoa(i)}
		if _, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat(line, "Good to know.")}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(ctx, who); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := m.Events(ctx, EventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, ev := range counts.Events {
		want += ev.Facts
	}
	mu.Lock()
	defer mu.Unlock()
	if d := cmp.Diff(map[store.EventState]int{store.EventStored: 2, store.EventNothing: 1}, told); d != "" || facts != want || facts < 2 {
		t.Errorf("%s, %d facts, the events have %d", d, facts, want)
	}
}
