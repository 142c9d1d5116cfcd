package evoke

import (
	"context"
	"fmt"
	"sync/atomic"

	"evoke/embed"
	"evoke/extract/vectorize"
	"evoke/recall"
	"evoke/store"
)

// recaller answers queries by the engine that is in force.
type recaller struct {
	in   atomic.Pointer[recall.Engine]
	make func(embed.Embedder, string) (*recall.Engine, error) // with an embedder or the reason why there is none
}

// Recall is recall.Engine.Recall.
func (r *recaller) Recall(ctx context.Context, scopes []store.Scope, q recall.Request) (*recall.Response, error) {
	return r.in.Load().Recall(ctx, scopes, q)
}

// Context is recall.Engine.Context.
func (r *recaller) Context(ctx context.Context, scopes []store.Scope, q recall.BlockRequest) (*recall.Block, error) {
	return r.in.Load().Context(ctx, scopes, q)
}

// openDense compares the embedder's vector space with the store's and opens the dense arm. A store that holds vectors of
// another space keeps them: dense search is off until Reembed computed them anew, and nothing is mixed or deleted.
func (e *engine) openDense(ctx context.Context, o *Options) error {
	ro := o.Recall
	ro.Clock = o.Clock
	e.recall.make = func(em embed.Embedder, why string) (*recall.Engine, error) {
		ro := ro
		ro.NoDense = why
		return recall.New(e.store, em, &ro)
	}
	have, err := e.store.Model(ctx)
	if err != nil {
		return fmt.Errorf("read the store's model: %w", err)
	}
	if o.Embedder == nil {
		return e.setDense(o.NoEmbedder)
	}
	e.model = o.Embedder.Model()
	e.model.Views = vectorize.ViewsVersion
	e.embedder = viewed{o.Embedder, e.model, e.events}
	e.vectors, err = vectorize.New(e.store, e.ledger, e.embedder, &vectorize.Options{Lock: e.locks.Lock, Logger: o.Logger, Done: o.Events.Embedded})
	if err != nil {
		return err
	}
	e.closers = append(e.closers, func() error { e.vectors.Stop(); return nil })
	if id := e.model.ID(); have != "" && have != id {
		e.log.WarnContext(ctx, "the store's vectors are of another model: run evoke reembed, or evoke serve --reembed", "store", have, "model", id)
		return e.setDense(fmt.Sprintf("the store's vectors are of model %s, not %s: recall is by words alone until evoke reembed has computed them anew (or open with the store's model)", have, id))
	}
	e.startVectors() //nolint:contextcheck // it runs until Close
	switch op, err := e.reembedding(ctx); {
	case err != nil:
		return err
	case op != nil:
		return e.setDense(reembeddingNow)
	}
	return e.setDense("")
}

// startVectors has the items that wait for their vectors embedded from now on.
func (e *engine) startVectors() {
	e.vectors.Start()
	e.embedding.Store(true)
}

// setDense opens the dense arm, or closes it for a reason.
func (e *engine) setDense(why string) error {
	em := e.embedder
	if why != "" {
		em = nil
	}
	r, err := e.recall.make(em, why)
	if err != nil {
		return err
	}
	e.recall.in.Store(r)
	e.why.Store(&why)
	return nil
}

// noDense says why there is no dense arm; "" when there is one.
func (e *engine) noDense() string { return *e.why.Load() }

// dense is the embedder of the dense arm; nil when there is none.
func (e *engine) dense() embed.Embedder {
	if e.noDense() != "" {
		return nil
	}
	return e.embedder
}

// viewed is an embedder whose identity includes the text views.
type viewed struct {
	embed.Embedder
	model  embed.Model
	events *Events
}

func (v viewed) Model() embed.Model { return v.model }

func (e *engine) embedderID() string {
	if e.noDense() != "" {
		return "none"
	}
	return e.model.ID()
}

func (e *engine) wakeVectors() {
	if e.vectors != nil {
		e.vectors.Wake()
	}
}

// checkDim asks the embedder for a vector, so that one that does not answer is found out before anything depends on it.
func (e *engine) checkDim(ctx context.Context) error {
	v, err := e.embedder.EmbedPassages(ctx, []string{"evoke"})
	if err != nil {
		return fmt.Errorf("ask the embedding model: %w", err)
	}
	if len(v) != 1 || store.ValidateVector("vector", v[0], e.model.Dim) != nil {
		return store.Invalid("embedding model", fmt.Sprintf("one that gives %d numbers for a text", e.model.Dim), "")
	}
	return nil
}
