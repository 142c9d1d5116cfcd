package lifecycle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"evoke/scoring"
	"evoke/store"
)

// What the items of a group have in common.
const (
	ByDay   = "day"   // one day of one conversation, next to each other in it
	ByTopic = "topic" // one conversation, one speaker and much the same words
)

// Grouping says which items are summarised together. Zero fields have the documented defaults.
type Grouping struct {
	By    []string `json:"by,omitempty"`    // "day", "topic"; default both, by day first
	Least int      `json:"least,omitempty"` // items of a group; 3–100, default 3
	Words int      `json:"words,omitempty"` // that the items of a group have together at the most; 20–2000, default 120
	// Share of a memory's items by which summaries are to make it smaller, the shortest items first, where there is enough to
	// be summarised. Above 0 and up to 1, default 0.3: beyond it recall begins to lose.
	Share float64 `json:"share,omitempty"`
}

// WithDefaults returns a filled and checked copy.
func (g Grouping) WithDefaults() (Grouping, error) {
	if len(g.By) == 0 {
		g.By = []string{ByDay, ByTopic}
	}
	for _, by := range g.By {
		if by != ByDay && by != ByTopic {
			return g, store.Invalid("by", "day, topic or both", fmt.Sprintf("%.40q", by))
		}
	}
	g.Least, g.Words, g.Share = cmp.Or(g.Least, 3), cmp.Or(g.Words, 120), cmp.Or(g.Share, 0.3)
	if g.Least < 3 || g.Least > 100 {
		return g, store.Invalid("least", "from 3 to 100", fmt.Sprint(g.Least))
	}
	if g.Words < 20 || g.Words > 2000 {
		return g, store.Invalid("words", "from 20 to 2000", fmt.Sprint(g.Words))
	}
	return g, store.InUnit("share", g.Share)
}

// Group is what one summary stands for: three items or more, in the order in which they were said.
type Group struct {
	By    string
	Items []store.Item
}

// Words are those of the group's items.
func (g *Group) Words() int {
	n := 0
	for i := range g.Items {
		n += scoring.WordCount(g.Items[i].Content)
	}
	return n
}

// wordStep is by how much longer summaries may be from one try to the next, and firstWords how long in the first.
const (
	wordStep   = 5
	firstWords = 40
)

// Groups forms groups of items, which are of one memory. By day they are as short as make it smaller by fewer items, or as
// long as is allowed where shorter ones do not suffice; only where these do not either, what is left is grouped by topic.
// Those whose items have the fewest words come first. Every item is in one group at the most, and the same items always give
// the same groups.
func (g Grouping) Groups(items []store.Item, fewer int) []Group {
	lots := map[string][]store.Item{}
	for i := range items {
		k := lotOf(&items[i])
		lots[k] = append(lots[k], items[i])
	}
	var out []Group
	left, saved := lots, 0
	if slices.Contains(g.By, ByDay) {
		most := g.Words
		for g.Words = min(firstWords, most); ; g.Words = min(g.Words+wordStep, most) {
			out, left, saved = g.days(lots)
			if saved >= fewer || g.Words == most {
				break
			}
		}
	}
	if saved < fewer && slices.Contains(g.By, ByTopic) {
		for _, k := range slices.Sorted(maps.Keys(left)) {
			out = append(out, g.byTopic(left[k])...)
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int { // words an item
		return cmp.Compare(a.Words()*len(b.Items), b.Words()*len(a.Items))
	})
	return out
}

// days groups all lots by day and tells by how many items that makes a memory smaller.
func (g Grouping) days(lots map[string][]store.Item) (out []Group, left map[string][]store.Item, saved int) {
	left = make(map[string][]store.Item, len(lots))
	for _, k := range slices.Sorted(maps.Keys(lots)) {
		var groups []Group
		groups, left[k] = g.byDay(lots[k])
		for i := range groups {
			saved += len(groups[i].Items) - 1
		}
		out = append(out, groups...)
	}
	return out, left, saved
}

// lotOf is what the items of any group share: what a filter tells apart, so that whatever finds a source by its place finds
// its summary.
func lotOf(it *store.Item) string {
	metadata := ""
	if b, err := json.Marshal(it.Metadata); err == nil && len(it.Metadata) > 0 {
		metadata = string(b)
	}
	return strings.Join([]string{string(it.Kind), string(it.Category), it.Turn.Thread, it.Provenance.Durability, metadata}, "\x00")
}

// SameLot reports whether a summary may stand for an item as far as filters go: they share what lotOf tells apart.
func SameLot(a, b *store.Item) bool { return lotOf(a) == lotOf(b) }

// asSaid orders items as they were said.
func asSaid(a, b store.Item) int {
	return cmp.Or(a.ValidFrom.Compare(b.ValidFrom), cmp.Compare(a.Turn.Session, b.Turn.Session), cmp.Compare(a.Turn.Position, b.Turn.Position), cmp.Compare(a.ID, b.ID))
}

// byDay cuts each day of each session into runs of neighbours that a summary can hold.
func (g Grouping) byDay(items []store.Item) (groups []Group, left []store.Item) {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b store.Item) int {
		return cmp.Or(cmp.Compare(a.Turn.Session, b.Turn.Session), cmp.Compare(a.Date(), b.Date()), cmp.Compare(a.Turn.Position, b.Turn.Position), asSaid(a, b))
	})
	for i := 0; i < len(items); {
		n, words := 0, 0
		for j := i; j < len(items) && (j == i || follows(&items[j-1], &items[j])); j++ {
			if words += scoring.WordCount(items[j].Content); words > g.Words {
				break
			}
			n++
		}
		if n < g.Least || items[i].Date() == "" {
			left = append(left, items[i])
			i++
			continue
		}
		groups = append(groups, Group{ByDay, slices.Clone(items[i : i+n])})
		i += n
	}
	return groups, left
}

// follows reports whether b comes next to a on one day of one conversation; items outside of one have a day and a speaker.
func follows(a, b *store.Item) bool {
	if a.Turn.Session != b.Turn.Session || a.Date() != b.Date() {
		return false
	}
	if a.Turn.IsTurn() {
		return b.Turn.Position == a.Turn.Position+1
	}
	return a.Turn.Speaker == b.Turn.Speaker
}
