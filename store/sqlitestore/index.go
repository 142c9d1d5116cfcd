package sqlitestore

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"evoke/scoring"
	"evoke/store"
)

// index is one scope in memory. Slots are numbers of entries; a slot whose item is gone stays empty until the index is
// built anew. Readers hold mu for reading during a whole search, so what they see is one state.
type index struct {
	mu      sync.RWMutex
	dim     int // 0 before the first vector
	bm25    scoring.BM25
	entries []entry
	byID    map[string]int32
	terms   map[scoring.Term]*termList
	current int // items that statistics count
	pending int // of those, how many have no vectors

	sessions  map[string][]place // by position, then slot
	apart     map[int32]bool     // slots of items that are asked for by what they are: see setApart
	recent    []int32            // live slots by moment, newest first
	important []int32            // live slots by importance, highest first

	rows    []int8 // dim numbers a row
	scales  []float32
	rowSlot []int32 // -1: no longer used
	maxNorm float32 // the greatest length of a row

	bytes atomic.Int64 // approximate
	dead  int          // empty slots
	used  int          // rows in use
	spare sync.Pool    // of *scratch
}

type entry struct {
	live    bool
	current bool
	item    store.Item
	doc     *scoring.Doc
	row     int32 // first row
	nrows   int32 // 0: no vectors
	size    int64
}

type termList struct {
	postings []posting
	df       int32 // of current items
}

// posting says what a term weighs in the item of a slot.
type posting struct {
	slot   int32
	weight float32
}

// place is where a turn stands in its session.
type place struct {
	position int32
	slot     int32
}

func newIndex(dim int, bm25 scoring.BM25) *index {
	return &index{dim: dim, bm25: bm25, byID: map[string]int32{}, terms: map[scoring.Term]*termList{}, sessions: map[string][]place{}, apart: map[int32]bool{}}
}

// moment orders the recent arm: when the item's matter took place or, where unknown, when it was recorded.
func moment(it *store.Item) int64 {
	if it.ValidFrom.IsZero() {
		return micros(it.RecordedAt)
	}
	return micros(it.ValidFrom)
}

func (x *index) byMoment(a, b int32) int {
	p, q := &x.entries[a].item, &x.entries[b].item
	if c := cmp.Compare(moment(q), moment(p)); c != 0 {
		return c
	}
	return strings.Compare(p.ID, q.ID)
}

func (x *index) byImportance(a, b int32) int {
	if c := cmp.Compare(x.entries[b].item.Importance, x.entries[a].item.Importance); c != 0 {
		return c
	}
	return x.byMoment(a, b)
}

// add enters a new item, without its place in the orders.
func (x *index) add(it store.Item, doc *scoring.Doc, weights []scoring.TermWeight) int32 {
	slot := int32(len(x.entries))
	e := entry{live: true, current: it.Counted(), item: it, doc: doc}
	e.size = int64(len(it.Content)+len(it.ID)+len(it.Provenance.Quote)+160*len(it.Metadata)) + 700 + int64(len(weights))*28
	x.entries = append(x.entries, e)
	x.byID[it.ID] = slot
	for _, w := range weights {
		l := x.terms[w.Term]
		if l == nil {
			l = &termList{}
			x.terms[w.Term] = l
		}
		l.postings = append(l.postings, posting{slot, w.Weight})
		if e.current {
			l.df++
		}
	}
	if e.current {
		x.current++
		x.pending++
	}
	x.bytes.Add(e.size)
	x.enterSession(slot)
	return slot
}

// apartCategories are those that every block asks for, with or without a query.
var apartCategories = []store.Category{store.Correction, store.Behavior}

func setApart(it *store.Item) bool {
	return it.IsProfile() || slices.Contains(apartCategories, it.Category)
}

func (x *index) enterSession(slot int32) {
	if setApart(&x.entries[slot].item) {
		x.apart[slot] = true
	}
	t := &x.entries[slot].item.Turn
	if !t.IsTurn() {
		return
	}
	list := x.sessions[t.Session]
	p := place{int32(t.Position), slot}
	i := sort.Search(len(list), func(i int) bool {
		return list[i].position > p.position || list[i].position == p.position && list[i].slot > slot
	})
	x.sessions[t.Session] = slices.Insert(list, i, p)
}

func (x *index) leaveSession(slot int32) {
	delete(x.apart, slot)
	t := &x.entries[slot].item.Turn
	if !t.IsTurn() {
		return
	}
	list := slices.DeleteFunc(x.sessions[t.Session], func(p place) bool { return p.slot == slot })
	if len(list) == 0 {
		delete(x.sessions, t.Session)
		return
	}
	x.sessions[t.Session] = list
}

// at returns the places of a session with the given position.
func (x *index) at(session string, position int) []place {
	list := x.sessions[session]
	from := sort.Search(len(list), func(i int) bool { return int(list[i].position) >= position })
	to := from
	for to < len(list) && int(list[to].position) == position {
		to++
	}
	return list[from:to]
}

// setCurrent changes whether statistics count the item.
func (x *index) setCurrent(slot int32, current bool) {
	e := &x.entries[slot]
	if e.current == current {
		return
	}
	e.current = current
	d := int32(1)
	if !current {
		d = -1
	}
	for _, t := range e.doc.Terms() {
		if l := x.terms[t.Term]; l != nil {
			l.df += d
		}
	}
	x.current += int(d)
	if e.nrows == 0 {
		x.pending += int(d)
	}
}

// remove empties a slot that is no longer in the orders. Its postings stay and are passed over.
func (x *index) remove(slot int32) {
	x.setCurrent(slot, false)
	x.dropRows(slot)
	x.leaveSession(slot)
	e := &x.entries[slot]
	delete(x.byID, e.item.ID)
	x.bytes.Add(-e.size)
	*e = entry{}
	x.dead++
}

func (x *index) dropRows(slot int32) {
	e := &x.entries[slot]
	if e.nrows == 0 {
		return
	}
	for i := e.row; i < e.row+e.nrows; i++ {
		x.rowSlot[i] = -1
	}
	x.used -= int(e.nrows)
	x.bytes.Add(-int64(e.nrows) * int64(x.dim+8))
	e.nrows = 0
	if e.current {
		x.pending++
	}
}

// setRows gives an item its search rows.
func (x *index) setRows(slot int32, rows []vecRow) {
	x.dropRows(slot)
	if x.dim == 0 && len(rows) > 0 {
		x.dim = len(rows[0].q) // the vector space was claimed after this scope was read
	}
	e := &x.entries[slot]
	e.row, e.nrows = int32(len(x.rowSlot)), int32(len(rows))
	for _, r := range rows {
		x.rows = append(x.rows, r.q...)
		x.scales = append(x.scales, r.scale)
		x.rowSlot = append(x.rowSlot, slot)
		x.maxNorm = max(x.maxNorm, norm(r))
	}
	x.used += len(rows)
	x.bytes.Add(int64(len(rows)) * int64(x.dim+8))
	if e.current && len(rows) > 0 {
		x.pending--
	}
}

// insert and extract keep an order sorted.
func insert(order []int32, slot int32, less func(a, b int32) int) []int32 {
	i, _ := slices.BinarySearchFunc(order, slot, less)
	return slices.Insert(order, i, slot)
}

func extract(order []int32, slot int32, less func(a, b int32) int) []int32 {
	i, ok := slices.BinarySearchFunc(order, slot, less)
	if !ok || order[i] != slot {
		return slices.DeleteFunc(order, func(s int32) bool { return s == slot })
	}
	return slices.Delete(order, i, i+1)
}

// sortOrders makes both orders anew.
func (x *index) sortOrders() {
	live := make([]int32, 0, len(x.byID))
	for slot := range x.entries {
		if x.entries[slot].live {
			live = append(live, int32(slot))
		}
	}
	slices.SortFunc(live, x.byMoment)
	x.recent = live
	x.important = slices.Clone(live)
	slices.SortStableFunc(x.important, func(a, b int32) int {
		return cmp.Compare(x.entries[b].item.Importance, x.entries[a].item.Importance)
	})
}
