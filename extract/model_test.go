package extract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// model is what the write path must do, in its simplest form.
type model struct {
	order   map[string][]string // thread → texts of its turns, by position
	byID    map[string][2]string
	replies map[string]string // key → what was sent
	events  []string
}

// The write path against its model: any mix of calls, repeats, conflicting repeats, pauses and flushes. Every turn is
// stored once at the position it came at; every turn of a thread with a user and an assistant turn is extracted
// exactly once, in order; every event reaches one terminal state.
func TestWritePathAgreesWithItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline to ask for
			db, err := sqlitestore.OpenMemory(context.Background(), nil)
			if err != nil {
				rt.Fatal(err)
			}
			defer db.Close()
			x := &script{}
			var locks extract.Locks
			w, err := extract.NewWorker(db, db, x, &extract.WorkerOptions{Locks: &locks})
			if err != nil {
				rt.Fatal(err)
			}
			if err := w.Start(); err != nil {
				rt.Fatal(err)
			}
			defer w.Stop()
			g, err := extract.NewIngester(db, db, &extract.IngestOptions{Locks: &locks, Wake: w.Wake})
			if err != nil {
				rt.Fatal(err)
			}
			m := &model{order: map[string][]string{}, byID: map[string][2]string{}, replies: map[string]string{}}
			for range rapid.IntRange(1, 30).Draw(rt, "steps") {
				switch rapid.IntRange(0, 5).Draw(rt, "step") {
				case 0:
					time.Sleep(time.Duration(rapid.IntRange(1, 60).Draw(rt, "pause")) * time.Second)
				case 1:
					if _, err := w.Flush(context.Background(), ann, rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "flush")); err != nil {
						rt.Fatal(err)
					}
				default:
					m.ingest(rt, g)
				}
			}
			if _, err := w.Flush(context.Background(), ann, ""); err != nil {
				rt.Fatal(err)
			}
			m.compare(rt, db, x)
		})
	})
}

func (m *model) ingest(rt *rapid.T, g *extract.Ingester) {
	thread := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "thread")
	key := rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(rt, "key")
	var msgs []message.Message
	sent := thread
	for range rapid.IntRange(0, 4).Draw(rt, "messages") {
		msg := message.Message{
			ID:      rapid.SampledFrom([]string{"", "", "m1", "m2", "m3"}).Draw(rt, "id"),
			Role:    rapid.SampledFrom([]message.Role{message.User, message.Assistant, message.System}).Draw(rt, "role"),
			Content: rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "text"),
		}
		msgs = append(msgs, msg)
		sent += fmt.Sprint("|", msg.ID, msg.Role, msg.Content)
	}
	r, err := g.Ingest(context.Background(), ann, thread, msgs, &extract.Call{Key: key})
	if before, used := m.replies[key]; key != "" && used {
		switch {
		case before != sent && !errors.Is(err, store.ErrConflict):
			rt.Fatalf("key %s used for something else: %v", key, err)
		case before == sent && (err != nil || !r.Replayed):
			rt.Fatalf("key %s replayed: %+v %v", key, r, err)
		}
		return
	}
	fresh, conflict := m.fresh(thread, msgs)
	if conflict {
		if !errors.Is(err, store.ErrConflict) {
			rt.Fatalf("an id with another text: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	if len(r.Turns) != len(fresh) || len(r.Turns)+len(r.Dropped) != len(msgs) {
		rt.Fatalf("stored %d, want %d of %d", len(r.Turns), len(fresh), len(msgs))
	}
	for i, f := range fresh {
		if r.Turns[i].Position != len(m.order[thread]) {
			rt.Fatalf("position %d, want %d", r.Turns[i].Position, len(m.order[thread]))
		}
		m.order[thread] = append(m.order[thread], string(f.Role)+f.Content)
		if f.ID != "" {
			m.byID[f.ID] = [2]string{thread, string(f.Role) + f.Content}
		}
	}
	if key != "" {
		m.replies[key] = sent
	}
	m.events = append(m.events, r.Event)
}

func (m *model) fresh(thread string, msgs []message.Message) (out []message.Message, conflict bool) {
	inCall := map[string]string{}
	for _, msg := range msgs {
		if msg.Role == message.System {
			continue
		}
		said := string(msg.Role) + msg.Content
		if stored, ok := m.byID[msg.ID]; msg.ID != "" && ok {
			if stored != [2]string{thread, said} {
				return nil, true
			}
			continue
		}
		if before, ok := inCall[msg.ID]; msg.ID != "" && ok {
			if before != said {
				return nil, true
			}
			continue
		}
		inCall[msg.ID] = said
		out = append(out, msg)
	}
	return out, false
}

func (m *model) compare(rt *rapid.T, db *sqlitestore.DB, x *script) {
	page, err := db.List(context.Background(), ann, store.ListQuery{View: store.View{All: true}, Limit: 10000})
	if err != nil {
		rt.Fatal(err)
	}
	got := map[string]map[int]string{"a": {}, "b": {}}
	for _, it := range page.Items {
		if got[it.Turn.Thread][it.Turn.Position] != "" {
			rt.Fatalf("two turns at %s %d", it.Turn.Thread, it.Turn.Position)
		}
		got[it.Turn.Thread][it.Turn.Position] = it.Turn.Role + it.Content
	}
	extractable := 0
	for thread, want := range m.order {
		for i, said := range want {
			if got[thread][i] != said {
				rt.Fatalf("%s %d is %q, want %q", thread, i, got[thread][i], said)
			}
		}
		if len(want) != len(got[thread]) {
			rt.Fatalf("%d turns in %s, want %d", len(got[thread]), thread, len(want))
		}
		st, err := db.Thread(context.Background(), ann, thread)
		if err != nil || st.Next != len(want) || st.Cursor > st.Next {
			rt.Fatalf("%+v %v", st, err)
		}
		rest := want[st.Cursor:]
		hasRole := func(role string) bool {
			return slices.ContainsFunc(rest, func(s string) bool { return s[:1] == role[:1] })
		}
		if hasRole("user") && hasRole("assistant") {
			rt.Fatalf("turns of %s were never extracted: %q", thread, rest)
		}
		extractable += st.Cursor
	}
	seen := 0
	for _, c := range x.seen() {
		seen += len(c)
	}
	if seen != extractable {
		rt.Fatalf("%d turns were extracted, the cursors say %d", seen, extractable)
	}
	for _, id := range m.events {
		ev, err := db.Event(context.Background(), ann.Tenant, id)
		if err != nil || ev.State == store.EventPending || ev.DoneAt.IsZero() {
			rt.Fatalf("%+v %v", ev, err)
		}
	}
	counts, err := db.CountEvents(context.Background(), ann.Tenant)
	if err != nil || counts[store.EventPending] != 0 || counts[store.EventNothing] != len(m.events) {
		rt.Fatalf("%v of %d events, %v", counts, len(m.events), err)
	}
}
