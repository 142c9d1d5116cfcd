package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func blocks(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	b := store.ShownBlock{
		Tenant: "acme", User: "alice", Agent: "coach", Thread: "t1", Hash: "000000000000000007", Last: now, Shape: "lines", Tokens: 120,
		Items: []store.ShownItem{{ID: "a", Part: "standing"}, {ID: "b", Part: "hit", Compact: true}},
	}
	must(t, l.NoteBlock(ctx, b))
	again := b
	again.Thread, again.Last = "t2", now.Add(time.Hour)
	must(t, l.NoteBlock(ctx, again))
	other := b
	other.User, other.Items = "bob", nil
	must(t, l.NoteBlock(ctx, other))
	got, err := l.ShownBlock(ctx, "acme", "alice", "coach", b.Hash)
	must(t, err)
	want := again
	want.First, want.Times = now, 2
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, who := range [][3]string{{"acme", "alice", ""}, {"acme", "", "coach"}, {"other", "alice", "coach"}} {
		_, err := l.ShownBlock(ctx, who[0], who[1], who[2], b.Hash)
		wantErr(t, "a block of somebody else", err, store.ErrNotFound)
	}
	wantErr(t, "no tenant", l.NoteBlock(ctx, store.ShownBlock{Hash: "1"}), store.ErrTenant)
	wantErr(t, "no hash", l.NoteBlock(ctx, store.ShownBlock{Tenant: "acme"}), store.ErrInvalid)
	_, err = l.ShownBlock(ctx, "", "alice", "coach", b.Hash)
	wantErr(t, "no tenant", err, store.ErrTenant)
	_, err = l.PruneBlocks(ctx, time.Time{})
	wantErr(t, "no time", err, store.ErrInvalid)
	n, err := l.PruneBlocks(ctx, now.Add(time.Minute))
	must(t, err)
	if n != 1 {
		t.Errorf("%d pruned", n)
	}
	_, err = l.ShownBlock(ctx, "acme", "bob", "coach", b.Hash)
	wantErr(t, "pruned", err, store.ErrNotFound)
	_, err = l.ShownBlock(ctx, "acme", "alice", "coach", b.Hash)
	must(t, err)
}
