package evoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// whole tells whether memories go as a whole.
func (r *EraseRequest) whole() bool { return r.Thread == "" && r.Filter == nil }

func (r *EraseRequest) covers(sc store.Scope) bool {
	return r.Tenant || (r.User == "" || sc.User == r.User) && (r.Agent == "" || sc.Agent == r.Agent)
}

// Erased counts what an erasure removed. It is the result of an operation of the kind "erase", with its receipt.
type Erased struct {
	Memories   int `json:"memories"`          // that held something of it
	Items      int `json:"items"`             // that were selected
	Derived    int `json:"derived,omitempty"` // facts and summaries beside them that rested on nothing else
	Sections   int `json:"sections"`          // versions of the profile's sections beside them, that rested on them
	Tombstones int `json:"tombstones"`        // keyed hashes that keep it from coming back
}

func (e Erased) counts() map[string]int {
	return map[string]int{"memories": e.Memories, "items": e.Items, "derived": e.Derived, "sections": e.Sections, "tombstones": e.Tombstones}
}

// erasedResult is the result of an erasure.
type erasedResult struct {
	Erased
	Receipt lifecycle.SignedReceipt `json:"receipt"`
}

// Erase removes items for good in every memory that the request covers: every version of them in whatever state, what was
// distilled from nothing else, the sections of profiles that rest on them, and what the queue, the records of blocks, the
// audit log and other operations keep of them. Then it looks for what it removed on every path by which a memory is read and
// in the files, and makes a receipt: see Receipt. Tombstones keep it from coming back by replay or import: see LiftErasure. It
// is an operation of the kind "erase": it answers at once, and what it does goes on after a crash.
func (m *Memory) Erase(ctx context.Context, r EraseRequest) (op store.Operation, err error) {
	defer func() {
		m.audit(ctx, deed("start erase", Who{User: r.User, Agent: r.Agent}, err, nil, op.ID))
	}()
	if err := r.validate(); err != nil {
		return store.Operation{}, err
	}
	if err := m.checkErasable(ctx, &r); err != nil {
		return store.Operation{}, fmt.Errorf("erase: %w", err)
	}
	return m.submit(ctx, "erase", r)
}

// erasePart is how many items an erasure removes at a step, in one write.
const erasePart = 200

// erasing is the checkpoint of an erasure: what was counted, with what is removed next, so that a step which a crash
// cut off is neither lost nor counted twice. Names stand in it until the next step.
type erasing struct {
	Erased
	Scope   store.Scope    `json:"scope,omitzero"` // the memory that Next is of
	Next    []string       `json:"next,omitempty"`
	Threads []string       `json:"threads,omitempty"` // that Next was said in
	Removed map[string]int `json:"removed,omitempty"` // of control data, by place
	Runs    int            `json:"runs"`
	Samples string         `json:"samples,omitempty"` // keyed hashes of passages; see lifecycle.Samples
	Probed  []probed       `json:"probed,omitempty"`
	// Asked is what is left of the request once everything is removed.
	Asked *lifecycle.Asked `json:"asked,omitempty"`
}

// eraser does one erasure.
type eraser struct {
	*Memory
	p       *lifecycle.Progress
	r       EraseRequest
	at      erasing
	marks   *lifecycle.Marks
	samples *lifecycle.Samples
	asked   int // how many of the erased texts were asked for, in this run

	scrubbed bool // the files were written anew
}

// eraseWork is the work of an erasure.
func (m *Memory) eraseWork(ctx context.Context, p *lifecycle.Progress) (result any, err error) {
	x := &eraser{Memory: m, p: p}
	if err := p.Args(&x.r); err != nil {
		return nil, err
	}
	if _, err := p.Checkpoint(&x.at); err != nil {
		return nil, err
	}
	defer func() {
		if endedBy(ctx, p, err) {
			m.audit(ctx, deed("erase", Who{User: x.r.User, Agent: x.r.Agent}, err, x.at.counts(), p.Operation().ID))
		}
	}()
	if x.at.Asked != nil {
		x.r.Filter, x.r.Thread = nil, ""
	} else if err := x.r.validate(); err != nil {
		return nil, err
	}
	if x.marks, err = m.engine.marks(ctx, true); err != nil {
		return nil, err
	}
	if x.samples, err = x.marks.NewSamples(p.Operation().ID, x.at.Samples); err != nil {
		return nil, err
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	receipt, err := x.receipt(ctx)
	if err != nil {
		return nil, err
	}
	return erasedResult{x.at.Erased, receipt}, nil
}

// run removes what is selected, memory by memory. At its end the operation names nothing of it any more.
func (x *eraser) run(ctx context.Context) error {
	if x.at.Runs++; x.at.Asked != nil {
		return nil
	}
	if err := x.rest(ctx); err != nil {
		return err
	}
	scopes, err := x.covered(ctx)
	if err != nil {
		return err
	}
	for _, sc := range scopes {
		if err := x.free(ctx, sc); err != nil {
			return err
		}
	}
	for _, sc := range scopes {
		for more := true; more; {
			if more, err = x.step(ctx, sc); err != nil {
				return err
			}
		}
	}
	asked := x.asks()
	x.at.Asked, x.at.Next, x.at.Threads = &asked, nil, nil
	return x.p.Reduce(ctx, asked, x.at)
}

// covered are the memories that the request covers, in the order in which they are visited.
func (x *eraser) covered(ctx context.Context) ([]store.Scope, error) {
	scopes, err := x.store.Scopes(ctx, x.tenant)
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	if x.r.whole() { // what holds nothing but control data goes, too
		traced, err := x.ledger.TracedScopes(ctx, x.tenant)
		if err != nil {
			return nil, fmt.Errorf("read memories: %w", err)
		}
		scopes = append(scopes, traced...)
	}
	if x.r.whole() && x.r.User != "" && x.r.Agent == "" { // it may hold nothing but control data
		scopes = append(scopes, store.Scope{Tenant: x.tenant, User: x.r.User})
	}
	if x.at.Scope.Tenant != "" { // perhaps nothing was left of it when the erasure was cut off
		scopes = append(scopes, x.at.Scope)
	}
	scopes = slices.DeleteFunc(scopes, func(sc store.Scope) bool { return !x.r.covers(sc) })
	slices.SortFunc(scopes, func(a, b store.Scope) int { return cmp.Compare(a.Key(), b.Key()) })
	return slices.Compact(scopes), nil
}

// how is how items go.
func (x *eraser) how() removing {
	by := ""
	if x.p != nil { // else it is only looked whether it may
		by = x.p.Operation().ID
	}
	return removing{by: by, facts: true, strict: true, marks: true, whole: x.r.whole()}
}

// rest removes what is left of the step that was planned last. It is counted.
func (x *eraser) rest(ctx context.Context) error {
	if len(x.at.Next) == 0 {
		return nil
	}
	unlock, err := x.hold(ctx, x.at.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	items, err := x.store.Get(ctx, x.at.Scope, x.at.Next)
	if err != nil {
		return fmt.Errorf("read what is to go: %w", err)
	}
	if len(items) > 0 {
		plan, err := x.planRemoval(ctx, x.at.Scope, items, x.how())
		if err != nil {
			return err
		}
		if err := x.checkHeld(ctx, x.at.Scope, plan.gone); err != nil {
			return err
		}
		if _, err := x.remove(ctx, plan); err != nil {
			return err
		}
	}
	if _, err := x.untrace(ctx, x.at.Scope, x.how(), x.at.Next, x.at.Threads); err != nil {
		return err
	}
	return x.probeIDs(ctx, x.at.Scope, x.at.Next, x.at.Threads)
}

// step removes the next items of a memory that the erasure selects, and tells whether there were any. The memory is
// locked from the moment that they are chosen, so that nothing comes to rest on them meanwhile.
func (x *eraser) step(ctx context.Context, sc store.Scope) (more bool, err error) {
	unlock, err := x.hold(ctx, sc)
	if err != nil {
		return false, err
	}
	defer unlock()
	items, err := x.next(ctx, sc)
	if err != nil {
		return false, err
	}
	if len(items) == 0 {
		return false, x.last(ctx, sc)
	}
	plan, err := x.planRemoval(ctx, sc, items, x.how())
	if err != nil {
		return false, err
	}
	if err := x.checkHeld(ctx, sc, plan.gone); err != nil {
		return false, err
	}
	ids := plan.ids()
	if sc == x.at.Scope && slices.Equal(ids, x.at.Next) {
		return false, fmt.Errorf("%w: the store still lists what was removed", store.ErrCorrupt)
	}
	next := x.at
	next.Scope, next.Next, next.Threads = sc, ids, plan.threads()
	next.Items += len(items)
	next.Derived += plan.derived
	next.Sections += plan.sections
	next.Tombstones += len(plan.tombstones(x.marks))
	if x.at.Scope.Key() < sc.Key() { // they are visited in this order
		next.Memories++
	}
	if err := x.sample(ctx, plan); err != nil {
		return false, err
	}
	next.Samples = x.samples.Encode()
	if err := x.p.Save(ctx, next, next.Items, 0); err != nil {
		return false, err
	}
	x.at = next
	traces, err := x.remove(ctx, plan)
	if err != nil {
		return false, err
	}
	x.count(traces)
	if err := x.probeIDs(ctx, sc, ids, next.Threads); err != nil {
		return false, err
	}
	return true, x.probeTexts(ctx, sc, plan)
}

// sample takes passages of what goes, to look for them later.
func (x *eraser) sample(ctx context.Context, plan *removal) error {
	for i := range plan.gone {
		x.samples.AddItem(&plan.gone[i])
	}
	sections, err := x.store.Get(ctx, plan.sc, plan.change.Delete)
	if err != nil {
		return fmt.Errorf("read sections: %w", err)
	}
	for i := range sections {
		x.samples.AddItem(&sections[i])
	}
	return nil
}

// last removes, when nothing is left of a memory that goes as a whole, what control data keeps of it.
func (x *eraser) last(ctx context.Context, sc store.Scope) error {
	if !x.r.whole() {
		return nil
	}
	threads, err := x.undoneThreads(ctx, sc)
	if err != nil {
		return err
	}
	t := store.Traced{Scope: sc, All: true, Threads: threads}
	traces, err := x.eraseTraces(ctx, t, x.how())
	if err != nil {
		return err
	}
	x.count(traces)
	return x.probeTraces(ctx, t)
}

// undoneThreads are the conversations of a memory that undos name and that never held an item, with what is to stand there.
func (x *eraser) undoneThreads(ctx context.Context, sc store.Scope) (map[string]string, error) {
	threads := map[string]string{}
	for cursor := ""; ; {
		page, err := x.ledger.ListOperations(ctx, x.tenant, store.OperationQuery{Kind: undoKind, Limit: 1000, Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("read undos: %w", err)
		}
		for i := range page.Operations {
			var a lifecycle.UndoArgs
			if err := json.Unmarshal(page.Operations[i].Args, &a); err != nil {
				continue // it cannot run either; what it names in words of its own is not known
			}
			if name := a.Batch.Thread; name != "" && a.Scope == sc && !strings.HasPrefix(name, store.ErasedPrefix) {
				threads[name] = x.marks.Pseudonym(sc, name)
			}
		}
		if cursor = page.Next; cursor == "" {
			return threads, nil
		}
	}
}

func (x *eraser) count(t store.Traces) {
	if x.at.Removed == nil {
		x.at.Removed = map[string]int{}
	}
	for place, n := range t.Counts {
		x.at.Removed[place] += n
	}
}
