// Package budget keeps what tenants take of a hosted model within limits of a day.
//
// A request is reserved before it is sent, at the most that it may take, and settled after it with what it took, so
// that requests in flight together cannot pass a limit that each of them would keep. What was taken before the process
// began is read once a tenant and day; whoever runs the extractions adds to it.
package budget

import (
	"context"
	"fmt"
	"sync"
	"time"

	"evoke/store"
)

// Limits of one tenant and day (UTC); 0 means none.
type Limits struct {
	Calls  int64
	Tokens int64 // of prompts and answers together
}

// Used is what a tenant took.
type Used struct {
	Calls, Tokens int64
}

// Status is how a tenant stands today.
type Status struct {
	Day      string // "2026-11-30", UTC
	Used     Used
	Reserved Used // by requests in flight
}

// Spent reports whether the limits leave no further call.
func (s Status) Spent(l Limits) bool {
	return l.Calls > 0 && s.Used.Calls+s.Reserved.Calls >= l.Calls || l.Tokens > 0 && s.Used.Tokens+s.Reserved.Tokens >= l.Tokens
}

// Meter counts. It is safe for concurrent use.
type Meter struct {
	before func(ctx context.Context, tenant, day string) (Used, error)
	clock  func() time.Time

	mu      sync.Mutex
	tenants map[string]*account
}

// account is one tenant's day.
type account struct {
	mu   sync.Mutex // held while what was used before is read
	read bool
	Status
}

// New returns a Meter. before tells what a tenant took on a day ("2026-11-30") before this process began; nil: nothing.
// A nil clock is time.Now.
func New(before func(ctx context.Context, tenant, day string) (Used, error), clock func() time.Time) *Meter {
	if before == nil {
		before = func(context.Context, string, string) (Used, error) { return Used{}, nil }
	}
	if clock == nil {
		clock = time.Now
	}
	return &Meter{before: before, clock: clock, tenants: map[string]*account{}}
}

// Reservation is a request in flight.
type Reservation struct {
	a      *account
	day    string
	tokens int64
	once   sync.Once
}

// Reserve takes one call of at most so many tokens out of what is left. It fails with store.ErrBudget when there is not
// so much left, and with the error of reading what was used before; then nothing is taken. Settle the reservation.
func (m *Meter) Reserve(ctx context.Context, tenant string, l Limits, tokens int) (*Reservation, error) {
	a, err := m.today(ctx, tenant)
	if err != nil {
		return nil, err
	}
	defer a.mu.Unlock()
	n := int64(max(0, tokens))
	switch {
	case l.Calls > 0 && a.Used.Calls+a.Reserved.Calls >= l.Calls:
		return nil, fmt.Errorf("%w: %d calls a day", store.ErrBudget, l.Calls)
	case l.Tokens > 0 && a.Used.Tokens+a.Reserved.Tokens+n > l.Tokens:
		return nil, fmt.Errorf("%w: %d tokens a day", store.ErrBudget, l.Tokens)
	}
	a.Reserved.Calls++
	a.Reserved.Tokens += n
	return &Reservation{a: a, day: a.Day, tokens: n}, nil
}

// Settle puts what was taken in place of the reservation. Further calls do nothing. A request that ends on another day
// than it began counts for neither; the ledger has it.
func (r *Reservation) Settle(u Used) {
	r.once.Do(func() {
		r.a.mu.Lock()
		defer r.a.mu.Unlock()
		if r.a.Day != r.day {
			return
		}
		r.a.Reserved.Calls--
		r.a.Reserved.Tokens -= r.tokens
		r.a.Used.Calls += max(0, u.Calls)
		r.a.Used.Tokens += max(0, u.Tokens)
	})
}

// Status tells how a tenant stands.
func (m *Meter) Status(ctx context.Context, tenant string) (Status, error) {
	a, err := m.today(ctx, tenant)
	if err != nil {
		return Status{}, err
	}
	defer a.mu.Unlock()
	return a.Status, nil
}

// today returns a tenant's account, locked.
func (m *Meter) today(ctx context.Context, tenant string) (*account, error) {
	m.mu.Lock()
	a := m.tenants[tenant]
	if a == nil {
		a = &account{}
		m.tenants[tenant] = a
	}
	m.mu.Unlock()
	a.mu.Lock()
	if day := m.clock().UTC().Format(time.DateOnly); a.Day != day {
		a.read, a.Status = false, Status{Day: day}
	}
	if !a.read {
		used, err := m.before(ctx, tenant, a.Day)
		if err != nil {
			a.mu.Unlock()
			return nil, fmt.Errorf("read what was used: %w", err)
		}
		a.Used, a.read = used, true
	}
	return a, nil
}
