package sqlitestore

import (
	"evoke/scoring"
	"evoke/store"
)

// indexDelta is what a committed write changes in the index of its scope. Applying it again, or applying it to an index
// that was loaded with it already, changes nothing, as long as deltas come in the order of their commits.
type indexDelta struct {
	put     []indexPut
	del     []string
	vectors []indexVectors
}

type indexPut struct {
	n        int64
	item     store.Item
	doc      *scoring.Doc
	keepText bool // the item existed with the same text: vectors stay
}

type indexVectors struct {
	id   string
	rows []vecRow
}

// bulk is from how many items on the orders are sorted once instead of kept sorted.
const bulk = 256

func (x *index) apply(d *indexDelta) {
	x.mu.Lock()
	defer x.mu.Unlock()
	keep := len(d.put)+len(d.del) < bulk
	for i := range d.put {
		x.put(&d.put[i], keep)
	}
	for _, id := range d.del {
		if slot, ok := x.byID[id]; ok {
			x.leaveOrders(slot, keep)
			x.remove(slot)
		}
	}
	if !keep {
		x.sortOrders()
	}
	for i := range d.vectors {
		if slot, ok := x.byID[d.vectors[i].id]; ok {
			x.setRows(slot, d.vectors[i].rows)
		}
	}
}

func (x *index) put(p *indexPut, keep bool) {
	slot, ok := x.byID[p.item.ID]
	switch {
	case ok && p.keepText:
		x.leaveOrders(slot, keep)
		x.leaveSession(slot)
		x.setCurrent(slot, p.item.Counted())
		x.entries[slot].item = p.item
		x.enterSession(slot)
	case ok:
		x.leaveOrders(slot, keep)
		x.remove(slot)
		slot = x.add(p.item, p.doc, p.doc.Weights(x.bm25))
	default:
		slot = x.add(p.item, p.doc, p.doc.Weights(x.bm25))
	}
	if keep {
		x.recent = insert(x.recent, slot, x.byMoment)
		x.important = insert(x.important, slot, x.byImportance)
	}
}

func (x *index) leaveOrders(slot int32, keep bool) {
	if keep {
		x.recent = extract(x.recent, slot, x.byMoment)
		x.important = extract(x.important, slot, x.byImportance)
	}
}

// wasteful reports whether so much of the index is empty that building it anew is better.
func (x *index) wasteful() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.dead > 1024 && x.dead > len(x.byID) || len(x.rowSlot) > 2048 && len(x.rowSlot) > 2*x.used
}
