package vectorize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/embed"
	"evoke/store"
	"evoke/store/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder embeds a text as a vector that depends on it, notes what it was given, and fails as told.
type recorder struct {
	mu     sync.Mutex
	texts  []string
	refuse func(text string) error
	during func() // called while embedding, without the lock
}

func (r *recorder) Model() embed.Model { return embed.Model{Name: "rec", Dim: 4, Low: 0, High: 1} }

func (r *recorder) EmbedPassages(_ context.Context, texts []string) ([][]float32, error) {
	if r.during != nil {
		r.during()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var vs [][]float32
	for _, t := range texts {
		if r.refuse != nil {
			if err := r.refuse(t); err != nil {
				return nil, err
			}
		}
		r.texts = append(r.texts, t)
		v := make([]float32, 4)
		v[len(t)%4] = 1
		vs = append(vs, v)
	}
	return vs, nil
}

func (r *recorder) EmbedQuery(context.Context, string) ([]float32, error) {
	return nil, errors.New("unused")
}

var scope = store.Scope{Tenant: "t", User: "u"}

type env struct {
	t  *testing.T
	db *sqlitestore.DB
	e  *recorder
	w  *Worker
	n  int
}

func setup(t *testing.T, o *Options) *env {
	t.Helper()
	db, err := sqlitestore.OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e := &recorder{}
	w, err := New(db, db, e, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return &env{t: t, db: db, e: e, w: w}
}

func (v *env) put(items ...store.Item) {
	v.t.Helper()
	v.n++
	w := store.Write{ID: fmt.Sprint("w", v.n), Scope: scope, Change: store.Change{Put: items}}
	for _, it := range items {
		w.Embed = append(w.Embed, it.ID)
	}
	if err := store.Commit(v.t.Context(), v.db, v.db, w); err != nil {
		v.t.Fatal(err)
	}
}

func (v *env) pending() int {
	v.t.Helper()
	n, err := v.db.CountEmbeds(v.t.Context(), scope)
	if err != nil {
		v.t.Fatal(err)
	}
	return n
}

func (v *env) embedded() int {
	v.t.Helper()
	st, err := v.db.Stats(v.t.Context(), scope, store.View{All: true})
	if err != nil {
		v.t.Fatal(err)
	}
	return st.Embedded
}

func turn(id string, pos int, text string) store.Item {
	at := time.Date(2023, 5, 8, 13, 0, 0, 0, time.UTC)
	return store.Item{ID: id, Kind: store.Episodic, Content: text, ValidFrom: at, RecordedAt: at,
		Turn: store.Turn{Thread: "th", Session: "th", Position: pos, Speaker: "Ann", Role: "user"}}
}

func TestViews(t *testing.T) {
	v := setup(t, nil)
	long := strings.Repeat("A sentence of exactly seven words here. ", 40)
	fact := store.Item{ID: "f", Kind: store.Semantic, Content: "Undated fact.", RecordedAt: time.Now()}
	v.put(turn("a", 0, "First."), turn("b", 1, "Second."), turn("c", 2, long), turn("e", 4, "After a gap."), fact)
	if n, err := v.w.Round(t.Context()); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	has := map[string]bool{}
	chunks := 0
	for _, s := range v.e.texts {
		has[s] = true
		if strings.Contains(s, "exactly seven") {
			chunks++
		}
	}
	for _, want := range []string{"[8 May 2023] Ann: First.", "[8 May 2023] Ann: Second.", "Ann: First.\nAnn: Second.", "[8 May 2023] Ann: After a gap.", "Undated fact."} {
		if !has[want] {
			t.Errorf("no view %q among %q", want, v.e.texts)
		}
	}
	if chunks < 2 {
		t.Errorf("a long turn has %d views", chunks)
	}
	if v.pending() != 0 || v.embedded() != 5 {
		t.Errorf("pending %d, embedded %d", v.pending(), v.embedded())
	}
}

func TestOneBadTextHoldsUpNothing(t *testing.T) {
	v := setup(t, &Options{RetryMin: time.Millisecond})
	v.e.refuse = func(s string) error {
		if strings.Contains(s, "poison") {
			return errors.New("refused")
		}
		return nil
	}
	var items []store.Item
	for i := range 12 {
		items = append(items, turn(fmt.Sprint(i), 2*i, fmt.Sprint("fine ", i)))
	}
	items = append(items, turn("bad", 100, "poison"))
	v.put(items...)
	v.w.Start()
	deadline := time.Now().Add(10 * time.Second)
	for (v.embedded() < 12 || v.pending() > 1) && time.Now().Before(deadline) { // vectors come first, then their entries go
		time.Sleep(5 * time.Millisecond)
	}
	if v.embedded() != 12 || v.pending() != 1 {
		t.Fatalf("embedded %d, pending %d", v.embedded(), v.pending())
	}
	v.e.mu.Lock()
	v.e.refuse = nil
	v.e.mu.Unlock()
	for v.pending() > 0 && time.Now().Before(deadline) {
		v.w.Wake()
		time.Sleep(5 * time.Millisecond)
	}
	if v.embedded() != 13 {
		t.Errorf("a refused text is tried again: %d", v.embedded())
	}
}

func TestOutageKeepsEverythingPending(t *testing.T) {
	v := setup(t, nil)
	v.e.refuse = func(string) error { return embed.ErrUnavailable }
	v.put(turn("a", 0, "one"), turn("b", 1, "two"), turn("c", 2, "three"), turn("d", 3, "four"))
	if _, err := v.w.Round(t.Context()); !errors.Is(err, embed.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	if v.pending() != 4 {
		t.Errorf("pending %d", v.pending())
	}
}

func TestTextThatChangesMeanwhileIsEmbeddedAgain(t *testing.T) {
	v := setup(t, nil)
	v.put(turn("a", 0, "old text"))
	changed := false
	v.e.during = func() {
		if !changed {
			changed = true
			v.put(turn("a", 0, "new text"))
		}
	}
	if _, err := v.w.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.pending() != 1 || v.embedded() != 0 {
		t.Fatalf("vectors of the old text were kept: pending %d, embedded %d", v.pending(), v.embedded())
	}
	if _, err := v.w.Round(t.Context()); err != nil || v.embedded() != 1 || v.pending() != 0 {
		t.Fatalf("%v, embedded %d", err, v.embedded())
	}
}

func TestForgottenItemsLeaveTheList(t *testing.T) {
	v := setup(t, nil)
	v.put(turn("a", 0, "one"))
	if err := store.Commit(t.Context(), v.db, v.db, store.Write{ID: "del", Scope: scope, Change: store.Change{Delete: []string{"a"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.w.Round(t.Context()); err != nil || v.pending() != 0 {
		t.Errorf("%v, pending %d", err, v.pending())
	}
}

func TestStopWithoutStartAndTwice(t *testing.T) {
	v := setup(t, nil)
	v.w.Stop()
	if err := v.w.Wait(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v", err)
	}
	v.w.Start()
	v.w.Start()
	v.w.Stop()
	v.w.Stop()
	if _, err := New(v.db, v.db, v.e, &Options{Batch: -1}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("%v", err)
	}
}
