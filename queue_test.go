package evoke

import (
	"context"
	"errors"
	"testing"
	"time"

	"evoke/extract"
	"evoke/store"
)

// slow is an extractor that waits until it is let go.
type slow struct{ begun, release chan struct{} }

func (*slow) Name() string { return "slow/1" }

func (x *slow) Extract(ctx context.Context, _ extract.Batch) ([]extract.Operation, error) {
	x.begun <- struct{}{}
	select {
	case <-x.release:
	case <-ctx.Done():
	}
	return nil, ctx.Err()
}

func TestPauseHoldsTheTenantsQueueAlsoAfterARestart(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	who := Who{User: "ann", Thread: "t"}
	start := func() *Memory {
		m, err := Open(ctx, &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := start()
	for range 2 { // again is no mistake
		if err := m.Pause(ctx); err != nil {
			t.Fatal(err)
		}
	}
	in, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat("I work as a nurse in Leeds.", "Good.")})
	if err != nil || in.State != store.EventPending {
		t.Fatalf("%+v, %v", in, err)
	}
	if _, err := m.Flush(ctx, who); !errors.Is(err, store.ErrConflict) {
		t.Errorf("flush of a paused queue: %v", err)
	}
	if _, err := m.FlushAll(ctx); !errors.Is(err, store.ErrConflict) {
		t.Errorf("flush of all of a paused queue: %v", err)
	}
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Ingest(ctx, IngestRequest{Who: who, Messages: chat("I work as a baker in Hull.", "Good.")}); err != nil {
		t.Fatal(err)
	}
	if n, err := other.Flush(ctx, who); err != nil || n != 1 {
		t.Errorf("another tenant's queue: %d, %v", n, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = start()
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	if st, err := m.QueueStats(ctx); err != nil || !st.Paused || st.Waiting != 1 {
		t.Errorf("after a restart %+v, %v", st, err)
	}
	for range 2 {
		if err := m.Resume(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := m.Flush(ctx, who); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if ev, err := m.Event(ctx, in.EventID, 10*time.Second); err != nil || ev.State != store.EventStored {
		t.Errorf("%+v, %v", ev, err)
	}
	if st, err := m.QueueStats(ctx); err != nil || st.Paused || st.Waiting != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestDrainWaitsForWhatRuns(t *testing.T) {
	x := &slow{begun: make(chan struct{}, 1), release: make(chan struct{})}
	m := open(t, &Options{Extractor: x})
	who := Who{User: "ann", Thread: "t"}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I work as a nurse in Leeds.", "Good.")})
	if err != nil {
		t.Fatal(err)
	}
	flushed := make(chan error, 1)
	go func() { _, err := m.Flush(context.Background(), who); flushed <- err }()
	<-x.begun
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Drain(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("drained while an extraction runs: %v", err)
	}
	close(x.release)
	if err := m.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	if ev, err := m.Event(t.Context(), in.EventID, 0); err != nil || ev.State != store.EventNothing {
		t.Errorf("%+v, %v", ev, err)
	}
	if st, err := m.QueueStats(t.Context()); err != nil || !st.Paused || st.Leased != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}
