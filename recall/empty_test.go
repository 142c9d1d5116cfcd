package recall

import (
	"testing"

	"evoke/store"
)

// A block without a hit says why, whatever else it holds.
func TestABlockWithoutHitsSaysWhy(t *testing.T) {
	unheard := newFake()
	unheard.add(alice, spoken("t0", "s1", 0, "user", "Which glue holds a violin bridge?"))
	bare := furnished() // of everything but hits that the minimum lets through
	ask := func(q string, f func(*BlockRequest)) BlockRequest {
		r := BlockRequest{Request: Request{Query: q}, MaxTokens: 400}
		if f != nil {
			f(&r)
		}
		return r
	}
	for _, tc := range []struct {
		name string
		from *fake
		req  BlockRequest
		want Emptiness
		text bool
	}{
		{"hits", furnished(), ask("hide glue", nil), "", true},
		{"an empty query", furnished(), ask("", nil), "", true},
		{"nothing stored", newFake(), ask("glue", nil), NoItems, false},
		{"nothing stored, nothing asked", newFake(), ask("", nil), NoItems, false},
		{"filtered", unheard, ask("glue", func(r *BlockRequest) { r.Kinds = []store.Kind{store.Procedural} }), FilteredOut, false},
		{"under the minimum", unheard, ask("glue", func(r *BlockRequest) { r.MinScore = ptr(1.0) }), BelowMinimum, false},
		{"under the minimum, beside the profile", bare, ask("glue", func(r *BlockRequest) { r.MinScore = ptr(1.0) }), BelowMinimum, true},
		{"no room", unheard, ask("glue", func(r *BlockRequest) { r.MaxTokens = 20 }), NoRoom, false},
		{"nothing found and no room", newFake(), ask("glue", func(r *BlockRequest) { r.MaxTokens = 20 }), NoItems, false},
	} {
		b, err := engine(t, tc.from, nil, Options{}).Context(t.Context(), []store.Scope{alice}, tc.req)
		if err != nil {
			t.Fatal(err)
		}
		if b.Empty != tc.want || (b.Text != "") != tc.text {
			t.Errorf("%s: empty is %q, want %q\n%s", tc.name, b.Empty, tc.want, b.Text)
		}
	}
	b, err := engine(t, furnished(), nil, Options{}).Context(t.Context(), []store.Scope{alice}, BlockRequest{Request: Request{Query: "glue"}})
	if err != nil || b.Empty != NoRoom {
		t.Errorf("a budget of 0: %q, %v", b.Empty, err)
	}
}
