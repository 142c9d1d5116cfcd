package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"evoke/store"
)

// Undo takes batches of writes back. Nothing is deleted and no past view changes: what the batch added is retracted now, and
// what it closed or retracted holds again from now on as a new version with the old times. So an undo is itself a batch,
// that of its operation, and can be undone.
type Undo struct {
	Store store.Reader
	// Hold locks a scope for one step. Watch counts, until stop is called, how often it was held.
	Hold  func(ctx context.Context, sc store.Scope) (unlock func(), err error)
	Watch func(sc store.Scope) (holds func() uint64, stop func())
	// Commit makes one step durable. embed names the items that need vectors.
	Commit func(ctx context.Context, sc store.Scope, c store.Change, embed []string) error
	Clock  func() time.Time
}

// UndoArgs are the arguments of an operation that undoes a batch.
type UndoArgs struct {
	Scope      store.Scope `json:"scope"`
	Batch      Batch       `json:"batch"`
	Everywhere bool        `json:"everywhere,omitempty"` // in every memory of the tenant; of Scope the tenant alone counts
}

// UndoResult tells what an undo did or would do. The lists hold at most 1000 ids each.
type UndoResult struct {
	Retracted int        `json:"retracted"`          // items that the batch had added
	Reopened  int        `json:"reopened"`           // items that it had closed or retracted
	Conflicts int        `json:"conflicts"`          // items left alone
	Selected  int        `json:"selected"`           // items that the batch is of: made, closed or retracted by it
	Memories  int        `json:"memories,omitempty"` // that hold something of the batch; of an undo in every memory
	Note      string     `json:"note,omitempty"`     // says so when nothing matches, or nothing is left to take back
	Items     []string   `json:"items"`              // ids of those to be retracted, then of those to be reopened; of a dry run
	Left      []Conflict `json:"left"`
	DryRun    bool       `json:"dry_run,omitempty"`
}

// Conflict is an item that an undo leaves as it is.
type Conflict struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

const (
	stepItems   = 200  // in one write, give or take one chain of versions
	readItems   = 1000 // a page
	mostListed  = 1000 // in a result
	mostInChain = 10_000
)

const nothingLeft = "nothing is left to take back"

// unit is what is done to one chain of versions, at once.
type unit struct{ retract, reopen []string }

// plan is what a batch comes to.
type plan struct {
	batch   Batch
	op      string
	added   map[string]bool // that the batch made, whatever became of it
	retract map[string]bool
	reopen  map[string]bool
	units   []unit
	left    map[string]string // conflicts by id
	matched int               // items that the batch is of
}

// Preview tells what an undo would do, and changes nothing.
func (u *Undo) Preview(ctx context.Context, a UndoArgs) (UndoResult, error) {
	p, err := u.plan(ctx, a, "preview")
	if err != nil {
		return UndoResult{}, err
	}
	res := UndoResult{Items: []string{}, DryRun: true}
	var reopened []string
	for _, un := range p.units {
		s := u.step(a.Scope, p)
		if err := s.do(ctx, un); err != nil {
			return UndoResult{}, err
		}
		res.Retracted += len(s.retracted)
		res.Reopened += len(s.reopened)
		res.Items = append(res.Items, s.retracted...)
		reopened = append(reopened, s.reopened...)
	}
	res.Items = append(res.Items, reopened...)
	res.Items = res.Items[:min(len(res.Items), mostListed)]
	p.tell(&res)
	return res, nil
}

// Work is the operation, in the memories given: it plans by what stands, so that one that was cut off goes on with what is
// left. One that is not of every memory is given its one.
func (u *Undo) Work(ctx context.Context, pr *Progress, a UndoArgs, memories []store.Scope) (UndoResult, error) {
	var all UndoResult
	steps := 0
	for _, sc := range memories {
		a.Scope = sc
		res, err := u.work(ctx, pr, a, &steps)
		if err != nil {
			return UndoResult{}, err
		}
		if !a.Everywhere {
			return res, nil
		}
		all.Add(res)
	}
	all.Sum()
	return all, nil
}

// Add joins what an undo did in another memory, with no more ids than a result lists.
func (r *UndoResult) Add(in UndoResult) {
	r.Retracted, r.Reopened, r.Conflicts, r.Selected = r.Retracted+in.Retracted, r.Reopened+in.Reopened, r.Conflicts+in.Conflicts, r.Selected+in.Selected
	r.Items = append(r.Items, in.Items[:min(len(in.Items), mostListed-len(r.Items))]...)
	r.Left = append(r.Left, in.Left[:min(len(in.Left), mostListed-len(r.Left))]...)
	if in.Selected > 0 {
		r.Memories++
	}
}

// Sum ends a result that was joined of those of several memories.
func (r *UndoResult) Sum() {
	if r.Items == nil {
		r.Items = []string{}
	}
	if r.Left == nil {
		r.Left = []Conflict{}
	}
	switch {
	case r.Selected == 0:
		r.Note = "nothing in any memory of the tenant matches the batch"
	case r.Retracted+r.Reopened+r.Conflicts == 0:
		r.Note = nothingLeft
	}
}

// work is the operation in one memory. steps counts what was done before.
func (u *Undo) work(ctx context.Context, pr *Progress, a UndoArgs, steps *int) (UndoResult, error) {
	op := pr.Operation()
	if a.Scope.Tenant != op.Tenant {
		return UndoResult{}, fmt.Errorf("%w: the operation is of another tenant", store.ErrTenant)
	}
	holds, stop := u.Watch(a.Scope)
	defer stop()
	r := &run{u: u, a: a, op: op.ID, holds: holds, tried: map[string]bool{}, left: map[string]string{}}
	if err := r.begin(ctx); err != nil {
		return UndoResult{}, err
	}
	for len(r.p.units) > 0 {
		n, err := r.make(ctx)
		if err != nil {
			return UndoResult{}, err
		}
		*steps += n
		total := *steps + len(r.p.units)
		if a.Everywhere {
			total = 0 // what other memories hold of the batch is not known yet
		}
		if err := pr.Save(ctx, struct{}{}, *steps, total); err != nil {
			return UndoResult{}, err
		}
	}
	for id, why := range r.p.left {
		r.left[id] = why
	}
	r.p.left = r.left
	return u.result(ctx, a.Scope, r.p)
}

// run is one attempt at an undo. Its plan holds as long as nobody else wrote to the memory since it was made: each step looks,
// under the lock, and plans anew where somebody did.
type run struct {
	u     *Undo
	a     UndoArgs
	op    string
	p     *plan
	holds func() uint64
	seen  uint64            // holds up to which the plan is known to stand
	tried map[string]bool   // ids of which this run made what can be made
	left  map[string]string // conflicts of those
}

func (r *run) begin(ctx context.Context) error {
	unlock, err := r.u.Hold(ctx, r.a.Scope)
	if err != nil {
		return err
	}
	r.seen = r.holds()
	unlock()
	r.p, err = r.u.plan(ctx, r.a, r.op)
	return err
}

// plan makes another plan, without what was tried. The scope is locked.
func (r *run) plan(ctx context.Context) error {
	p, err := r.u.plan(ctx, r.a, r.op)
	if err != nil {
		return err
	}
	was := func(id string) bool { return r.tried[id] }
	p.units = slices.DeleteFunc(p.units, func(un unit) bool {
		return !slices.ContainsFunc(slices.Concat(un.retract, un.reopen), func(id string) bool { return !was(id) })
	})
	r.p = p
	return nil
}

// make does the next units in one write and returns how many.
func (r *run) make(ctx context.Context) (int, error) {
	unlock, err := r.u.Hold(ctx, r.a.Scope)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if now := r.holds(); now != r.seen+1 { // the one is this
		if err := r.plan(ctx); err != nil {
			return 0, err
		}
	}
	r.seen = r.holds()
	n, items := 0, 0
	s := r.u.step(r.a.Scope, r.p)
	for n < len(r.p.units) && items < stepItems {
		un := r.p.units[n]
		items += len(un.retract) + len(un.reopen)
		n++
		if err := s.do(ctx, un); err != nil {
			return 0, err
		}
	}
	var c store.Change
	for _, id := range s.order {
		c.Put = append(c.Put, *s.changed[id])
	}
	if len(c.Put) > 0 {
		if err := r.u.Commit(ctx, r.a.Scope, c, s.embed); err != nil {
			return 0, fmt.Errorf("undo: %w", err)
		}
	}
	for _, un := range r.p.units[:n] {
		for _, id := range slices.Concat(un.retract, un.reopen) {
			r.tried[id] = true
			if why := r.p.left[id]; why != "" {
				r.left[id] = why
			}
		}
	}
	r.p.units = r.p.units[n:]
	return n, nil
}

// result counts what the operation did, by its marks: counts kept beside them could miss a step that a crash cut off.
func (u *Undo) result(ctx context.Context, sc store.Scope, p *plan) (UndoResult, error) {
	res := UndoResult{Items: []string{}}
	made, ended := map[string]bool{}, []string{}
	err := u.all(ctx, sc, func(it *store.Item) {
		if it.Provenance.By == p.op {
			made[it.ID] = true
		}
		if it.Provenance.EndedBy == p.op {
			ended = append(ended, it.ID)
		}
	})
	for _, id := range ended {
		if !made[p.newID(id)] {
			res.Retracted++
		}
	}
	res.Reopened = len(made)
	p.tell(&res)
	return res, err
}

func (p *plan) tell(res *UndoResult) {
	res.Conflicts, res.Left, res.Selected = len(p.left), []Conflict{}, p.matched
	switch {
	case p.matched == 0:
		res.Note = "nothing in this memory matches the batch"
	case res.Retracted+res.Reopened+res.Conflicts == 0:
		res.Note = nothingLeft
	}
	for id, why := range p.left {
		res.Left = append(res.Left, Conflict{id, why})
	}
	slices.SortFunc(res.Left, func(a, b Conflict) int { return cmp.Compare(a.ID, b.ID) })
	res.Left = res.Left[:min(len(res.Left), mostListed)]
}

// newID is the id of the version in which an item is reopened: the same in every attempt.
func (p *plan) newID(id string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(p.op+"\x00"+id)).String()
}

func (u *Undo) all(ctx context.Context, sc store.Scope, see func(*store.Item)) error {
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: readItems}
	for it, err := range store.Items(ctx, u.Store, sc, q) {
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
		see(it)
	}
	return nil
}

const (
	replacedLater = "a later write stands in its place"
	restsOnIt     = "what was written later rests on it"
	otherValue    = "its subject has another value by now"
	tellsOfIt     = "it rests on other turns, too, and may tell of what is taken back until it is written anew"
)

// plan finds what the batch did, chain of versions by chain.
func (u *Undo) plan(ctx context.Context, a UndoArgs, op string) (*plan, error) {
	p := &plan{batch: a.Batch, op: op, retract: map[string]bool{}, reopen: map[string]bool{}, left: map[string]string{}}
	next, gone, added := map[string]string{}, map[string]bool{}, map[string]bool{}
	p.added = added
	err := u.all(ctx, a.Scope, func(it *store.Item) {
		if it.SupersededBy != "" {
			next[it.ID] = it.SupersededBy
		}
		switch mine := it.Provenance.By == op || it.Provenance.EndedBy == op; {
		case mine:
			p.matched++
			gone[it.ID] = true // an earlier attempt saw to it
			added[it.ID] = it.Provenance.EndedBy == op && p.batch.added(it)
		case p.batch.added(it):
			p.matched++
			added[it.ID] = true
			p.retract[it.ID] = it.RetractedAt.IsZero()
		case p.batch.closed(it) || p.batch.retracted(it):
			p.matched++
			p.reopen[it.ID] = true
		}
	})
	if err != nil {
		return nil, err
	}
	if err := u.sections(ctx, a.Scope, p); err != nil {
		return nil, err
	}
	for id, by := range next {
		if added[by] && !added[id] && !gone[id] {
			p.reopen[id] = true
		}
	}
	if len(added) > 0 {
		err = u.all(ctx, a.Scope, func(it *store.Item) {
			if added[it.ID] || gone[it.ID] || !it.RetractedAt.IsZero() || it.IsProfile() {
				return
			}
			for _, id := range it.Provenance.Turns {
				if p.retract[id] {
					p.left[id] = restsOnIt
				}
			}
		})
	}
	p.group(next)
	return p, err
}

// group sorts the changes by the end of their chains of versions.
func (p *plan) group(next map[string]string) {
	byEnd := map[string]*unit{}
	of := func(id string) *unit {
		for n := 0; next[id] != "" && n < mostInChain; n++ {
			id = next[id]
		}
		if byEnd[id] == nil {
			byEnd[id] = &unit{}
		}
		return byEnd[id]
	}
	for id := range p.left {
		delete(p.retract, id)
	}
	for id, alive := range p.retract {
		if alive {
			un := of(id)
			un.retract = append(un.retract, id)
		}
	}
	for id := range p.reopen {
		un := of(id)
		un.reopen = append(un.reopen, id)
	}
	ends := make([]string, 0, len(byEnd))
	for id := range byEnd {
		ends = append(ends, id)
	}
	slices.Sort(ends)
	for _, id := range ends {
		slices.Sort(byEnd[id].retract)
		slices.Sort(byEnd[id].reopen)
		p.units = append(p.units, *byEnd[id])
	}
}
