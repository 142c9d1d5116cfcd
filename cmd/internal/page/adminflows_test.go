//go:build !race

package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"evoke"
	"evoke/cmd/internal/page"
	"evoke/extract/rules"
	"evoke/store"
)

// What an administrator does, in a real browser.
func TestAdministrationInABrowser(t *testing.T) {
	whole(t)
	browser := newBrowser(t)

	t.Run("review", func(t *testing.T) {
		w := newWorldWith(t, keyed(), dreamer{})
		w.say("I dream of the sea.")
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Review")
		b.reads("Owns a boat.")
		b.press("summary", "Change its words")
		b.check("review")
		b.fill("content", "Dreams of a boat.")
		b.press("button", "Save, and let it wait")
		b.reads("Saved; it still waits.")
		b.press("button", "Approve")
		b.reads("Approved: 1")
		w.say("I dream of the hills.")
		b.press("nav a", "Review")
		b.press("button", "Reject")
		b.reads("Rejected: 1")
	})

	t.Run("dead letters", func(t *testing.T) {
		x := &broken{Extractor: rules.New(nil)}
		w := newWorldWith(t, keyed(), x)
		w.say("I prefer window seats on long flights.")
		x.mended.Store(true)
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Dead letters")
		b.reads("internal error")
		b.check("deadletters")
		b.press("button", "Try what is chosen again")
		b.reads("They get another try: 1")
	})

	t.Run("keys", func(t *testing.T) {
		w := newWorld(t, keyed())
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Keys")
		b.fill("name", "night shift")
		b.press("button", "Make the key")
		b.reads("shown this once")
		b.check("key-secret")
		first := ask[string](b, "document.getElementById('secretvalue').innerText")
		if _, ok := w.m.Authenticate(first); !ok {
			t.Error("the secret that is shown is not the key's")
		}
		b.press("button", "Rotate")
		b.wait("document.getElementById('secretvalue') && document.getElementById('secretvalue').innerText != " + quoted(first))
		b.press("nav a", "Keys")
		b.wait("!document.getElementById('secretvalue')")
		b.press("button", "Revoke")
		b.reads("From the next call on")
		b.press("button.danger", "Revoke")
		b.reads("Revoked.")
	})

	t.Run("forgetting and bringing back", func(t *testing.T) {
		w := newWorld(t, keyed())
		w.story()
		b := w.newTab(browser, t, phone)
		b.login("admin")
		b.press("nav a", "Items")
		b.wait("document.querySelector('main input[name=id]')")
		ask[bool](b, "(document.querySelectorAll('main input[name=id]').forEach((e, i) => { if (i < 2) e.click() }), true)")
		b.press("button", "Forget what is chosen")
		b.reads("Items that would be forgotten: 2")
		b.check("forget-many")
		b.press("button.danger", "Forget")
		b.reads("Softly forgotten: 2")
		b.press("nav a", "Forgotten")
		b.reads("Goes for good:")
		b.check("forgotten")
		ask[bool](b, "(document.querySelectorAll('main input[name=id]').forEach(e => e.click()), true)")
		b.press("button", "Restore what is chosen")
		b.reads("Items that would come back, as they were: 2")
		b.press("button.main", "Restore")
		b.reads("Restored: 2")
	})

	t.Run("retention", func(t *testing.T) {
		w := newWorld(t, keyed())
		w.story()
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Retention")
		b.fill("max_items", "3")
		b.press("button", "Try it")
		b.reads("Items that would go:")
		b.reads("too many items")
		b.check("retention-tried")
		b.press("button", "Run it")
		b.reads("Items that the dry run found")
		b.press("button.danger", "Run it")
		b.reads("Items that went:")
	})

	t.Run("summaries", func(t *testing.T) {
		w := newWorld(t, keyed())
		w.converse("")
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Summaries")
		b.press("button", "Try what could be summarised")
		b.reads("A day:")
		b.check("consolidation-tried")
		b.press("button", "Write the summaries")
		b.reads("done")
		b.press("nav a", "Summaries")
		b.reads("Captain Ines")
		b.check("consolidation")
	})

	t.Run("the queue", func(t *testing.T) {
		w := newWorld(t, keyed())
		b := w.newTab(browser, t, desktop)
		b.login("admin")
		b.press("nav a", "Health")
		b.press("button", "Pause")
		b.reads("Extraction is paused.")
		b.press("button", "Resume")
		b.reads("Extraction goes on.")
	})

	t.Run("tenants", func(t *testing.T) {
		w := newWorld(t, keyed())
		b := w.newTab(browser, t, desktop)
		b.login("above")
		b.wait("location.pathname == '/ui/tenants'")
		b.fill("name", "globex")
		b.press("button", "Make the tenant")
		b.reads("globex")
		b.fill("key", "first")
		b.press("button", "Make an admin key")
		b.reads("shown this once")
		b.check("tenants")
		b.press("button", "Switch off")
		b.reads("are refused until")
		b.press("button.danger", "Switch off")
		b.reads("switched off")
		b.press("button", "Switch on")
		b.reads("Switched on.")
	})

	t.Run("an operation goes on, is canceled and run again", func(t *testing.T) {
		s := &slow{op: store.Operation{ID: "op1", Kind: "erase", State: store.OperationRunning, Done: 10, Total: 40, CreatedAt: time.Now(), By: "admin"}}
		p, err := page.New(page.Options{
			Enter: s.enter, Tenants: func(string) (page.Memory, error) { return s, nil }, MaxBody: 1 << 20,
			Problem: func(err error) (int, string, string) { return 500, "internal", err.Error() }, Keyless: func() bool { return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		hs := httptest.NewServer(p)
		defer hs.Close()
		b := (&world{t: t, url: hs.URL}).newTab(browser, t, desktop)
		b.open("/ui/operation?id=op1")
		b.reads("finished: 10 / 40")
		b.check("operation-running")
		s.set(func(op *store.Operation) { op.Done = 25 })
		b.reads("finished: 25 / 40") // of itself
		b.press("button", "Cancel it")
		b.reads("It was asked to end.")
		b.reads("ends at its next step")
		s.set(func(op *store.Operation) { op.State, op.DoneAt = store.OperationCanceled, time.Now() })
		b.reads("canceled")
		b.press("button", "Run it again")
		b.reads("It runs again.")
		s.set(func(op *store.Operation) {
			op.State, op.Done, op.Result = store.OperationDone, 40, json.RawMessage(`{"items": 40}`)
		})
		b.reads("Result")
		b.wait("!document.querySelector('[hx-trigger]')")
	})
}

// slow is a memory with one operation, which goes on when a test says so.
type slow struct {
	page.Memory
	mu sync.Mutex
	op store.Operation
}

func (s *slow) set(change func(op *store.Operation)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.op)
}

func (s *slow) Operation(context.Context, string) (store.Operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.op, nil
}

func (s *slow) CancelOperation(ctx context.Context, id string) (store.Operation, error) {
	s.set(func(op *store.Operation) { op.Cancel = true })
	return s.Operation(ctx, id)
}

func (s *slow) RetryOperation(ctx context.Context, id string) (store.Operation, error) {
	s.set(func(op *store.Operation) { op.State, op.Cancel = store.OperationRunning, false })
	return s.Operation(ctx, id)
}

// Ten thousand items stay usable: something is seen within a second.
func TestFirstPaintAmongTenThousandItems(t *testing.T) {
	whole(t)
	browser := newBrowser(t)
	w := newWorld(t, keyed())
	var lines bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&lines, `{"id": "n%d", "type": "semantic", "text": "Note %d: the %dth crate of apples stands in hall %d, beside the one of %d"}`+"\n", i, i, i, i%37, i/2)
	}
	res, err := w.m.Import(t.Context(), evoke.Who{}, &lines, nil)
	if err != nil || res.Imported != 10_000 {
		t.Fatalf("%+v, %v", res, err)
	}
	b := w.newTab(browser, t, desktop)
	b.login("admin")
	for _, path := range []string{"/ui/search", "/ui/search?q=apples+in+hall+7", "/ui/search?q=apples&why=n17", "/ui/items", "/ui/items?order=importance", "/ui/item?id=n5000", "/ui/health"} {
		b.open(path)
		b.wait("performance.getEntriesByName('first-contentful-paint').length")
		ms := ask[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
		t.Logf("soak: %s: first paint after %.0f ms", path, ms)
		if limit := 1000.0; ms > limit {
			t.Errorf("%s: first paint after %.0f ms, more than %.0f", path, ms, limit)
		}
	}
}
