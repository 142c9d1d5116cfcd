package store

import (
	"context"
	"iter"
)

// Lister is the part of a [Reader] that pages through items.
type Lister interface {
	List(ctx context.Context, sc Scope, q ListQuery) (Page, error)
}

// Items are all items that a query selects, from its cursor on, read page by page; an error is the last that it gives. What
// is changed meanwhile is passed over or given twice only where the change moves it within the order: with [ByID] none does.
func Items(ctx context.Context, l Lister, sc Scope, q ListQuery) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for {
			page, err := l.List(ctx, sc, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}
