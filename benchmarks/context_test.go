package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"evoke"
	"evoke/recall"
)

// packingSpy notes the questions, too.
type packingSpy struct {
	spy
	packer Packer
}

func (s *packingSpy) Context(ctx context.Context, r evoke.ContextRequest) (evoke.ContextResult, error) {
	fmt.Fprintf(&s.seen, "%+v\n", r)
	return s.packer.Context(ctx, r)
}

// A curve rises with the budget to all of a small set's evidence, and no label reaches the engine.
func TestCurve(t *testing.T) {
	sets, err := Load(filepath.Dir(writeSet(t)), nil)
	if err != nil || len(sets) != 1 {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	clock := new(Clock)
	m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := &packingSpy{spy: spy{Engine: m}, packer: m}
	c, err := RunContext(t.Context(), e, clock, &sets[0], ContextOptions{Budgets: []int{10, 70, 500}, Shape: recall.Briefing}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(e.seen.String(), poison) {
		t.Errorf("a label reached the engine: %s", e.seen.String())
	}
	if p := c.Points; c.N != 2 || p[0].Whole != 0 || p[0].Tokens != 0 || p[2].Part != 1 || p[2].Whole != 1 || p[1].Tokens > 70 || p[1].Items > p[2].Items {
		t.Errorf("n = %d, %+v", c.N, c.Points)
	}
	var out bytes.Buffer
	r := &ContextReport{Machine: ThisMachine(t.Context(), clock.Now()), Shape: recall.Briefing, Curves: []*Curve{c}}
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Sets map[string]struct {
			N      int
			Points []Point
		}
	}
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Sets["tiny"].N != 2 || back.Sets["tiny"].Points[2].Budget != 500 {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := r.WriteMarkdown(&out); err != nil || !strings.Contains(out.String(), "| 500 | 100.0 [") {
		t.Errorf("%v: %s", err, out.String())
	}
}
