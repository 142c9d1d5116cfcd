package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"evoke"
	"evoke/embed"
)

// gate is an embedder that, once closed, embeds so many batches more and then has its callers wait until it is opened.
type gate struct {
	revision string
	left     atomic.Int64 // batches
	opened   chan struct{}
}

func (g *gate) Model() embed.Model {
	return embed.Model{Name: "gate", Revision: g.revision, Dim: 2, Pooling: "mean", Low: 0, High: 1}
}

func (g *gate) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts[0]) > len("evoke") && g.left.Add(-1) < 0 { // what asks whether it is there passes
		select {
		case <-g.opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	vs := make([][]float32, len(texts))
	for i := range vs {
		vs[i] = []float32{1, 0}
	}
	return vs, nil
}

func (g *gate) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }

// A running operation tells how far it is, ends when it is canceled, and is done when it is tried again.
func TestOperationIsCanceledAndTriedAgain(t *testing.T) {
	const items = 300
	dir := t.TempDir()
	m, err := evoke.Open(t.Context(), &evoke.Options{Path: dir, Durability: "normal", Embedder: &gate{revision: "a", opened: closed()}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		if _, err := m.Remember(t.Context(), evoke.RememberRequest{Who: evoke.Who{User: "ada"}, Content: fmt.Sprintf("note number %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	slow := &gate{revision: "b", opened: make(chan struct{})}
	slow.left.Store(2)
	if m, err = evoke.Open(t.Context(), &evoke.Options{Path: dir, Durability: "normal", Embedder: slow}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newWorldOver(t, "", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
	begun, err := m.Reembed(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/admin/operations/" + begun.ID
	stands := func(from string, until func(state string, done, total int) bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			got := w.want(200, w.call("GET", path, ""))
			op, _ := got.json(t)["operation"].(map[string]any)
			state, _ := op["state"].(string)
			done, _ := op["done"].(float64)
			total, _ := op["total"].(float64)
			if until(state, int(done), int(total)) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s", from, got.body)
			}
		}
	}
	stands("while it runs", func(state string, done, total int) bool {
		return state == "running" && total == items && done > 0 && done < total
	})
	w.want(409, w.call("POST", path+"/retry", ""))
	w.want(200, w.call("POST", path+"/cancel", ""))
	stands("canceled", func(state string, _, _ int) bool { return state == "canceled" })
	w.want(200, w.call("POST", path+"/cancel", "")) // once more changes nothing
	close(slow.opened)
	if state := w.str(w.want(200, w.call("POST", path+"/retry", "")), "operation.state"); state != "queued" && state != "running" {
		t.Errorf("tried again it is %s", state)
	}
	stands("tried again", func(state string, done, total int) bool { return state == "done" && done == items && total == items })
	w.want(409, w.call("POST", path+"/retry", ""))
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
