package extract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"evoke/store"
)

// breakers tell, by tenant, whether the service behind the tenant's extractor is away. While it is, its jobs are passed
// over by claims, or run with the interim extractor alone, and one job after each pause asks whether it is back.
//
// They are kept in memory: a restart asks anew. (A library's circuit breaker would have to be asked who is open, be given
// a pause that grows and that the service itself may name, and let an answer of before count; what is left is this.)
type breakers struct {
	mu      sync.Mutex
	tenants map[string]*breaker // those whose service is away
}

type breaker struct {
	extractor Extractor // another one may be asked at once, of the same name too: it may have another address or key
	failures  int       // in a row
	until     time.Time
	asked     bool // the service asked for that time
	paced     bool // it is not the service that is away: its turn comes later
	probing   bool // a request is on its way
	cause     error
}

// errAway stands for the failure of a service that was not asked again.
type errAway struct {
	cause error
	until time.Time // zero while another request finds out
}

func (e *errAway) Error() string { return "not asked, as it failed before: " + e.cause.Error() }
func (e *errAway) Unwrap() error { return e.cause }

// admit lets a request to a tenant's service pass, or tells why not. After a pause the first request probes.
func (b *breakers) admit(tenant string, extractor Extractor, now time.Time) (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tenants[tenant]
	if t != nil && !sameExtractor(t.extractor, extractor) {
		delete(b.tenants, tenant)
		t = nil
	}
	switch {
	case t == nil:
		return false, nil
	case t.probing:
		return false, &errAway{cause: t.cause}
	case now.Before(t.until):
		return false, &errAway{cause: t.cause, until: t.until}
	}
	t.probing = true
	return true, nil
}

// answered closes a tenant's breaker.
func (b *breakers) answered(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tenants, tenant)
}

// release ends a probe that neither failed nor was answered.
func (b *breakers) release(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[tenant]; t != nil {
		t.probing = false
	}
}

// failed opens a tenant's breaker, or keeps it open. pause tells how long, from the number of failures in a row; wait is
// what the service asked for. Of a request that began before the breaker opened only wait counts.
func (b *breakers) failed(tenant string, extractor Extractor, probe bool, now time.Time, cause error, wait time.Duration, pause func(failures int) time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenants == nil {
		b.tenants = map[string]*breaker{}
	}
	t := b.tenants[tenant]
	if t == nil {
		t = &breaker{}
		b.tenants[tenant] = t
		probe = true
	}
	if probe {
		*t = breaker{extractor: extractor, failures: t.failures + 1, until: now.Add(pause(t.failures)), cause: cause}
	}
	if wait > 0 && now.Add(wait).After(t.until) {
		t.until, t.asked = now.Add(wait), true
	}
}

// pace passes a tenant over for a while, which is no failure.
func (b *breakers) pace(tenant string, extractor Extractor, now time.Time, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenants == nil {
		b.tenants = map[string]*breaker{}
	}
	t := b.tenants[tenant]
	if t == nil {
		t = &breaker{extractor: extractor, paced: true, cause: ErrPaced}
		b.tenants[tenant] = t
	}
	if until := now.Add(wait); until.After(t.until) {
		t.until, t.asked = until, true
	}
}

// failures is how often a tenant's service failed in a row.
func (b *breakers) failures(tenant string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[tenant]; t != nil {
		return t.failures
	}
	return 0
}

// hurry lets the next request probe at once, unless the service asked for time.
func (b *breakers) hurry(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[tenant]; t != nil && !t.asked {
		t.until = time.Time{}
	}
}

// away lists the tenants whose service is not to be asked now, by name, and when the first of them may be asked again; zero
// when that is not known.
func (b *breakers) away(now time.Time) (tenants map[string]breaker, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, t := range b.tenants {
		if !t.probing && !now.Before(t.until) {
			continue
		}
		if tenants == nil {
			tenants = map[string]breaker{}
		}
		tenants[name] = *t
		if !t.probing && (next.IsZero() || t.until.Before(next)) {
			next = t.until
		}
	}
	return tenants, next
}

// Away tells why the service of a tenant's extractor is not asked just now, as a kind of failure, and until when; "" when
// it is asked, or waits for its own pace only. Before that time it is asked again when somebody flushes.
func (w *Worker) Away(tenant string) (why string, until time.Time) {
	if away := w.away(tenant); away != nil {
		return away.Why, away.Until
	}
	return "", time.Time{}
}

// sameExtractor tells whether two extractors are one.
func sameExtractor(a, b Extractor) bool {
	if t := reflect.TypeOf(a); t == nil || t != reflect.TypeOf(b) || !t.Comparable() {
		return a != nil && b != nil && a.Name() == b.Name() && t == reflect.TypeOf(b)
	}
	return a == b
}

// Reconsider lets what waits for a service that is away, or for a budget of tomorrow, be tried now: of a tenant, or with "" of
// all but those of except. It is for when their extractor or budget is another one.
func (w *Worker) Reconsider(ctx context.Context, tenant string, except []string) error {
	if _, err := w.ledger.Release(ctx, tenant, except, w.opts.Clock().UTC()); err != nil {
		return fmt.Errorf("reconsider: %w", err)
	}
	w.Wake()
	return nil
}

// AwayError says that what waits cannot be extracted now, as the service of the tenant's extractor is away. It is a
// store.ErrUnavailable.
type AwayError struct {
	Why   string    // a kind of failure
	Until time.Time // when the service is asked again; not before, when it asked for that time
	asked bool
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("the language model is away (%s) and is asked again at %s: what waits is extracted then", e.Why, e.Until.UTC().Format(time.RFC3339))
}

// Unwrap tells the class.
func (e *AwayError) Unwrap() error { return store.ErrUnavailable }

// outlasts reports whether the service asked for more time than a context has left.
func (e *AwayError) outlasts(ctx context.Context, now time.Time) bool {
	end, ok := ctx.Deadline()
	return ok && e.asked && e.Until.Sub(now) > time.Until(end)
}

// away is Away as an error, nil when the service is asked.
func (w *Worker) away(tenant string) *AwayError {
	own := w.tenant(tenant).Extractor
	w.breakers.mu.Lock()
	defer w.breakers.mu.Unlock()
	t := w.breakers.tenants[tenant]
	if t == nil || t.paced || !sameExtractor(t.extractor, own) {
		return nil
	}
	return &AwayError{Why: reasonOf(t.cause), Until: t.until, asked: t.asked}
}

// isAway reports whether a failure is one of the service and not of what it was asked.
func isAway(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, ErrService)
}
