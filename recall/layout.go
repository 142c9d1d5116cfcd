package recall

import (
	"slices"

	"evoke/store"
)

// groups are all groups in the order in which they stand.
func (k *packer) groups() []*group {
	hits := k.hits
	if k.shape == Briefing {
		hits = slices.Clone(hits)
		slices.SortStableFunc(hits, func(a, b *group) int {
			x, y := a.members[0], b.members[0]
			if fx, fy := x.item.Kind != store.Episodic, y.item.Kind != store.Episodic; fx != fy {
				if fx {
					return -1
				}
				return 1
			} else if fx {
				return categoryOrder(x.item) - categoryOrder(y.item)
			}
			return x.item.ValidFrom.Compare(y.item.ValidFrom)
		})
	}
	return slices.Concat(k.standing, k.profile, hits)
}

// categoryOrder is the place of a fact's category; those without one come last.
func categoryOrder(it *store.Item) int {
	if i := slices.Index(store.Categories(), it.Category); i >= 0 {
		return i
	}
	return len(store.Categories())
}

// layout are the lines of the block, headings among them.
func (k *packer) layout() []string {
	var out []string
	last := ""
	for _, g := range k.groups() {
		if h := headingOf(g.members[0]); k.shape == Briefing && h != last {
			out = append(out, h)
			last = h
		}
		for i := range g.members {
			out = append(out, k.line(g, i).text)
		}
	}
	return out
}

// tell fills in which items the block holds.
func (k *packer) tell() {
	for _, g := range k.groups() {
		for i, p := range g.members {
			k.out.Items = append(k.out.Items, p.item.ID)
			k.out.Entries = append(k.out.Entries, Entry{
				ID: p.item.ID, Part: p.part, Origin: originOf(p.item), Trust: trustOf(p.item), Tokens: k.line(g, i).tokens, Compact: p.compact,
				Sources: p.item.Provenance.Turns,
			})
		}
	}
}
