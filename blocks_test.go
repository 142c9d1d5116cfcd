package evoke

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"evoke/recall"
	"evoke/store"
)

// What an agent saw is told by the hash in the block, also by another process later; content is not in the record.
func TestShownBlock(t *testing.T) {
	oneByOne(t)
	dir := filepath.Join(t.TempDir(), "data")
	open := func() *Memory {
		m, err := Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open()
	w := Who{User: "ada", Thread: "t1"}
	res, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "ada"}, Content: "The spare key is under the blue flower pot"})
	if err != nil {
		t.Fatal(err)
	}
	budget := 300
	w.Thread = ""
	c, err := m.Context(t.Context(), ContextRequest{Who: w, Request: recall.Request{Query: "Where is the spare key?"}, MaxTokens: &budget})
	if err != nil || c.Hash == "" || !strings.Contains(c.Text, c.Hash) {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := m.Context(t.Context(), ContextRequest{Who: w, Request: recall.Request{Query: "Where is the spare key?"}, MaxTokens: &budget}); err != nil {
		t.Fatal(err)
	}
	check := func(m *Memory) {
		t.Helper()
		b, err := m.ShownBlock(t.Context(), BlockRequest{Who: w, Hash: c.Hash})
		if err != nil || b.Times != 2 || len(b.Items) != 1 || b.Items[0].ID != res.Item.ID || b.Items[0].Part != string(recall.PartHit) || b.Tokens != c.Tokens {
			t.Errorf("%+v, %v", b, err)
		}
	}
	check(m)
	if _, err := m.ShownBlock(t.Context(), BlockRequest{Who: Who{User: "bob"}, Hash: c.Hash}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody else's: %v", err)
	}
	for _, h := range []string{"", "12", strings.Repeat("9", 19)} {
		if _, err := m.ShownBlock(t.Context(), BlockRequest{Who: w, Hash: h}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("hash %q: %v", h, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open()
	check(m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	off, err := Open(t.Context(), &Options{BlockDays: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	if _, err := off.ShownBlock(t.Context(), BlockRequest{Who: w, Hash: c.Hash}); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if !slices.Equal(c.Items, []string{res.Item.ID}) {
		t.Errorf("%v", c.Items)
	}
}
