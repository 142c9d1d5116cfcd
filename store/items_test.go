package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
)

// pages answers with one page after the other, and with an error behind the last.
type pages [][]Item

func (p pages) List(_ context.Context, _ Scope, q ListQuery) (Page, error) {
	n, _ := strconv.Atoi(q.Cursor)
	if n == len(p) {
		return Page{}, ErrUnavailable
	}
	next := strconv.Itoa(n + 1)
	if n == len(p)-1 && len(p[n]) > 0 {
		next = ""
	}
	return Page{Items: p[n], Next: next}, nil
}

func TestItems(t *testing.T) {
	t.Parallel()
	a, b, c := Item{ID: "a"}, Item{ID: "b"}, Item{ID: "c"}
	for name, x := range map[string]struct {
		in   pages
		q    ListQuery
		stop string // after it the caller breaks off
		want []string
		err  error
	}{
		"all":             {in: pages{{a, b}, {}, {c}}, want: []string{"a", "b", "c"}},
		"from a cursor":   {in: pages{{a, b}, {c}}, q: ListQuery{Cursor: "1"}, want: []string{"c"}},
		"broken off":      {in: pages{{a, b}, {c}}, stop: "a", want: []string{"a"}},
		"an error at end": {in: pages{{a}, {}}, want: []string{"a"}, err: ErrUnavailable},
	} {
		var got []string
		var failed error
		for it, err := range Items(t.Context(), x.in, Scope{}, x.q) {
			if failed = err; err != nil {
				continue // nothing may come behind it
			}
			if got = append(got, it.ID); it.ID == x.stop {
				break
			}
		}
		if !slices.Equal(got, x.want) || !errors.Is(failed, x.err) {
			t.Errorf("%s: %q, %v", name, got, failed)
		}
	}
}
