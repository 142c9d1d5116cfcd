package qdrantstore

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

const (
	defaultPage = 100
	maxPage     = 10000
)

// listing is the order of a list: by a field of the server, ties by id. The server leaves ties in any order, so a group of
// equal keys is read whole and sorted here.
type listing struct {
	order store.Order
	field string
	desc  bool
	time  bool // the field is a time
	holes int  // where items that lack the field come: 1 last, -1 first
}

func listingOf(o store.Order) (listing, error) {
	switch o {
	case store.Newest:
		return listing{order: o, field: fieldRecordedAt, desc: true, time: true, holes: 1}, nil
	case store.Oldest:
		return listing{order: o, field: fieldRecordedAt, time: true, holes: -1}, nil
	case store.NewestEvent:
		return listing{order: o, field: fieldValidFrom, desc: true, time: true, holes: 1}, nil
	case store.ByID:
		return listing{order: o, field: fieldIDHead}, nil
	case store.MostImportant:
		return listing{order: o, field: fieldImportance, desc: true}, nil
	}
	return listing{}, store.Invalid("order", "one of the known orders", fmt.Sprint(o))
}

// key is where an item stands in an order.
type key struct {
	Int  int64   `json:"t,omitempty"` // microseconds or the head of the id
	Num  float64 `json:"n,omitempty"` // importance
	Hole bool    `json:"h,omitempty"` // the item lacks the field
}

func (l *listing) compare(a, b key) int {
	if a.Hole != b.Hole {
		if a.Hole {
			return l.holes
		}
		return -l.holes
	}
	c := cmp.Or(cmp.Compare(a.Int, b.Int), cmp.Compare(a.Num, b.Num))
	if l.desc {
		return -c
	}
	return c
}

// cursor is where a page ended.
type cursor struct {
	Order store.Order `json:"o"`
	Key   key         `json:"k"`
	ID    string      `json:"i"`
}

func (l *listing) parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	var c cursor
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Order != l.order || c.ID == "" {
		return nil, store.Invalid("cursor", "one that the previous page of this listing gave", "")
	}
	return &c, nil
}

func (l *listing) cursor(r ref) (string, error) {
	b, err := json.Marshal(cursor{l.order, r.key, r.id})
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// ref is an item on its way into a page.
type ref struct {
	point *qdrant.PointId
	id    string
	key   key
}

// List pages through items.
func (db *DB) List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error) {
	if err := db.enterScope(ctx, sc); err != nil {
		return store.Page{}, err
	}
	defer db.leave()
	if err := q.Filter.Validate(); err != nil {
		return store.Page{}, err
	}
	if q.Limit < 0 || q.Limit > maxPage {
		return store.Page{}, store.Invalid("limit", fmt.Sprintf("from 1 to %d", maxPage), fmt.Sprint(q.Limit))
	}
	if q.Limit == 0 {
		q.Limit = defaultPage
	}
	l, err := listingOf(q.Order)
	if err != nil {
		return store.Page{}, err
	}
	c, err := l.parseCursor(q.Cursor)
	if err != nil {
		return store.Page{}, err
	}
	p := &pager{db: db, listing: l, scope: sc, selected: selection(sc, &q.Filter, q.View)}
	if err := p.collect(ctx, c, q.Limit+1); err != nil {
		return store.Page{}, err
	}
	var page store.Page
	if len(p.refs) > q.Limit {
		if page.Next, err = l.cursor(p.refs[q.Limit-1]); err != nil {
			return store.Page{}, err
		}
		p.refs = p.refs[:q.Limit]
	}
	page.Items, err = db.itemsOf(ctx, p.refs)
	return page, err
}

// itemsOf reads the items of a page, in its order.
func (db *DB) itemsOf(ctx context.Context, refs []ref) ([]store.Item, error) {
	points := make([]*qdrant.PointId, len(refs))
	for i, r := range refs {
		points[i] = r.point
	}
	found := make(map[string]store.Item, len(refs))
	err := db.retrieve(ctx, points, qdrant.NewWithPayloadInclude(fieldItem), func(p *qdrant.RetrievedPoint) error {
		it, err := itemOf(p.GetPayload())
		found[it.ID] = it
		return err
	})
	if err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(refs))
	for _, r := range refs {
		if it, ok := found[r.id]; ok { // else it was deleted meanwhile
			items = append(items, it)
		}
	}
	return items, nil
}

// pager collects the refs of one page.
type pager struct {
	db *DB
	listing
	scope    store.Scope
	selected []*qdrant.Condition
	refs     []ref
}

// collect reads until it has n refs behind the cursor, or all.
func (p *pager) collect(ctx context.Context, c *cursor, n int) error {
	var last *key
	if c != nil {
		rest, err := p.group(ctx, c.Key)
		if err != nil {
			return err
		}
		p.add(slices.DeleteFunc(rest, func(r ref) bool { return r.id <= c.ID }))
		if !c.Key.Hole {
			last = &c.Key
		} else if p.holes > 0 {
			return nil
		}
	} else if p.holes < 0 {
		if err := p.addHoles(ctx); err != nil {
			return err
		}
	}
	for len(p.refs) < n {
		want := n - len(p.refs)
		got, err := p.ahead(ctx, last, want)
		if err != nil {
			return err
		}
		if len(got) < want {
			p.add(got)
			break
		}
		end := got[want-1].key // its group may go on
		group, err := p.group(ctx, end)
		if err != nil {
			return err
		}
		p.add(append(slices.DeleteFunc(got, func(r ref) bool { return r.key == end }), group...))
		last = &end
	}
	if p.holes > 0 && len(p.refs) < n {
		return p.addHoles(ctx)
	}
	return nil
}

func (p *pager) addHoles(ctx context.Context) error {
	group, err := p.group(ctx, key{Hole: true})
	p.add(group)
	return err
}

// add appends refs that stand behind all there are.
func (p *pager) add(refs []ref) {
	slices.SortFunc(refs, func(a, b ref) int { return cmp.Or(p.compare(a.key, b.key), strings.Compare(a.id, b.id)) })
	p.refs = append(p.refs, refs...)
}

func (p *pager) filter(conds ...*qdrant.Condition) *qdrant.Filter {
	return within(p.scope, append(slices.Clone(p.selected), conds...)...)
}

// groupPage is how many ids are read at a time.
const groupPage = 4096

// group reads all items of one key.
func (p *pager) group(ctx context.Context, k key) ([]ref, error) {
	var refs []ref
	req := &qdrant.ScrollPoints{CollectionName: p.db.set.Collection, Filter: p.filter(p.equal(k)), WithPayload: qdrant.NewWithPayloadInclude(fieldID)}
	err := p.db.scroll(ctx, req, groupPage, func(ps []*qdrant.RetrievedPoint) error {
		for _, r := range ps {
			refs = append(refs, ref{r.GetId(), r.GetPayload()[fieldID].GetStringValue(), k})
		}
		return nil
	})
	return refs, err
}

// ahead reads the next n items behind a key in the server's order.
func (p *pager) ahead(ctx context.Context, last *key, n int) ([]ref, error) {
	var conds []*qdrant.Condition
	if last != nil {
		conds = append(conds, p.behind(*last))
	}
	dir := qdrant.Direction_Asc
	if p.desc {
		dir = qdrant.Direction_Desc
	}
	ps, err := call(ctx, p.db, "list items", func(ctx context.Context) ([]*qdrant.RetrievedPoint, error) {
		return p.db.client.Scroll(ctx, &qdrant.ScrollPoints{CollectionName: p.db.set.Collection, Filter: p.filter(conds...), Limit: qdrant.PtrOf(uint32(n)),
			OrderBy: &qdrant.OrderBy{Key: p.field, Direction: &dir}, WithPayload: qdrant.NewWithPayloadInclude(fieldID)})
	})
	refs := make([]ref, len(ps))
	for i, r := range ps {
		refs[i] = ref{r.GetId(), r.GetPayload()[fieldID].GetStringValue(), key{Int: r.GetOrderValue().GetInt(), Num: r.GetOrderValue().GetFloat()}}
	}
	return refs, err
}

func (p *pager) equal(k key) *qdrant.Condition {
	switch {
	case k.Hole:
		return qdrant.NewIsEmpty(p.field)
	case p.time:
		at := stamp(time.UnixMicro(k.Int))
		return qdrant.NewDatetimeRange(p.field, &qdrant.DatetimeRange{Gte: at, Lte: at})
	case p.order == store.ByID:
		return qdrant.NewMatchInt(p.field, k.Int)
	}
	return qdrant.NewRange(p.field, &qdrant.Range{Gte: &k.Num, Lte: &k.Num})
}

func (p *pager) behind(k key) *qdrant.Condition {
	if p.time {
		at := stamp(time.UnixMicro(k.Int))
		if p.desc {
			return qdrant.NewDatetimeRange(p.field, &qdrant.DatetimeRange{Lt: at})
		}
		return qdrant.NewDatetimeRange(p.field, &qdrant.DatetimeRange{Gt: at})
	}
	num := k.Num
	if p.order == store.ByID {
		num = float64(k.Int)
	}
	if p.desc {
		return qdrant.NewRange(p.field, &qdrant.Range{Lt: &num})
	}
	return qdrant.NewRange(p.field, &qdrant.Range{Gt: &num})
}
