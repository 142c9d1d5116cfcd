package store

import (
	"slices"
	"testing"
)

func TestNamedThreads(t *testing.T) {
	f := &Filter{Threads: []string{"a"}, All: []Filter{{Threads: []string{"b"}, Any: []Filter{{Threads: []string{"c"}}}}}, None: []Filter{{Threads: []string{"d"}}}}
	if got := f.NamedThreads(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
	if got := (*Filter)(nil).NamedThreads(); got != nil {
		t.Errorf("%v", got)
	}
}
