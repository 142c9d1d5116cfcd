package evoke

import (
	"errors"
	"testing"
	"time"

	"evoke/store"
)

// A schedule starts its operation once whenever its time has come, over restarts and with a clock that goes ahead and back.
func TestSchedules(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now)
	dir := t.TempDir()
	life := func(f func(m *Memory)) {
		m, err := Open(t.Context(), &Options{Path: dir, Clock: clock.now, Tenant: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		f(m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	started := 0
	due := func(m *Memory, want int) {
		t.Helper()
		for range 2 { // the second finds nothing due
			if err := m.startDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			res, err := m.Operations(t.Context(), OperationsRequest{Kind: retainKind})
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range res.Operations {
				if _, err := m.WaitOperation(t.Context(), op.ID); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(res.Operations) - started; got != want {
				t.Fatalf("at %v: %d were started, want %d", clock.now(), got, want)
			}
		}
		started += want
	}
	life(func(m *Memory) {
		for name, s := range map[string]Schedule{"unknown": {Name: "x", EveryHours: 1}, "never": {Name: "retain"}, "late": {Name: "retain", EveryHours: 1, Next: now.Add(3 * time.Hour)}} {
			if _, err := m.SetSchedule(t.Context(), s); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s, err := m.SetSchedule(t.Context(), Schedule{Name: "retain", EveryHours: 24}); err != nil || !s.Next.Equal(now.Add(24*time.Hour)) {
			t.Fatal(s, err)
		}
		due(m, 0)
	})
	clock.set(now.Add(23 * time.Hour))
	life(func(m *Memory) { due(m, 0) })
	clock.set(now.Add(24 * time.Hour))
	life(func(m *Memory) { due(m, 1) })
	life(func(m *Memory) { due(m, 0) })
	clock.set(now.Add(24 * 400 * time.Hour)) // it was away, or the clock went ahead: once
	life(func(m *Memory) {
		due(m, 1)
		list, err := m.Schedules(t.Context())
		if err != nil || len(list) != 1 || !list[0].Next.Equal(clock.now().Add(24*time.Hour)) || !list[0].Last.Equal(clock.now()) {
			t.Errorf("%+v, %v", list, err)
		}
	})
	clock.set(now.Add(30 * time.Hour)) // and back
	life(func(m *Memory) { due(m, 0) })
	clock.set(now.Add(54 * time.Hour)) // no later than once its hours
	life(func(m *Memory) {
		due(m, 1)
		if err := m.DropSchedule(t.Context(), "retain"); err != nil {
			t.Error(err)
		}
		if err := m.DropSchedule(t.Context(), "retain"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("dropped twice: %v", err)
		}
		if err := m.DropSchedule(t.Context(), "purge"); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("the purge dropped: %v", err)
		}
	})
	clock.set(now.Add(1000 * time.Hour))
	life(func(m *Memory) { due(m, 0) })
}

// An operation that a crash kept from being noted with its schedule is found, and not started again.
func TestScheduleFindsWhatItStarted(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now)
	m := open(t, &Options{Clock: clock.now})
	if _, err := m.SetSchedule(t.Context(), Schedule{Name: "retain", EveryHours: 1}); err != nil {
		t.Fatal(err)
	}
	clock.set(now.Add(time.Hour))
	op, err := m.Retain(WithActor(t.Context(), Actor{Name: schedulerName}), RetainRequest{}) // and the process ends here
	if err != nil {
		t.Fatal(err)
	}
	if err := m.startDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := m.Schedules(t.Context())
	if err != nil || list[0].Operation != op.ID || !list[0].Next.Equal(now.Add(2*time.Hour)) {
		t.Errorf("%+v, %v, want %s", list, err, op.ID)
	}
	if res, err := m.Operations(t.Context(), OperationsRequest{Kind: retainKind}); err != nil || len(res.Operations) != 1 {
		t.Errorf("%d operations, %v", len(res.Operations), err)
	}
}

// Turns may be kept until a time; what is distilled from them outlives them. Nothing of a disabled tenant is started.
func TestTurnsThatExpire(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now)
	m := open(t, &Options{Clock: clock.now})
	who := Who{User: "ann", Thread: "t"}
	r := IngestRequest{Who: who, Messages: chat("I live in Oslo.", "Noted."), ExpiresAt: now.AddDate(0, 0, 1)}
	if _, err := m.Ingest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	if st, err := m.Stats(t.Context(), who); err != nil || st.Episodic != 2 || st.Semantic != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	clock.set(now.AddDate(0, 0, 1))
	if st, err := m.Stats(t.Context(), who); err != nil || st.Episodic != 0 || st.Semantic != 1 {
		t.Errorf("when they have expired: %+v, %v", st, err)
	}
	list, err := m.Schedules(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != purgeKind {
		t.Fatalf("%+v, %v", list, err)
	}
	clock.set(now.AddDate(0, 0, 32))
	if _, err := m.Installation().CreateTenant(t.Context(), m.Tenant()); err != nil && !errors.Is(err, store.ErrConflict) {
		t.Fatal(err)
	}
	if _, err := m.Installation().DisableTenant(t.Context(), m.Tenant()); err != nil {
		t.Fatal(err)
	}
	if err := m.startDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ops, err := m.Operations(t.Context(), OperationsRequest{Kind: purgeKind}); err != nil || len(ops.Operations) != 0 {
		t.Fatal("of a disabled tenant:", len(ops.Operations), err)
	}
	if _, err := m.Installation().EnableTenant(t.Context(), m.Tenant()); err != nil {
		t.Fatal(err)
	}
	if err := m.startDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	ops, err := m.Operations(t.Context(), OperationsRequest{Kind: purgeKind})
	if err != nil || len(ops.Operations) != 1 {
		t.Fatal(len(ops.Operations), err)
	}
	if _, err := m.WaitOperation(t.Context(), ops.Operations[0].ID); err != nil {
		t.Fatal(err)
	}
	if ids := all(t, m, Who{User: "ann"}); len(ids) != 1 {
		t.Errorf("after the purge: %v", ids)
	}
}
