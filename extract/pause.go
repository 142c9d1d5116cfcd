package extract

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"evoke/store"
)

// Pause makes the worker claim no more jobs. What runs goes on; turns are taken in as ever and wait.
func (w *Worker) Pause() { w.paused.Store(true) }

// Resume ends a Pause.
func (w *Worker) Resume() {
	w.paused.Store(false)
	w.Wake()
}

// Paused reports whether the worker is paused.
func (w *Worker) Paused() bool { return w.paused.Load() }

// Drain pauses the worker and waits until nothing runs any more. The worker stays paused, also when the context ends
// first and its error is returned.
func (w *Worker) Drain(ctx context.Context) error {
	w.Pause()
	return w.drained(ctx, "")
}

// PauseTenant is Pause for the jobs of one tenant.
func (w *Worker) PauseTenant(tenant string) { w.pauses.set(tenant, true) }

// ResumeTenant ends a PauseTenant.
func (w *Worker) ResumeTenant(tenant string) {
	w.pauses.set(tenant, false)
	w.Wake()
}

// HoldTenants takes the jobs of these tenants, and of none that were named so before, out of the queue as a pause does that
// Resume does not end.
func (w *Worker) HoldTenants(tenants []string) {
	if w.pauses.hold(tenants) {
		w.Wake()
	}
}

// TenantPaused reports whether the jobs of a tenant wait for a Resume: its own or that of all.
func (w *Worker) TenantPaused(tenant string) bool { return w.Paused() || w.pauses.has(tenant) }

// DrainTenant is Drain for the jobs of one tenant.
func (w *Worker) DrainTenant(ctx context.Context, tenant string) error {
	w.PauseTenant(tenant)
	return w.drained(ctx, tenant)
}

// drained waits until no job of a tenant, or none at all, runs.
func (w *Worker) drained(ctx context.Context, tenant string) error {
	for {
		signal := w.progress.next()
		w.claiming.Lock() // a claim under way may still begin jobs
		running := w.progress.runs(tenant)
		w.claiming.Unlock()
		if running == 0 {
			return nil
		}
		if err := waitFor(ctx, signal, time.Second); err != nil {
			return err
		}
	}
}

// pauses are the tenants whose jobs are not claimed. The zero value is ready.
type pauses struct {
	mu    sync.Mutex
	names map[string]bool
	held  map[string]bool // see HoldTenants
}

// hold replaces the tenants that are held back and reports whether any is let go.
func (p *pauses) hold(tenants []string) (released bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := make(map[string]bool, len(tenants))
	for _, t := range tenants {
		next[t] = true
	}
	for t := range p.held {
		released = released || !next[t]
	}
	p.held = next
	return released
}

func (p *pauses) set(tenant string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !on {
		delete(p.names, tenant)
		return
	}
	if p.names == nil {
		p.names = map[string]bool{}
	}
	p.names[tenant] = true
}

func (p *pauses) has(tenant string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names[tenant] || p.held[tenant]
}

// without leaves the paused tenants out of those whose jobs may be claimed.
func (p *pauses) without(of store.Tenants) store.Tenants {
	p.mu.Lock()
	defer p.mu.Unlock()
	of.Except = append(slices.Clone(of.Except), slices.Sorted(maps.Keys(p.names))...)
	for _, t := range slices.Sorted(maps.Keys(p.held)) {
		if !p.names[t] {
			of.Except = append(of.Except, t)
		}
	}
	return of
}
