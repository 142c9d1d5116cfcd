package evoke

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"evoke/store"
	"evoke/store/lifecycle"
)

// EraseRequest names what to erase for good: every memory of a user, of an agent, of both together, or of the whole tenant.
type EraseRequest struct {
	User   string `json:"user,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Tenant bool   `json:"tenant,omitempty"` // every memory of the tenant

	Thread string        `json:"thread,omitempty"` // "": not of one thread only
	Filter *store.Filter `json:"filter,omitempty"` // nil: everything
}

func (r *EraseRequest) validate() error {
	if r.Tenant == (r.User != "" || r.Agent != "") {
		return store.Invalid("erase", "told whose: exactly one of tenant and the names of a user, an agent or both", "")
	}
	err := errors.Join(store.ValidateName("user", r.User), store.ValidateName("agent", r.Agent), store.ValidateName("thread", r.Thread))
	if err != nil || r.Filter == nil {
		return err
	}
	if r.Filter.IsZero() {
		return store.Invalid("filter", "a filter that selects something less than everything (leave it out for that)", "")
	}
	if unkept(r.Filter) {
		return store.Invalid("filter", "without subjects and distilled, which an operation cannot keep", "")
	}
	return r.Filter.Validate()
}

// unkept reports whether a filter has conditions that are not written down with an operation: without them it would erase
// more than was asked for.
func unkept(f *store.Filter) bool {
	if len(f.Subjects) > 0 || f.Distilled {
		return true
	}
	return slices.ContainsFunc(slices.Concat(f.All, f.Any, f.None), func(in store.Filter) bool { return unkept(&in) })
}

func (r *EraseRequest) covers(sc store.Scope) bool {
	return r.Tenant || (r.User == "" || sc.User == r.User) && (r.Agent == "" || sc.Agent == r.Agent)
}

// Erased counts what an erasure removed. It is the result of an operation of the kind "erase".
type Erased struct {
	Memories int `json:"memories"` // that held something of it
	Items    int `json:"items"`
	Sections int `json:"sections"` // versions of the profile's sections beside them, that went or were marked for resting on them
}

func (e Erased) counts() map[string]int {
	return map[string]int{"memories": e.Memories, "items": e.Items, "sections": e.Sections}
}

// Erase removes items for good, as Forget does, in every memory that the request covers. It is an operation of the kind
// "erase": it answers at once, and what it does goes on after a crash.
func (m *Memory) Erase(ctx context.Context, r EraseRequest) (op store.Operation, err error) {
	defer func() {
		m.audit(ctx, deed("start erase", Who{User: r.User, Agent: r.Agent}, err, nil, op.ID))
	}()
	if err := r.validate(); err != nil {
		return store.Operation{}, err
	}
	return m.submit(ctx, "erase", r)
}

// erasePart is how many items an erasure removes at a step, in one write.
const erasePart = 200

// erasing is the checkpoint of an erasure: what was counted, with what is removed next, so that a step which a crash
// cut off is neither lost nor counted twice.
type erasing struct {
	Erased
	Scope store.Scope `json:"scope,omitzero"` // the memory that Next is of
	Next  []string    `json:"next,omitempty"`
}

// eraseWork is the work of an erasure.
func (m *Memory) eraseWork(ctx context.Context, p *lifecycle.Progress) (result any, err error) {
	var r EraseRequest
	if err := p.Args(&r); err != nil {
		return nil, err
	}
	var at erasing
	if _, err := p.Checkpoint(&at); err != nil {
		return nil, err
	}
	defer func() {
		if ctx.Err() == nil || errors.Is(context.Cause(ctx), lifecycle.ErrCanceled) { // else it goes on at the next start
			m.audit(ctx, deed("erase", Who{User: r.User, Agent: r.Agent}, err, at.counts(), p.Operation().ID))
		}
	}()
	if err := r.validate(); err != nil {
		return nil, err
	}
	if err := m.eraseRest(ctx, &at); err != nil {
		return nil, err
	}
	scopes, err := m.store.Scopes(ctx, m.tenant)
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	slices.SortFunc(scopes, func(a, b store.Scope) int { return cmp.Compare(a.Key(), b.Key()) })
	for _, sc := range scopes {
		for more := r.covers(sc); more; {
			if more, err = m.eraseStep(ctx, sc, &r, &at, p); err != nil {
				return nil, err
			}
		}
	}
	return at.Erased, nil
}

// eraseRest removes what is left of the step that was planned last. It is counted.
func (m *Memory) eraseRest(ctx context.Context, at *erasing) error {
	if len(at.Next) == 0 {
		return nil
	}
	unlock, err := m.hold(ctx, at.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	items, err := m.store.Get(ctx, at.Scope, at.Next)
	if err != nil || len(items) == 0 {
		return err
	}
	profile, err := m.forgetSources(ctx, at.Scope, items)
	if err != nil {
		return err
	}
	return m.erase(ctx, at.Scope, items, profile)
}

// eraseStep removes the next items of a memory that an erasure selects, and tells whether there were any. The memory is
// locked from the moment that they are chosen, so that nothing comes to rest on them meanwhile.
func (m *Memory) eraseStep(ctx context.Context, sc store.Scope, r *EraseRequest, at *erasing, p *lifecycle.Progress) (more bool, err error) {
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return false, err
	}
	defer unlock()
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: erasePart}
	if r.Filter != nil {
		q.Filter = *r.Filter
	}
	q.Filter = narrow(q.Filter, r.Thread)
	page, err := m.store.List(ctx, sc, q)
	if err != nil || len(page.Items) == 0 {
		return false, err
	}
	items, ids := make([]store.Item, len(page.Items)), make([]string, len(page.Items))
	for i := range page.Items {
		items[i], ids[i] = store.Item{ID: page.Items[i].ID, Turn: page.Items[i].Turn}, page.Items[i].ID
	}
	if sc == at.Scope && slices.Equal(ids, at.Next) {
		return false, fmt.Errorf("%w: the store still lists what was removed", store.ErrUnavailable)
	}
	profile, err := m.forgetSources(ctx, sc, items)
	if err != nil {
		return false, err
	}
	next := erasing{at.Erased, sc, ids}
	next.Items += len(items)
	next.Sections += len(profile.Put) + len(profile.Delete)
	if at.Scope.Key() < sc.Key() { // they are visited in this order
		next.Memories++
	}
	if err := p.Save(ctx, next, next.Items, 0); err != nil {
		return false, err
	}
	*at = next
	return true, m.erase(ctx, sc, items, profile)
}
