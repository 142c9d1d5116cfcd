package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"evoke"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// hitsAsked is how many hits a search shows.
const hitsAsked = 20

// perPage is how many items a listing shows.
const perPage = 50

// shown is an item as a list shows it.
type shown struct {
	store.Item
	URL   string
	State string // name of a message
	Past  bool   // it does not hold any more
}

func (f *frame) one(it store.Item) shown {
	state := lifecycle.StateOf(&it, f.now)
	return shown{it, f.Act("item", it.ID), "state." + state, state != lifecycle.Current}
}

// hit is one answer with the shares of its score.
type hit struct {
	shown
	Rank  int
	Score float64
	Parts recall.Parts
	Raw   []term
	Terms []term
	Ranks []term
}

// term is one line of an explanation.
type term struct {
	Name  string
	Value string
}

type searchPage struct {
	*frame
	Query    string
	Kind     string
	AsOf     string
	WhyID    string
	Kinds    []store.Kind
	Asked    bool
	Hits     []hit
	Fate     *fate
	Response recall.Response
	Pending  evoke.Pending
	Skipped  string
	Newest   []shown
	More     string // address of the whole listing
	Many     bool   // several may be forgotten at once
}

// fate is what became of the item that was asked about.
type fate struct {
	Outcome recall.Outcome
	Detail  string // in English
	Of      string // the item that stands in its place
	Link    string
	hit
}

// search answers a question with what the engine would answer an agent, and why.
func (p *Page) search(v *visit) error {
	f := v.frame("search.title")
	d := searchPage{
		frame: f, Query: v.get("q"), Kind: v.get("kind"), AsOf: v.get("as_of"), WhyID: strings.TrimSpace(v.get("why")), Kinds: store.Kinds(),
		More: at("items", f.scope()), Many: v.may(ofMemory) && v.get("q") != "",
	}
	who, err := v.who()
	if err != nil {
		return err
	}
	if d.Asked = d.Query != "" || d.WhyID != ""; !d.Asked {
		got, err := v.List(v.ctx(), evoke.ListRequest{Who: who, Limit: 10})
		if err != nil {
			return err
		}
		if d.Newest = f.shown(got.Items); len(d.Newest) == 0 {
			if err := f.findOthers(v, "search"); err != nil {
				return err
			}
		}
		return v.show(200, "search", d)
	}
	req := recall.Request{Query: d.Query, Limit: hitsAsked, Explain: true}
	if d.Kind != "" {
		req.Kinds = []store.Kind{store.Kind(d.Kind)}
	}
	if req.AsOf, err = moment("as_of", d.AsOf); err != nil {
		return err
	}
	if d.WhyID != "" {
		req.WhyNot = []string{d.WhyID}
	}
	res, err := v.Recall(v.ctx(), evoke.RecallRequest{Who: who, Request: req})
	if err != nil {
		return err
	}
	d.Response, d.Pending, d.Skipped = res.Response, res.Pending, res.Skipped
	for i, h := range res.Hits {
		d.Hits = append(d.Hits, f.hit(i+1, h))
	}
	for _, w := range res.WhyNot {
		d.Fate = &fate{Outcome: w.Outcome, Detail: w.Detail, Of: w.Of, hit: f.hit(w.Rank, recall.Hit{Item: store.Item{ID: w.ID}, Score: w.Score, Parts: w.Parts, Explain: w.Explain})}
		if w.Of != "" {
			d.Fate.Link = f.Act("item", w.Of)
		}
	}
	return v.show(200, "search", d)
}

func (f *frame) shown(items []store.Item) []shown {
	out := make([]shown, len(items))
	for i := range items {
		out[i] = f.one(items[i])
	}
	return out
}

func (f *frame) hit(rank int, h recall.Hit) hit {
	out := hit{shown: f.one(h.Item), Rank: rank, Score: h.Score, Parts: h.Parts}
	if h.Explain != nil {
		out.Raw, out.Terms = terms(h.Explain.Raw), terms(h.Explain.Terms)
		for arm, r := range h.Explain.Ranks {
			out.Ranks = append(out.Ranks, term{string(arm), strconv.Itoa(r)})
		}
		slices.SortFunc(out.Ranks, byName)
	}
	return out
}

func byName(a, b term) int { return cmp.Compare(a.Name, b.Name) }

func terms(m map[string]float64) []term {
	out := make([]term, 0, len(m))
	for name, v := range m {
		out = append(out, term{name, strconv.FormatFloat(v, 'f', 3, 64)})
	}
	sortTerms(out)
	return out
}

func sortTerms(t []term) { slices.SortFunc(t, byName) }

// moment reads a time of a form: a day, a minute, or as RFC 3339 has it; empty is no time.
func moment(field, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, store.Invalid(field, "a time such as 2026-01-31 or 2026-01-31T09:30", clip(s, 40))
}

type itemsPage struct {
	*frame
	Kind, Category string
	AsOf, Thread   string
	Order          string
	All            bool
	Kinds          []store.Kind
	Categories     []store.Category
	Orders         []string
	Items          []shown
	Next           string // address of the next page
	Many           bool   // several may be chosen at once
}

var orders = map[string]store.Order{
	"newest": store.Newest, "oldest": store.Oldest, "event": store.NewestEvent, "importance": store.MostImportant,
}

// items pages through a memory.
func (p *Page) items(v *visit) error {
	f := v.frame("items.title")
	d := itemsPage{
		frame: f, Kind: v.get("kind"), Category: v.get("category"), AsOf: v.get("as_of"), Thread: v.get("thread"), Order: v.get("order"),
		All: v.get("all") != "", Kinds: store.Kinds(), Categories: store.Categories(), Orders: []string{"newest", "oldest", "event", "importance"},
		Many: v.may(ofMemory),
	}
	who, err := v.who()
	if err != nil {
		return err
	}
	who.Thread = d.Thread
	req := evoke.ListRequest{Who: who, All: d.All, Limit: perPage, Cursor: v.get("cursor"), Order: orders[d.Order]}
	if d.Kind != "" {
		req.Filter.Kinds = []store.Kind{store.Kind(d.Kind)}
	}
	if d.Category != "" {
		req.Filter.Categories = []store.Category{store.Category(d.Category)}
	}
	if req.AsOf, err = moment("as_of", d.AsOf); err != nil {
		return err
	}
	got, err := v.List(v.ctx(), req)
	if err != nil {
		return err
	}
	if d.Items = f.shown(got.Items); len(d.Items) == 0 {
		if err := f.findOthers(v, "items"); err != nil {
			return err
		}
	}
	if got.Next != "" {
		q := keep(v.r.URL.Query(), "user", "agent", "kind", "category", "as_of", "thread", "order", "all")
		q.Set("cursor", got.Next)
		d.Next = at("items", q)
	}
	return v.show(200, "items", d)
}

// keep is the named part of a query, without what is empty.
func keep(q url.Values, names ...string) url.Values {
	out := url.Values{}
	for _, n := range names {
		if s := q.Get(n); s != "" {
			out.Set(n, s)
		}
	}
	return out
}
