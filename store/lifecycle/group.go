package lifecycle

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	Words int      `json:"words,omitempty"` // that the items of a group have together at the most; 20–2000, default 80
	// Share of a memory's items by which summaries may make it smaller; the items with the fewest words go first. 0–1,
	// default 0.33: beyond it recall begins to lose.
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
	g.Least, g.Words, g.Share = cmp.Or(g.Least, 3), cmp.Or(g.Words, 80), cmp.Or(g.Share, 0.33)
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

// Groups forms groups of items, which are of one memory: those whose items have the fewest words first. Every item is in one
// group at the most, by day where that is asked for and what is left by topic. The same items always give the same groups.
func (g Grouping) Groups(items []store.Item) []Group {
	lots := map[string][]store.Item{}
	for i := range items {
		k := lotOf(&items[i])
		lots[k] = append(lots[k], items[i])
	}
	var out []Group
	for _, k := range sortedKeys(lots) {
		left := lots[k]
		if slices.Contains(g.By, ByDay) {
			var day []Group
			day, left = g.byDay(left)
			out = append(out, day...)
		}
		if slices.Contains(g.By, ByTopic) {
			out = append(out, g.byTopic(left)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int { // words an item
		return cmp.Compare(a.Words()*len(b.Items), b.Words()*len(a.Items))
	})
	return out
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

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
