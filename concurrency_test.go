package evoke

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// caller calls every verb at random, often giving up early.
type caller struct {
	m   *Memory
	n   int
	rnd *rand.Rand
	ids []string // of items that are or were there
}

func (c *caller) call(ctx context.Context, i int) error {
	w := Who{User: fmt.Sprint("u", c.rnd.IntN(2)), Agent: []string{"", "helper", "user-x"}[c.rnd.IntN(3)], Thread: fmt.Sprint("t", c.rnd.IntN(3))}
	id := "none"
	if len(c.ids) > 0 {
		id = c.ids[c.rnd.IntN(len(c.ids))]
	}
	switch c.rnd.IntN(12) {
	case 0, 1:
		res, err := c.m.Ingest(ctx, IngestRequest{Who: w, Messages: chat(fmt.Sprintf("I like dish%d and live in Town%d.", i, c.rnd.IntN(5)), "ok"), IdempotencyKey: fmt.Sprint(c.n, "-", c.rnd.IntN(50))})
		for _, turn := range res.Turns {
			if turn.ID != "" { // else it is not there: it was forgotten before
				c.ids = append(c.ids, turn.ID)
			}
		}
		return err
	case 2:
		res, err := c.m.Remember(ctx, RememberRequest{Who: w, Kind: store.Kinds()[1+i%2], Content: fmt.Sprint("fact ", c.rnd.IntN(100)), IdempotencyKey: fmt.Sprint("r", i%2, c.rnd.IntN(100))})
		if err == nil && res.Item.ID != "" {
			c.ids = append(c.ids, res.Item.ID)
		}
		return err
	case 3:
		_, err := c.m.Recall(ctx, RecallRequest{Who: w, Request: recall.Request{Query: fmt.Sprint("dish", i, " fact town"), MinScore: ptr(0.0)}})
		return err
	case 4:
		budget := c.rnd.IntN(400)
		b, err := c.m.Context(ctx, ContextRequest{Who: w, MaxTokens: &budget, Request: recall.Request{Query: "fact dish"}})
		if b.Tokens > budget {
			return fmt.Errorf("%d tokens for a budget of %d", b.Tokens, budget)
		}
		return err
	case 5:
		_, err := c.m.Update(ctx, UpdateRequest{Who: w, ID: id, Content: ptr(fmt.Sprint("other words ", c.n, " ", i))})
		return err
	case 6:
		r := ForgetRequest{Who: w, IDs: []string{id}}
		if i%100 == 0 {
			r.IDs, r.All = nil, true
		}
		_, err := c.m.Forget(ctx, r)
		return err
	case 7:
		_, err := c.m.Feedback(ctx, FeedbackRequest{Who: w, IDs: []string{id}})
		return err
	case 8:
		var b bytes.Buffer
		if _, err := c.m.Export(ctx, w, &b); err != nil {
			return err
		}
		_, err := c.m.Import(ctx, w, &b, nil)
		return err
	case 9:
		_, err := c.m.Outcome(ctx, OutcomeRequest{Who: w, ID: id, Outcome: []store.Outcome{store.Succeeded, store.Failed}[i%2]})
		if errors.Is(err, store.ErrInvalid) { // no procedural item
			err = nil
		}
		return err
	case 10:
		_, err := c.m.Profile(ctx, ProfileRequest{Who: w})
		if _, qerr := c.m.Quarantined(ctx, QuarantineRequest{Who: w}); qerr != nil {
			err = qerr
		}
		return err
	default:
		_, err := c.m.History(ctx, w, id)
		if _, serr := c.m.Stats(ctx, w); serr != nil {
			err = serr
		}
		return err
	}
}

// All verbs at once, with scopes whose indexes do not fit in memory together: nothing fails that should not, and in the
// end the index of every scope says what its database says, with no work left.
func TestEveryVerbAtOnce(t *testing.T) {
	m := open(t, &Options{Path: t.TempDir(), Embedder: &bagEmbedder{}, IndexBytes: 1 << 20, Memory: MemoryOptions{Debounce: time.Second}})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			c := &caller{m: m, n: n, rnd: rand.New(rand.NewPCG(uint64(n), 1))}
			for i := 1; ctx.Err() == nil; i++ {
				one, stop := ctx, context.CancelFunc(func() {})
				if i%10 == 0 {
					one, stop = context.WithTimeout(ctx, time.Duration(c.rnd.IntN(2000))*time.Microsecond)
				}
				err := c.call(one, i)
				if err != nil && one.Err() == nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
					t.Error(err)
				}
				stop()
			}
		})
	}
	wg.Wait()
	for _, user := range []string{"u0", "u1"} {
		for _, agent := range []string{"", "helper", "user-x"} {
			checkIndex(t, m, Who{User: user, Agent: agent})
		}
	}
}

func checkIndex(t *testing.T, m *Memory, w Who) {
	t.Helper()
	if _, err := m.Flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	st, err := m.Stats(t.Context(), w)
	if err != nil || st.Pending != (Pending{}) {
		t.Errorf("%v: %+v, %v", w, st, err)
	}
	page, err := m.List(t.Context(), ListRequest{Who: w, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var listed, found []string
	for _, it := range page.Items {
		listed = append(listed, it.ID)
		res, err := m.Recall(t.Context(), RecallRequest{Who: w, PairOnly: true, Request: recall.Request{
			Query: it.Content, MinScore: ptr(0.0), Filter: store.Filter{IDs: []string{it.ID}}}})
		if err != nil || res.PendingVectors != 0 {
			t.Fatalf("%v: %+v, %v", w, res, err)
		}
		for _, h := range res.Hits {
			if h.Item.Content == it.Content {
				found = append(found, h.Item.ID)
			}
		}
	}
	if strings.Join(listed, " ") != strings.Join(found, " ") {
		t.Errorf("%v: %d items are listed and %d found", w, len(listed), len(found))
	}
}
