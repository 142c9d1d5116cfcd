package benchmarks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"evoke"
	"evoke/store"
)

// Every history of every kind comes out right without vectors; the report says on how many.
func TestLifecycle(t *testing.T) {
	clock := &Clock{}
	m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	every, n := 3, 9
	if os.Getenv("EVOKE_SOAK") != "" {
		every, n = 1, 25
	}
	r, err := runLifecycle(t.Context(), m, clock, every)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(LifecycleKinds()); len(r.Shares) != want {
		t.Errorf("%d shares, want %d", len(r.Shares), want)
	}
	for _, s := range r.Shares {
		if s.N != n || s.Checks < n*14 || s.Right != 1 {
			t.Errorf("%s %s: n %d, %d checks, right %v: %q", s.Kind, s.Language, s.N, s.Checks, s.Right, s.Wrong)
		}
	}
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("| undo | zh | %d |", n)) {
		t.Errorf("%s %v", b.String(), err)
	}
}

// stale lists closed versions as current ones.
type stale struct{ *evoke.Memory }

func (s stale) List(ctx context.Context, r evoke.ListRequest) (store.Page, error) {
	r.All = true
	return s.Memory.List(ctx, r)
}

// What is wrong counts as wrong, where it is.
func TestLifecycleFindsWhatIsWrong(t *testing.T) {
	clock := &Clock{}
	m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, err := runLifecycle(t.Context(), stale{m}, clock, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Shares {
		rests := s.Kind == Erased || s.Kind == Scoped // there nothing is closed
		if (s.Right == 1) != rests || (len(s.Wrong) == 0) != rests {
			t.Errorf("%s %s: right %v, %q", s.Kind, s.Language, s.Right, s.Wrong)
		}
	}
}
