package extract

// Tenant is what may differ by tenant and change while a Worker runs; it is asked for anew for every use. Zero fields are
// the Worker's own.
type Tenant struct {
	Reconcile ReconcileOptions
	Extractor Extractor
	// Interim runs while Extractor is away (store.ErrUnavailable, ErrService): its items are marked Provenance.Interim until
	// Extractor's result replaces or confirms them. When the tenant's budget is spent (store.ErrBudget) its result is final;
	// nil: none, and the turns wait until the next day (UTC).
	Interim Extractor
	// Mask goes over what was kept before redaction was switched on, right before an extractor is shown it; nil: nothing.
	Mask   func(text string) string
	Review Review // what waits for a person
}

// tenant is what holds for a tenant now, complete. Settings out of range give the Worker's own: they are checked where
// they are made.
func (w *Worker) tenant(name string) Tenant {
	var t Tenant
	if w.opts.Tenant != nil {
		t = w.opts.Tenant(name)
	}
	if t.Extractor == nil {
		t.Extractor = w.extractor
	}
	if t.Reconcile.Threshold == nil {
		t.Reconcile.Threshold = w.opts.Reconcile.Threshold
	}
	if t.Reconcile.MaxFacts == 0 {
		t.Reconcile.MaxFacts = w.opts.Reconcile.MaxFacts
	}
	if t.Reconcile.TaskTTL == 0 {
		t.Reconcile.TaskTTL = w.opts.Reconcile.TaskTTL
	}
	if _, err := t.Reconcile.withDefaults(); err != nil {
		t.Reconcile = w.opts.Reconcile
	}
	return t
}
