package lifecycle

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"evoke/store"
)

// Difference is what became of one item between two moments.
type Difference struct {
	Did    string      `json:"did"`              // added, changed, closed or retracted
	Before *store.Item `json:"before,omitempty"` // as it was seen at the first moment; nil when added
	After  *store.Item `json:"after,omitempty"`  // as it is seen at the second; nil when closed or retracted
}

// The kinds of difference, beside Added and Retracted.
const (
	Changed = "changed" // another version stands in its place
	Closed  = "closed"  // it holds no longer, and nothing stands in its place
)

// DiffQuery selects a page of the differences between what was known and true at From and at To.
type DiffQuery struct {
	From, To time.Time
	Limit    int    // most differences of a page
	Cursor   string // from the page before; "" for the first
}

// DiffPage is one page, which may be short or empty before the last. Next is "" on the last one.
type DiffPage struct {
	Differences []Difference
	Next        string
}

// mostScanned bounds how many items one page of differences looks at.
const mostScanned = 20_000

// Diff tells what changed in a memory between two moments, item by item by id.
func Diff(ctx context.Context, s store.Reader, sc store.Scope, q DiffQuery) (DiffPage, error) {
	d := differ{s: s, sc: sc, from: store.AsOf(q.From), to: store.AsOf(q.To)}
	var at diffCursor
	if err := at.read(q.Cursor); err != nil {
		return DiffPage{}, err
	}
	out := DiffPage{Differences: []Difference{}}
	for scanned := 0; ; {
		page, err := s.List(ctx, sc, store.ListQuery{View: store.View{All: true, Kept: true}, Order: store.ByID, Limit: diffItems, Cursor: at.Page})
		if err != nil {
			return DiffPage{}, fmt.Errorf("diff: %w", err)
		}
		for i := range page.Items {
			it := &page.Items[i]
			if it.ID <= at.After {
				continue
			}
			if scanned++; len(out.Differences) == q.Limit || scanned > mostScanned {
				out.Next, err = at.text()
				return out, err
			}
			what, err := d.of(ctx, it)
			if err != nil {
				return DiffPage{}, err
			}
			if what != nil {
				out.Differences = append(out.Differences, *what)
			}
			at.After = it.ID
		}
		if at.Page = page.Next; at.Page == "" {
			return out, nil
		}
	}
}

// diffItems is how many items are read at once.
const diffItems = 500

// diffCursor is where a page ended: the page of the store, and the last item of it that was looked at.
type diffCursor struct {
	Page  string `json:"page,omitempty"`
	After string `json:"after,omitempty"`
}

func (c *diffCursor) read(s string) error {
	if s == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, c)
	}
	if err != nil {
		return store.Invalid("cursor", "the next of the page before", "")
	}
	return nil
}

func (c *diffCursor) text() (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

type differ struct {
	s        store.Reader
	sc       store.Scope
	from, to store.View
}

// of tells the difference that an item stands for: as the later of two versions, or as the one that is gone.
func (d *differ) of(ctx context.Context, it *store.Item) (*Difference, error) {
	was, is := sees(d.from, it), sees(d.to, it)
	switch {
	case was == is:
		return nil, nil
	case is:
		before, err := d.back(ctx, it)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return &Difference{Did: Added, After: it}, nil
		}
		return &Difference{Did: Changed, Before: before, After: it}, nil
	}
	after, err := d.walk(ctx, it, func(v *store.Item) string { return v.SupersededBy }, func(v *store.Item) bool { return sees(d.to, v) && !sees(d.from, v) })
	if err != nil {
		return nil, err
	}
	if after != nil {
		before, err := d.back(ctx, after)
		if err != nil || before != nil && before.ID == it.ID {
			return nil, err // told with the later version
		}
	}
	gone, err := d.retracted(ctx, it)
	if err != nil {
		return nil, err
	}
	if gone {
		return &Difference{Did: Retracted, Before: it}, nil
	}
	return &Difference{Did: Closed, Before: it}, nil
}

// retracted tells whether an item was taken back by the second moment, and did not merely end before it began or sooner than
// was known.
func (d *differ) retracted(ctx context.Context, it *store.Item) (bool, error) {
	if it.RetractedAt.IsZero() || it.RetractedAt.After(d.to.KnownAt) {
		return false, nil
	}
	if it.SupersededBy == "" || it.Provenance.EndedBy != "" {
		return true, nil
	}
	next, err := d.s.Get(ctx, d.sc, []string{it.SupersededBy})
	if err != nil {
		return false, fmt.Errorf("diff: %w", err)
	}
	return len(next) == 0 || !Redates(&next[0], it) || !next[0].RetractedAt.IsZero() && !next[0].RetractedAt.After(d.to.KnownAt), nil
}

// back finds the version that stood at the first moment in the place of one that stands at the second, or nil.
func (d *differ) back(ctx context.Context, it *store.Item) (*store.Item, error) {
	return d.walk(ctx, it, func(v *store.Item) string { return v.Supersedes }, func(v *store.Item) bool { return sees(d.from, v) && !sees(d.to, v) })
}

// walk follows the versions from an item on to the first that is looked for, or nil.
func (d *differ) walk(ctx context.Context, it *store.Item, link func(*store.Item) string, ok func(*store.Item) bool) (*store.Item, error) {
	for n, id := 0, link(it); id != "" && id != it.ID && n < mostInChain; n++ {
		items, err := d.s.Get(ctx, d.sc, []string{id})
		if err != nil {
			return nil, fmt.Errorf("diff: %w", err)
		}
		if len(items) == 0 {
			return nil, nil // erased
		}
		if ok(&items[0]) {
			return &items[0], nil
		}
		id = link(&items[0])
	}
	return nil, nil
}

// sees is View.Sees for those who look at everything: what holds for one task only and sections of the profile are in sight.
func sees(v store.View, it *store.Item) bool {
	v.Profile = true
	v.Threads = []string{it.Turn.Thread}
	return v.Sees(it)
}
