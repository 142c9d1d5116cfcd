package recall

import (
	"context"
	"fmt"
	"slices"

	"evoke/scoring"
	"evoke/store"
)

// counter counts the tokens of a text: Count is the number that holds, Fast the same from a quicker hand.
type counter interface {
	Count(text string) int
	Fast(text string) int
	Name() string
}

// material is what a block is made of.
type material struct {
	standing, profile, hits []source
	terms                   []scoring.QueryTerm
	// neighbours finds the turns around those placed, by the hit they stand beside, in the order of the hits; nil: none.
	neighbours func(hits []source) []source
}

// source is an item of one of the scopes searched.
type source struct {
	item  *store.Item
	place int // of the scope
}

// placed is an item in a block.
type placed struct {
	source
	part    Part
	content string // what of the item is shown
	compact bool
	first   line // when it stands first in its group
	next    line // … behind another turn
	apart   line // … with turns between left out
}

// line is a rendered line and its tokens, once it was needed.
type line struct {
	text   string
	tokens int
}

// group are lines that belong together: one item, or the turns of one session and day in their order.
type group struct{ members []*placed }

// packer fills a block.
//
// A line ends with a line break behind a character that is not blank, and the next begins with "-", ">", a letter or "<":
// the split patterns of the encodings end a piece exactly there, so the counts of lines add up. The whole is counted all
// the same, and the item taken last is given back for as long as it is over.
type packer struct {
	counter
	shape                   Shape
	budget, used            int
	longer                  int // what the notice of a block with standing wishes costs beyond the other
	terms                   []scoring.QueryTerm
	standing, profile, hits []*group
	order                   []*placed // as taken
	out                     *Block
}

// The parts of a budget that standing wishes and the profile may take before the hits had theirs.
const (
	standingShare = 0.5
	profileShare  = 0.3
)

// An item that needs more than this part of the budget, and more than so many tokens, is shown by its best passage.
const (
	longShare  = 0.25
	longTokens = 200
)

// pack fills a block: standing wishes and corrections first, within half of the budget, the profile within a third of the
// rest, then the hits, the best first, each whole, by a passage when it is long, or not at all; then what of the first two
// had found no room. The neighbours of the first hits come before the eleventh, those of some more at the end.
func pack(ctx context.Context, m material, shape Shape, budget int, c counter) (*Block, error) {
	k := &packer{
		counter: c, shape: shape, budget: budget, terms: m.terms, longer: c.Fast(noticeStanding+"\n") - c.Fast(notice+"\n"),
		out: &Block{Budget: budget, Tokenizer: c.Name(), Shape: shape, Items: []string{}},
	}
	empty, _ := render(notice, nil)
	k.used = c.Fast(empty)
	frame := k.used
	var late []source // of standing and profile
	for _, pass := range []struct {
		part  Part
		list  []source
		share float64
		late  bool
	}{
		{PartStanding, m.standing, standingShare, true},
		{PartProfile, m.profile, standingShare + profileShare, true},
		{PartHit, m.hits, 1, false},
	} {
		around := frame
		if pass.part == PartStanding || len(k.standing) > 0 {
			around += k.longer
		}
		limit := min(budget, around+int(pass.share*float64(max(0, budget-around))))
		for i, s := range pass.list {
			if pass.part == PartHit && i == earlyHits {
				k.around(m, m.hits[:earlyNeighboursOf])
			}
			if k.has(s, pass.part) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("pack: %w", err)
			}
			cost, ok := k.take(s, pass.part, limit)
			switch {
			case ok:
			case pass.late:
				late = append(late, s)
			default:
				k.leave(s.item.ID, cost)
			}
		}
	}
	for _, s := range late {
		part := PartStanding
		if s.item.IsProfile() {
			part = PartProfile
		}
		if cost, ok := k.take(s, part, budget); !ok {
			k.leave(s.item.ID, cost)
		}
	}
	k.around(m, m.hits[:min(len(m.hits), neighboursOf)])
	return k.finish(), nil
}

// around takes the neighbours of hits, as far as there is room.
func (k *packer) around(m material, hits []source) {
	if m.neighbours == nil || len(hits) == 0 || k.budget-k.used < neighbourRoom {
		return
	}
	for _, s := range m.neighbours(hits) {
		if !k.has(s, PartNeighbour) {
			k.take(s, PartNeighbour, k.budget)
		}
	}
}

// has reports whether an item was taken, as what it is now or as a neighbour, which makes it what it is now.
func (k *packer) has(s source, part Part) bool {
	at := slices.IndexFunc(k.order, func(o *placed) bool { return o.item.ID == s.item.ID && o.place == s.place })
	if at >= 0 && part == PartHit && k.order[at].part == PartNeighbour {
		k.order[at].part = PartHit
	}
	return at >= 0
}

func (k *packer) leave(id string, cost int) {
	k.out.LeftOut = append(k.out.LeftOut, LeftOut{ID: id, Tokens: cost, Reason: "budget"})
}

// take places an item if that keeps the block within a limit, and tells what it costs, or would.
func (k *packer) take(s source, part Part, limit int) (cost int, ok bool) {
	p := &placed{source: s, part: part, content: s.item.Content}
	g, at, cost := k.fit(p)
	whole := cost
	if part != PartNeighbour && (k.used+cost > limit || cost > max(longTokens, int(longShare*float64(k.budget)))) {
		if passage, long := compact(s.item, k.terms); long {
			short := &placed{source: s, part: part, content: passage, compact: true}
			if sg, sat, sc := k.fit(short); sc < whole {
				p, g, at, cost = short, sg, sat, sc
			}
		}
	}
	if k.used+cost > limit {
		return whole, false
	}
	if g == nil {
		g = &group{}
		list := k.list(part)
		*list = append(*list, g)
	}
	g.members = slices.Insert(g.members, at, p)
	k.order = append(k.order, p)
	k.used += cost
	return cost, true
}

func (k *packer) list(part Part) *[]*group {
	switch part {
	case PartStanding:
		return &k.standing
	case PartProfile:
		return &k.profile
	case PartHit, PartNeighbour:
	}
	return &k.hits
}

// fit finds the excerpt that an item belongs to, nil for none, its place in it, and what it would cost there.
func (k *packer) fit(p *placed) (g *group, at, cost int) {
	for _, h := range k.hits {
		if (p.part == PartHit || p.part == PartNeighbour) && h.admits(p) {
			at := slices.IndexFunc(h.members, func(m *placed) bool { return m.item.Turn.Position > p.item.Turn.Position })
			if at < 0 {
				at = len(h.members)
			}
			before, after := k.memberCost(h, at), 0
			longer := group{slices.Insert(slices.Clone(h.members), at, p)}
			after = k.memberCost(&longer, at) + k.memberCost(&longer, at+1)
			return h, at, after - before
		}
	}
	alone := group{[]*placed{p}}
	return nil, 0, k.memberCost(&alone, 0) + k.headingCost(p) + k.noticeCost(p)
}

// admits reports whether a turn is of the session and day of an excerpt.
func (g *group) admits(p *placed) bool {
	m := g.members[0]
	a, b := &m.item.Turn, &p.item.Turn
	return m.place == p.place && a.IsTurn() && b.IsTurn() && a.Session == b.Session && a.Thread == b.Thread &&
		m.item.Kind == store.Episodic && p.item.Kind == store.Episodic && sameDay(m.item, p.item)
}

func sameDay(a, b *store.Item) bool {
	return a.Date() == b.Date()
}

// line renders a member of a group.
func (k *packer) line(g *group, i int) *line {
	p := g.members[i]
	l, build := &p.first, func() string { return head(p.item, p.part, k.shape, p.content) }
	if i > 0 {
		apart := p.item.Turn.Position > g.members[i-1].item.Turn.Position+1
		if l = &p.next; apart {
			l = &p.apart
		}
		build = func() string { return follow(p.item, apart, k.shape, p.content) }
	}
	if l.text == "" {
		l.text = build()
		l.tokens = k.Fast(l.text + "\n")
	}
	return l
}

// memberCost is what the i-th line of a group costs, 0 for one behind the last.
func (k *packer) memberCost(g *group, i int) int {
	if i >= len(g.members) {
		return 0
	}
	return k.line(g, i).tokens
}

// The headings of a briefing.
const (
	headStanding = "What the user asked for and corrected"
	headProfile  = "Profile"
	headFacts    = "Facts"
	headTurns    = "From conversations"
)

func headingOf(p *placed) string {
	switch {
	case p.part == PartStanding:
		return headStanding
	case p.part == PartProfile:
		return headProfile
	case p.item.Kind == store.Episodic:
		return headTurns
	}
	return headFacts
}

// headingCost is what the heading costs that an item is the first under.
func (k *packer) headingCost(p *placed) int {
	h := headingOf(p)
	if k.shape != Briefing || slices.ContainsFunc(k.order, func(o *placed) bool { return headingOf(o) == h }) {
		return 0
	}
	return k.Fast(h + "\n")
}

// noticeCost is what the longer notice costs, which the first standing wish brings with it.
func (k *packer) noticeCost(p *placed) int {
	if p.part != PartStanding || len(k.standing) > 0 {
		return 0
	}
	return k.longer
}

// finish renders what was taken, counts it, and gives back from the end while it is over.
func (k *packer) finish() *Block {
	for len(k.order) > 0 {
		text, hash := render(k.reading(), k.layout())
		if n := k.Count(text); n <= k.budget {
			k.out.Text, k.out.Hash, k.out.Tokens = text, hash, n
			k.tell()
			return k.out
		}
		last := k.order[len(k.order)-1]
		k.order = k.order[:len(k.order)-1]
		cost := k.line(&group{[]*placed{last}}, 0).tokens
		k.drop(last)
		if last.part != PartNeighbour {
			k.leave(last.item.ID, cost)
		}
	}
	return k.out
}

// reading is the notice that the block needs.
func (k *packer) reading() string {
	if len(k.standing) == 0 {
		return notice
	}
	return noticeStanding
}

func (k *packer) drop(p *placed) {
	list := k.list(p.part)
	for _, g := range *list {
		g.members = slices.DeleteFunc(g.members, func(m *placed) bool { return m == p })
	}
	*list = slices.DeleteFunc(*list, func(g *group) bool { return len(g.members) == 0 })
}
