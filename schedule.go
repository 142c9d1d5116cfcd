package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"evoke/store"
)

// Schedule has an operation start again and again. Its next time is kept with the memories, so that it neither is lost nor
// comes twice when a process ends.
type Schedule struct {
	Name       string    `json:"name"`                // of what is started: see SetSchedule
	EveryHours int       `json:"every_hours"`         // 1–8760
	Next       time.Time `json:"next"`                // when it starts next; what was missed is made up for once
	Last       time.Time `json:"last,omitzero"`       // when it started last
	Operation  string    `json:"operation,omitempty"` // what it started last
}

const (
	scheduleKind  = "schedule"
	schedulerName = "schedule" // the actor of what a schedule starts
	maxEveryHours = 8760
	scheduleTick  = time.Minute
	scheduleFirst = 5 * time.Second
)

// scheduled is the table of what can be scheduled.
func (e *engine) scheduled() map[string]func(m *Memory, ctx context.Context) (store.Operation, error) {
	return map[string]func(m *Memory, ctx context.Context) (store.Operation, error){
		purgeKind: (*Memory).Purge,
		consolidateKind: func(m *Memory, ctx context.Context) (store.Operation, error) {
			return m.Consolidate(ctx, ConsolidateRequest{})
		},
		retainKind: func(m *Memory, ctx context.Context) (store.Operation, error) { return m.Retain(ctx, RetainRequest{}) },
	}
}

func (s *Schedule) every() time.Duration { return time.Duration(s.EveryHours) * time.Hour }

// Schedules lists the tenant's schedules, by name. That of the purge is made with the first thing that can come due.
func (m *Memory) Schedules(ctx context.Context) ([]Schedule, error) {
	list, err := m.ledger.Settings(ctx, m.tenant, scheduleKind)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	out := make([]Schedule, len(list))
	for i := range list {
		if err := json.Unmarshal(list[i].Value, &out[i]); err != nil {
			return nil, fmt.Errorf("read schedule %s: %w", list[i].Name, store.ErrCorrupt)
		}
	}
	return out, nil
}

// SetSchedule has what it names ("consolidate", "retain", "purge") start every so many hours, first at Next, zero for when
// that time has passed once. It takes the place of the schedule of that name.
func (m *Memory) SetSchedule(ctx context.Context, s Schedule) (_ Schedule, err error) {
	defer func() {
		m.audit(ctx, deed("set schedule", Who{}, err, map[string]int{"every_hours": s.EveryHours}, s.Name))
	}()
	names := slices.Sorted(maps.Keys(m.scheduled()))
	if !slices.Contains(names, s.Name) {
		return Schedule{}, store.Invalid("name", "one of "+strings.Join(names, ", "), fmt.Sprintf("%.40q", s.Name))
	}
	if s.EveryHours < 1 || s.EveryHours > maxEveryHours {
		return Schedule{}, store.Invalid("every_hours", fmt.Sprintf("from 1 to %d", maxEveryHours), fmt.Sprint(s.EveryHours))
	}
	now := m.now()
	if s.Next.IsZero() {
		s.Next = now.Add(s.every())
	}
	if s.Next = s.Next.UTC().Truncate(time.Microsecond); s.Next.Before(now.Add(-time.Minute)) || s.Next.After(now.Add(s.every())) {
		return Schedule{}, store.Invalid("next", "a time to come, no later than every_hours from now", "")
	}
	at, old, err := m.scheduleOf(ctx, s.Name)
	if err != nil {
		return Schedule{}, err
	}
	s.Last, s.Operation = old.Last, old.Operation
	return s, m.saveSchedule(ctx, at, s)
}

// DropSchedule ends a schedule, or is ErrNotFound. That of the purge can be made rarer, not ended: what was softly forgotten
// was promised to go.
func (m *Memory) DropSchedule(ctx context.Context, name string) (err error) {
	defer func() { m.audit(ctx, deed("drop schedule", Who{}, err, nil, name)) }()
	if name == purgeKind {
		return store.Invalid("name", "another than purge, which can be made rarer but not ended", "")
	}
	if err := store.ValidateName("name", name); err != nil {
		return err
	}
	if err := m.ledger.DropSetting(ctx, m.tenant, scheduleKind, name); errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: no schedule %q", store.ErrNotFound, name)
	} else if err != nil {
		return fmt.Errorf("drop schedule: %w", err)
	}
	return nil
}

// scheduleOf reads a schedule and its record; both are new when there is none.
func (m *Memory) scheduleOf(ctx context.Context, name string) (store.Setting, Schedule, error) {
	fresh := store.Setting{Tenant: m.tenant, Kind: scheduleKind, Name: name}
	list, err := m.ledger.Settings(ctx, m.tenant, scheduleKind)
	if err != nil {
		return fresh, Schedule{}, fmt.Errorf("read schedules: %w", err)
	}
	for _, at := range list {
		if at.Name != name {
			continue
		}
		var s Schedule
		if err := json.Unmarshal(at.Value, &s); err != nil {
			return fresh, s, fmt.Errorf("read schedule %s: %w", name, store.ErrCorrupt)
		}
		return at, s, nil
	}
	return fresh, Schedule{}, nil
}

func (m *Memory) saveSchedule(ctx context.Context, at store.Setting, s Schedule) error {
	value, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode schedule: %w", err)
	}
	at.Value, at.At = value, m.now()
	if _, err := m.ledger.SaveSetting(ctx, at); err != nil {
		return fmt.Errorf("save schedule: %w", err)
	}
	return nil
}

// purges are the tenants whose purge is known to be scheduled.
type purges struct{ known sync.Map }

// schedulePurge sees to it that what a tenant has that can come due goes some day.
func (m *Memory) schedulePurge(ctx context.Context) error {
	if _, ok := m.purges.known.Load(m.tenant); ok {
		return nil
	}
	at, s, err := m.scheduleOf(ctx, purgeKind)
	if err != nil {
		return err
	}
	if s.Name == "" {
		s = Schedule{Name: purgeKind, EveryHours: 24, Next: m.now().Add(24 * time.Hour)}
		if err := m.saveSchedule(ctx, at, s); err != nil && !errors.Is(err, store.ErrConflict) { // another was faster
			return err
		}
	}
	m.purges.known.Store(m.tenant, true)
	return nil
}

// mayComeDue reports whether a write has something for the purge.
func mayComeDue(w *store.Write) bool {
	return slices.ContainsFunc(w.Put, func(it store.Item) bool { return !it.ExpiresAt.IsZero() || !it.Aside.PurgeAt.IsZero() })
}

// startSchedules runs the loop that starts what is due.
func (e *engine) startSchedules(log *slog.Logger) {
	e.background(func(ctx context.Context) {
		t := time.NewTimer(scheduleFirst)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if err := e.startDue(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "scheduled work was not started", "error", err)
			}
			t.Reset(scheduleTick)
		}
	})
}

// startDue starts what is due, of all tenants.
func (e *engine) startDue(ctx context.Context) error {
	list, err := e.ledger.Settings(ctx, "*", scheduleKind)
	if err != nil {
		return fmt.Errorf("read schedules: %w", err)
	}
	var errs []error
	for _, at := range list {
		m := &Memory{engine: e, tenant: at.Tenant}
		if err := m.startOne(WithActor(ctx, Actor{Name: schedulerName}), at); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", at.Name, err))
		}
	}
	return errors.Join(errs...)
}

// startOne starts what one schedule names when it is due, and sets its next time. A clock that went back does not keep it
// waiting longer than once its hours, and one that went ahead has it start once, however many times passed. What a crash
// kept from being noted is found by its actor and not started again.
func (m *Memory) startOne(ctx context.Context, at store.Setting) error {
	var s Schedule
	if err := json.Unmarshal(at.Value, &s); err != nil {
		return fmt.Errorf("read schedule: %w", store.ErrCorrupt)
	}
	start := m.scheduled()[s.Name]
	if start == nil || s.EveryHours < 1 {
		return nil // of a newer version of the program
	}
	if m.enabled(m.tenant) != nil {
		return nil //nolint:nilerr // nothing of a disabled tenant is removed
	}
	now := m.now()
	if latest := now.Add(s.every()); s.Next.After(latest) {
		s.Next = latest
		return m.saveSchedule(ctx, at, s)
	}
	if now.Before(s.Next) {
		return nil
	}
	last, err := m.lastScheduled(ctx, s.Name)
	if err != nil {
		return err
	}
	switch {
	case last.ID != "" && !last.State.Ended():
		if last.ID == s.Operation {
			return nil // it is still at it
		}
	case last.ID == "" || last.ID == s.Operation || !last.CreatedAt.After(s.Last):
		if last, err = start(m, ctx); err != nil {
			return err
		}
	}
	s.Last, s.Operation = now, last.ID
	if s.Next = s.Next.Add(s.every()); !s.Next.After(now) {
		s.Next = now.Add(s.every())
	}
	if err := m.saveSchedule(ctx, at, s); err != nil && !errors.Is(err, store.ErrConflict) { // somebody set it anew
		return err
	}
	return nil
}

// lastScheduled is the latest operation of a kind that a schedule started, zero when there is none of late.
func (m *Memory) lastScheduled(ctx context.Context, kind string) (store.Operation, error) {
	page, err := m.ledger.ListOperations(ctx, m.tenant, store.OperationQuery{Kind: kind, Limit: 20})
	if err != nil {
		return store.Operation{}, fmt.Errorf("read operations: %w", err)
	}
	for _, op := range page.Operations {
		if op.By == schedulerName {
			return op, nil
		}
	}
	return store.Operation{}, nil
}
