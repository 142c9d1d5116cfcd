package benchmarks

import (
	"path/filepath"
	"testing"

	"evoke"
)

func TestBackendsOfOneKindRankAlike(t *testing.T) {
	sets, err := Load(filepath.Dir(writeSet(t)), []string{"tiny"})
	if err != nil {
		t.Fatal(err)
	}
	clock := new(Clock)
	open := func(dir string) *evoke.Memory {
		m, err := evoke.Open(t.Context(), &evoke.Options{Path: dir, Clock: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	file, memory := open(t.TempDir()), open("")
	s, err := CompareBackends(t.Context(), lexicalOnly{file}, lexicalOnly{memory}, clock, &sets[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.N != 2 || s.SameItems != 1 || s.SameOrder != 1 || s.ScoreDiff != 0 || s.MeanA[Recall10] != s.MeanB[Recall10] {
		t.Errorf("%+v", s)
	}
	checkReport(t, &BackendsReport{A: "file", B: "memory", Sets: []*BackendsSet{s}}, "| tiny | 2 | 100.0 % | 100.0 % |")
}
