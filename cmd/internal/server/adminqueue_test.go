package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/extract"
)

// A tenant's queue is paused, drained and resumed by those who are granted all of it, and no other tenant's with it.
func TestQueue(t *testing.T) {
	w := keyed(t)
	w.want(200, w.call("POST", "/v1/messages", `{"user":"ada","thread":"t","messages":`+chat+`}`, bearer(acmeWrite)...))
	post := func(verb, key string) string {
		t.Helper()
		return strings.TrimSpace(w.want(200, w.call("POST", "/v1/admin/queue/"+verb, "", bearer(key)...)).body)
	}
	paused := `{"waiting":1,"due":0,"leased":0,"paused":true}`
	for _, verb := range []string{"pause", "pause", "drain", "drain?wait=0"} {
		if got := post(verb, acmeAdmin); got != paused {
			t.Errorf("%s: %s", verb, got)
		}
	}
	if got := w.want(200, w.call("GET", "/v1/admin/queue", "", bearer(rivalAll)...)).body; !strings.Contains(got, `"waiting":0,"due":0,"leased":0,"paused":false`) {
		t.Errorf("another tenant's queue: %s", got)
	}
	if p := w.want(409, w.call("POST", "/v1/flush", `{"user":"ada"}`, bearer(acmeWrite)...)); !strings.Contains(p.body, "resume") {
		t.Errorf("a flush of a paused queue: %s", p.body)
	}
	if got := post("resume", acmeAdmin); got != `{"waiting":1,"due":0,"leased":0,"paused":false}` {
		t.Errorf("resumed: %s", got)
	}
	w.want(200, w.call("POST", "/v1/flush", `{"user":"ada"}`, bearer(acmeWrite)...))
	for _, verb := range []string{"pause", "resume", "drain"} {
		w.want(403, w.call("POST", "/v1/admin/queue/"+verb, "", bearer(acmeOne)...))
		w.want(403, w.call("POST", "/v1/admin/queue/"+verb, "", bearer(acmeWrite)...))
	}
	w.want(400, w.call("POST", "/v1/admin/queue/drain?wait=1e9", "", bearer(acmeAdmin)...))
	counts := w.want(200, w.call("GET", "/v1/admin/events", "", bearer(acmeAdmin)...)).body
	for _, state := range []string{"pending", "stored", "nothing", "quarantined", "dead"} {
		if !strings.Contains(counts, `"`+state+`":`) {
			t.Errorf("events do not count %s: %s", state, counts)
		}
	}
}

// held is an extractor that runs until it is let go.
type held struct{ begun, release chan struct{} }

func (*held) Name() string { return "held/1" }

func (x *held) Extract(ctx context.Context, _ extract.Batch) ([]extract.Operation, error) {
	x.begun <- struct{}{}
	select {
	case <-x.release:
	case <-ctx.Done():
	}
	return nil, ctx.Err()
}

// A drain waits for what runs, and says so when the time is over before that ends.
func TestDrainWaits(t *testing.T) {
	x := &held{make(chan struct{}, 1), make(chan struct{})}
	m, err := evoke.Open(t.Context(), &evoke.Options{Extractor: x})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	w := newWorldOver(t, "{}", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
	w.want(200, w.call("POST", "/v1/messages", `{"thread":"t","messages":`+chat+`}`))
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		_, _ = m.Flush(context.Background(), evoke.Who{})
	}()
	<-x.begun
	drain := func(query string) string {
		return strings.TrimSpace(w.want(200, w.call("POST", "/v1/admin/queue/drain"+query, "")).body)
	}
	if got := drain("?wait=0.05"); !strings.Contains(got, `"leased":1,"paused":true`) {
		t.Errorf("while one runs: %s", got)
	}
	time.AfterFunc(100*time.Millisecond, func() { close(x.release) })
	if got := drain(""); !strings.Contains(got, `"leased":0,"paused":true`) {
		t.Errorf("when it ended: %s", got)
	}
	<-flushed
}
