package store

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// fakeLedger keeps intents in a slice; the other methods are of nobody's use here.
type fakeLedger struct {
	Ledger
	intents []Write
	fail    error
}

func (l *fakeLedger) Record(_ context.Context, w Write) error {
	if l.fail == nil {
		l.intents = append(l.intents, w)
	}
	return l.fail
}

func (l *fakeLedger) Applied(_ context.Context, id string) error {
	l.intents = slices.DeleteFunc(l.intents, func(w Write) bool { return w.ID == id })
	return l.fail
}

func (l *fakeLedger) Unapplied(context.Context) ([]Write, error) {
	return slices.Clone(l.intents), l.fail
}

type fakeStore struct {
	Store
	applied []string
	fail    error
}

func (s *fakeStore) Apply(_ context.Context, _ Scope, c Change) error {
	if s.fail == nil {
		s.applied = append(s.applied, c.Put[0].ID)
	}
	return s.fail
}

func TestCommitAndReplay(t *testing.T) {
	ctx := context.Background()
	s, l := &fakeStore{fail: ErrUnavailable}, &fakeLedger{}
	sc := Scope{Tenant: "t", User: "u"}
	write := func(id string) Write {
		return Write{ID: id, Scope: Scope{Tenant: "t", User: id}, Change: Change{Put: []Item{{ID: id}}}}
	}
	for _, id := range []string{"a", "b", "b"} { // the second write of b waits for the first, and is not recorded
		if err := Commit(ctx, s, l, write(id)); !errors.Is(err, ErrUnavailable) {
			t.Errorf("a store out of reach: %v", err)
		}
	}
	if err := Replay(ctx, s, l); !errors.Is(err, ErrUnavailable) || len(l.intents) != 2 {
		t.Errorf("replay while it is out of reach: %v, %d intents", err, len(l.intents))
	}
	s.fail = nil
	if err := Replay(ctx, s, l); err != nil || !slices.Equal(s.applied, []string{"a", "b"}) || len(l.intents) != 0 {
		t.Errorf("replay: %v, applied %v, %d intents left", err, s.applied, len(l.intents))
	}
	if err := Commit(ctx, s, l, write("c")); err != nil || len(l.intents) != 0 {
		t.Errorf("commit: %v", err)
	}
	if err := Commit(ctx, s, l, Write{ID: "d", Scope: sc}); err != nil || len(s.applied) != 3 || len(l.intents) != 0 {
		t.Errorf("a write without items: %v, applied %v", err, s.applied)
	}
	if err := Commit(ctx, s, l, Write{ID: "e"}); !errors.Is(err, ErrTenant) {
		t.Errorf("no scope: %v", err)
	}
	l.fail = ErrClosed
	if err := Commit(ctx, s, l, write("f")); !errors.Is(err, ErrClosed) || len(s.applied) != 3 {
		t.Errorf("a write that could not be recorded: %v, applied %v", err, s.applied)
	}
	if err := Replay(ctx, s, l); !errors.Is(err, ErrClosed) {
		t.Errorf("intents that cannot be read: %v", err)
	}
}

// both is store and ledger at once, as sqlitestore is.
type both struct {
	*fakeStore
	*fakeLedger
	Store
	made []string
}

func (b *both) Close() error { return nil }
func (b *both) Apply(ctx context.Context, sc Scope, c Change) error {
	return b.fakeStore.Apply(ctx, sc, c)
}
func (b *both) CommitBoth(_ context.Context, w Write) error {
	b.made = append(b.made, w.ID)
	return nil
}

func TestCommitJoint(t *testing.T) {
	b := &both{fakeStore: &fakeStore{}, fakeLedger: &fakeLedger{}}
	w := Write{ID: "a", Scope: Scope{Tenant: "t", User: "u"}, Change: Change{Put: []Item{{ID: "a"}}}}
	if err := Commit(context.Background(), b, b, w); err != nil || !slices.Equal(b.made, []string{"a"}) {
		t.Errorf("one database: %v, made %v", err, b.made)
	}
	// The same ledger with another store is not joint.
	other := &fakeStore{}
	if err := Commit(context.Background(), other, b, w); err != nil || len(b.made) != 1 || len(other.applied) != 1 {
		t.Errorf("two databases: %v, made %v, applied %v", err, b.made, other.applied)
	}
}
