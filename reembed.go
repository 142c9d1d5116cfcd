package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

const reembedKind = "reembed"

// reembeddingNow is why there is no dense arm while the vectors are computed anew.
const reembeddingNow = "the vectors are being computed anew for another model (evoke operations shows how far): recall is by words alone until then"

// ReembedResult is the result of a re-embedding.
type ReembedResult struct {
	Model   string `json:"model"`             // of the vectors now
	Was     string `json:"was,omitempty"`     // before
	Items   int    `json:"items"`             // that were entered for new vectors
	Refused int    `json:"refused,omitempty"` // that the model refuses; they are tried again, later and later
}

type reembedArgs struct {
	Model string `json:"model"`
	Was   string `json:"was,omitempty"`
}

// reembedPoint is how far a re-embedding is.
type reembedPoint struct {
	Claimed bool   `json:"claimed"` // the store's space is the new one
	Tenant  string `json:"tenant,omitempty"`
	Scope   string `json:"scope,omitempty"`  // key of the memory whose items are entered
	Cursor  string `json:"cursor,omitempty"` // of the next page of it
	Entered bool   `json:"entered"`          // all items
	Items   int    `json:"items"`
}

// Reembed computes the vectors of all items of the store, of every tenant, anew with the embedder that the engine was opened
// with, after a change of model. It is an operation, whose result is a ReembedResult: the store's vector space becomes the
// new model's at once and its old vectors go, then the items get new ones, also after a crash, and meanwhile recall is by
// words alone and says so (Response.Degraded). When it is under way already that operation is returned; ErrConflict when the
// store's vectors are of the embedder's model already, unless all is true: then they are computed anew nevertheless.
func (m *Memory) Reembed(ctx context.Context, all bool) (store.Operation, error) {
	if m.embedder == nil {
		return store.Operation{}, store.Invalid("embedding model", "there to re-embed with (evoke model pull)", "none")
	}
	if op, err := m.reembedding(ctx); err != nil || op != nil {
		if err != nil {
			return store.Operation{}, err
		}
		return *op, nil
	}
	have, err := m.store.Model(ctx)
	if err != nil {
		return store.Operation{}, fmt.Errorf("reembed: %w", err)
	}
	if id := m.model.ID(); have == id && !all {
		return store.Operation{}, fmt.Errorf("reembed: %w: the store's vectors are of model %s already", store.ErrConflict, id)
	}
	if err := m.checkDim(ctx); err != nil { // before the old vectors go
		return store.Operation{}, fmt.Errorf("reembed: %w", err)
	}
	op, err := m.submit(ctx, reembedKind, reembedArgs{Model: m.model.ID(), Was: have})
	m.audit(ctx, deed(reembedKind, Who{}, err, nil, op.ID))
	return op, err
}

// reembedding returns the re-embedding with the engine's model that has not ended, of whatever tenant; nil for none.
func (e *engine) reembedding(ctx context.Context) (*store.Operation, error) {
	open, err := e.ledger.Unfinished(ctx)
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	for i := range open {
		var a reembedArgs
		if open[i].Kind == reembedKind && !open[i].Cancel && json.Unmarshal(open[i].Args, &a) == nil && a.Model == e.model.ID() {
			return &open[i], nil
		}
	}
	return nil, nil //nolint:nilnil // none is no error
}

// reembedder does one run of the operation.
type reembedder struct {
	*Memory
	p    *lifecycle.Progress
	args reembedArgs
	at   reembedPoint
}

func (m *Memory) reembedWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	r := &reembedder{Memory: m, p: p}
	if err := p.Args(&r.args); err != nil {
		return nil, fmt.Errorf("reembed: %w", err)
	}
	if id := m.model.ID(); r.args.Model != id {
		return nil, fmt.Errorf("reembed: %w: the operation is for model %s and the engine has %s: open with that model and retry it, or run evoke reembed", store.ErrConflict, r.args.Model, id)
	}
	if _, err := p.Checkpoint(&r.at); err != nil {
		return nil, fmt.Errorf("reembed: %w", err)
	}
	res, err := r.run(ctx)
	canceled := errors.Is(err, lifecycle.ErrCanceled) || errors.Is(context.Cause(ctx), lifecycle.ErrCanceled)
	if r.at.Claimed && (err == nil || canceled) {
		err = errors.Join(err, m.setDense(""))
	}
	if errors.Is(err, store.ErrUnavailable) { // an outage delays it; it is in nobody's way meanwhile
		m.log.WarnContext(ctx, "re-embedding is delayed", "error", err)
		return nil, r.later(ctx, reembedRetry)
	}
	return res, err
}

// later waits for so long and gives way then.
func (r *reembedder) later(ctx context.Context, wait time.Duration) error {
	pause := time.NewTimer(wait)
	defer pause.Stop()
	select {
	case <-pause.C:
		return lifecycle.ErrLater
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *reembedder) run(ctx context.Context) (*ReembedResult, error) {
	if !r.at.Claimed {
		if err := r.checkDim(ctx); err != nil {
			return nil, fmt.Errorf("reembed: %w", err)
		}
		if err := r.setDense(reembeddingNow); err != nil {
			return nil, err
		}
		if r.args.Was != r.args.Model {
			if err := r.store.ReplaceModel(ctx, r.args.Model, r.model.Dim); err != nil {
				return nil, fmt.Errorf("reembed: %w", err)
			}
		}
		r.at.Claimed = true
		if err := r.save(ctx, 0); err != nil {
			return nil, err
		}
	}
	r.startVectors() //nolint:contextcheck // it runs until Close
	if !r.at.Entered {
		if err := r.enter(ctx); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	left, busy, err := r.left(ctx)
	if err != nil {
		return nil, fmt.Errorf("reembed: %w", err)
	}
	if err := r.save(ctx, max(0, r.at.Items-left)); err != nil {
		return nil, err
	}
	if !busy {
		return &ReembedResult{Model: r.args.Model, Was: r.args.Was, Items: r.at.Items, Refused: left}, nil
	}
	r.vectors.Wake()
	return nil, r.later(ctx, max(reembedLook, 10*time.Since(began))) // others need not wait for the model
}

// reembedLook is how often, at most, it is looked whether the vectors are there.
const reembedLook = 500 * time.Millisecond

// reembedRetry is how long a store or a model that does not answer is left alone.
const reembedRetry = 2 * time.Second

func (r *reembedder) save(ctx context.Context, done int) error {
	total := r.at.Items
	if !r.at.Entered {
		total = 0
	}
	return r.p.Save(ctx, r.at, done, total)
}

// enter has every item wait for new vectors, page by page.
func (r *reembedder) enter(ctx context.Context) error {
	tenants, err := r.store.Tenants(ctx)
	if err != nil {
		return fmt.Errorf("reembed: %w", err)
	}
	for _, tenant := range tenants {
		if tenant < r.at.Tenant {
			continue
		}
		scopes, err := r.store.Scopes(ctx, tenant)
		if err != nil {
			return fmt.Errorf("reembed: %w", err)
		}
		for _, sc := range scopes {
			if tenant == r.at.Tenant && sc.Key() < r.at.Scope {
				continue
			}
			if tenant != r.at.Tenant || sc.Key() != r.at.Scope {
				r.at.Tenant, r.at.Scope, r.at.Cursor = tenant, sc.Key(), ""
			}
			if err := r.enterScope(ctx, sc); err != nil {
				return err
			}
		}
	}
	r.at.Tenant, r.at.Scope, r.at.Cursor, r.at.Entered = "", "", "", true
	return r.save(ctx, 0)
}

func (r *reembedder) enterScope(ctx context.Context, sc store.Scope) error {
	for {
		page, err := r.store.List(ctx, sc, store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: pageItems, Cursor: r.at.Cursor})
		if err != nil {
			return fmt.Errorf("reembed: %w", err)
		}
		w := r.newWrite(sc)
		for i := range page.Items {
			if !page.Items[i].IsProfile() { // it is never searched
				w.Embed = append(w.Embed, page.Items[i].ID)
			}
		}
		unlock, err := r.hold(ctx, sc)
		if err != nil {
			return fmt.Errorf("reembed: %w", err)
		}
		err = r.commit(ctx, w)
		unlock()
		if err != nil {
			return fmt.Errorf("reembed: %w", err)
		}
		r.at.Items += len(w.Embed)
		if r.at.Cursor = page.Next; page.Next == "" {
			r.at.Scope += "\x00" // on to the one behind it
		}
		if err := r.save(ctx, 0); err != nil || page.Next == "" {
			return err
		}
	}
}

// left counts the items that wait for their vectors, and tells whether any does but those that the model refused.
func (r *reembedder) left(ctx context.Context) (n int, busy bool, err error) {
	refs, err := r.ledger.PendingEmbeds(ctx, time.Now(), 1)
	if err != nil {
		return 0, false, fmt.Errorf("pending embeds: %w", err)
	}
	err = r.eachScope(ctx, func(sc store.Scope) error {
		k, err := r.ledger.CountEmbeds(ctx, sc)
		if err != nil {
			return fmt.Errorf("count embeds: %w", err)
		}
		n += k
		return nil
	})
	return n, len(refs) > 0, err
}
