package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/lifecycle"
)

// handlers answer the operations of the specification.
type handlers struct {
	*Server
}

// call is an admitted call: the caller's memory and whose part of it. It is the only way from a handler to a memory, so
// that none forgets what a key grants.
type call struct {
	Memory
	who evoke.Who
}

func (h *handlers) call(ctx context.Context, user, agent, thread *string) (call, error) {
	p, ok := principalOf(ctx)
	if !ok {
		return call{}, fmt.Errorf("%w: the call has no caller", store.ErrTenant)
	}
	who, err := p.who(value(user), value(agent), value(thread))
	if err != nil {
		return call{}, err
	}
	m, err := h.tenants(p.tenant)
	return call{m, who}, err
}

// tenantCall is a call on a whole tenant when neither user nor agent is named.
func (h *handlers) tenantCall(ctx context.Context, user, agent *string) (call, error) {
	if p, ok := principalOf(ctx); value(user) == "" && value(agent) == "" && ok && !p.grantsTenant() {
		return call{}, forbidden(`user: the key does not grant every user and agent; use one that does (agents: ["*"], no users) or, where the route takes them, name one`)
	}
	return h.call(ctx, user, agent, nil)
}

// value is what an optional field holds, or its zero.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Ingest takes a conversation in.
func (h *handlers) Ingest(ctx context.Context, r api.IngestRequestObject) (api.IngestResponseObject, error) {
	c, err := h.call(ctx, r.Body.User, r.Body.Agent, r.Body.Thread)
	if err != nil {
		return nil, err
	}
	msgs, err := message.Parse(r.Body.Messages, &message.Options{MaxMessageBytes: h.set.Limits.ContentBytes})
	if err != nil {
		return nil, err
	}
	res, err := c.Ingest(ctx, evoke.IngestRequest{
		Who: c.who, Messages: msgs, IdempotencyKey: value(r.Params.IdempotencyKey), NoStore: value(r.Body.NoStore),
		ExpiresAt: value(r.Body.ExpiresAt),
	})
	if err != nil {
		return nil, err
	}
	return api.Ingest200JSONResponse(res), nil
}

// Flush distils facts now.
func (h *handlers) Flush(ctx context.Context, r api.FlushRequestObject) (api.FlushResponseObject, error) {
	b := r.Body
	if value(b.All) {
		return h.flushAll(ctx, b)
	}
	c, err := h.call(ctx, b.User, b.Agent, b.Thread)
	if err != nil {
		return nil, err
	}
	n, err := c.Flush(ctx, c.who)
	if err != nil {
		return nil, err
	}
	return api.Flush200JSONResponse{Threads: n}, nil
}

func (h *handlers) flushAll(ctx context.Context, b *api.FlushRequest) (api.FlushResponseObject, error) {
	if value(b.User) != "" || value(b.Agent) != "" || value(b.Thread) != "" {
		return nil, store.Invalid("all", "left out when a user, agent or thread is named", "both")
	}
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	n, err := c.FlushAll(ctx)
	if err != nil {
		return nil, err
	}
	return api.Flush200JSONResponse{Threads: n}, nil
}

// Event tells where a batch stands. What the key does not grant is as unknown as what does not exist.
func (h *handlers) Event(ctx context.Context, r api.EventRequestObject) (api.EventResponseObject, error) {
	p, ok := principalOf(ctx)
	if !ok {
		return nil, fmt.Errorf("%w: the call has no caller", store.ErrTenant)
	}
	m, err := h.tenants(p.tenant)
	if err != nil {
		return nil, err
	}
	// Its owner first, without waiting: the time taken must not tell of an event that is not the caller's.
	ev, err := m.Event(ctx, r.Id, 0)
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.grantsScope(ev.Scope) {
		return nil, fmt.Errorf("event: %w: no such event", store.ErrNotFound) // one answer for both
	}
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if wait := h.wait(r.Params.Wait); wait > 0 && ev.State == store.EventPending {
		if ev, err = m.Event(ctx, r.Id, wait); err != nil {
			return nil, fmt.Errorf("event: %w", err)
		}
	}
	return api.Event200JSONResponse(ev), nil
}

// wait is how long to wait, ending before the request's own time does.
func (h *handlers) wait(seconds *float32) time.Duration {
	return min(time.Duration(float64(value(seconds))*float64(time.Second)), h.timeout-h.timeout/10)
}

func (p principal) grantsScope(sc store.Scope) bool {
	return (sc.User == "" || p.grantsUser(sc.User)) && p.grantsAgent(sc.Agent)
}

// Remember stores one item.
func (h *handlers) Remember(ctx context.Context, r api.RememberRequestObject) (api.RememberResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, b.Thread)
	if err != nil {
		return nil, err
	}
	res, err := c.Remember(ctx, evoke.RememberRequest{
		Who: c.who, ID: value(b.Id), Kind: value(b.Kind), Category: value(b.Category), Content: b.Content, Metadata: value(b.Metadata),
		Importance: b.Importance, Confidence: b.Confidence, ValidFrom: value(b.ValidFrom), ValidTo: value(b.ValidTo), ExpiresAt: value(b.ExpiresAt),
		Speaker: value(b.Speaker), Subject: value(b.Subject), IdempotencyKey: value(r.Params.IdempotencyKey), NoStore: value(b.NoStore),
	})
	if err != nil {
		return nil, err
	}
	if res.Existing || res.Skipped != "" {
		return api.Remember200JSONResponse(res), nil
	}
	return api.Remember201JSONResponse(res), nil
}

// Get reads one item.
func (h *handlers) Get(ctx context.Context, r api.GetRequestObject) (api.GetResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	it, err := c.Get(ctx, c.who, r.Id)
	if err != nil {
		return nil, err
	}
	return api.Get200JSONResponse(it), nil
}

// History reads every version of an item, and who did what to it.
func (h *handlers) History(ctx context.Context, r api.HistoryRequestObject) (api.HistoryResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	items, err := c.History(ctx, c.who, r.Id)
	if err != nil {
		return nil, err
	}
	return api.History200JSONResponse{Items: items, Changes: lifecycle.Changes(items)}, nil
}

func page(items []store.Item, next string) api.Page {
	p := api.Page{Items: items}
	if items == nil {
		p.Items = []store.Item{}
	}
	if next != "" {
		p.Next = &next
	}
	return p
}

// Update changes one item.
func (h *handlers) Update(ctx context.Context, r api.UpdateRequestObject) (api.UpdateResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, nil)
	if err != nil {
		return nil, err
	}
	it, err := c.Update(ctx, evoke.UpdateRequest{
		Who: c.who, ID: r.Id, Content: b.Content, Category: b.Category, Metadata: value(b.Metadata),
		Importance: b.Importance, Confidence: b.Confidence, ValidFrom: b.ValidFrom, ValidTo: b.ValidTo, ExpiresAt: b.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return api.Update200JSONResponse(it), nil
}

// orders are the orders of a listing.
var orders = map[api.ListParamsOrder]store.Order{
	api.ListParamsOrderNewest: store.Newest, api.ListParamsOrderOldest: store.Oldest, api.ListParamsOrderEvent: store.NewestEvent,
	api.ListParamsOrderId: store.ByID, api.ListParamsOrderImportance: store.MostImportant,
}

// List pages through items.
func (h *handlers) List(ctx context.Context, r api.ListRequestObject) (api.ListResponseObject, error) {
	p := r.Params
	c, err := h.call(ctx, p.User, p.Agent, p.Thread)
	if err != nil {
		return nil, err
	}
	req := evoke.ListRequest{
		Who: c.who, AsOf: value(p.AsOf), Known: value(p.KnownAt), All: value(p.All), Sources: value(p.Sources), Task: value(p.Task), Limit: value(p.Limit), Cursor: value(p.Cursor), Order: orders[value(p.Order)],
		Filter: store.Filter{
			Kinds: value(p.Kind), Categories: value(p.Category), Sessions: value(p.Session), Speakers: value(p.Speaker),
			Valid: store.TimeRange{From: value(p.From), To: value(p.To)},
		},
	}
	got, err := c.List(ctx, req)
	if err != nil {
		return nil, err
	}
	return api.List200JSONResponse(page(got.Items, got.Next)), nil
}
