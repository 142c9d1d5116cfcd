package evoke

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

// poisoned is an extractor that one conversation breaks: by an error that will not pass, by one that may, or by a panic.
// It can be healed, and it tells how many run at once.
type poisoned struct {
	extract.Extractor
	poison func() error

	mu     sync.Mutex
	healed bool
	gate   chan struct{} // not nil: every run waits for it
	now    int           // runs that wait for the gate
}

var errPoison = errors.New("this text breaks the extractor")

func (p *poisoned) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	p.mu.Lock()
	healed, gate := p.healed, p.gate
	if gate != nil {
		p.now++
	}
	p.mu.Unlock()
	if gate != nil {
		<-gate
	}
	for i := range b.Turns {
		if strings.Contains(b.Turns[i].Content, "poison") && !healed {
			return nil, p.poison()
		}
	}
	return p.Extractor.Extract(ctx, b)
}

func (p *poisoned) heal(gate chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.healed, p.gate = true, gate
}

func (p *poisoned) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// A thousand good conversations and one that breaks the extractor: the thousand are stored, the one is dead with its
// reason, and all slots are free; when the extractor is mended a retry stores it.
func TestOnePoisonAmongAThousand(t *testing.T) {
	const users, slots = 10, 4
	for name, poison := range map[string]func() error{
		"error": func() error { return errPoison },
		"panic": func() error { panic("poison") },
	} {
		t.Run(name, func(t *testing.T) {
			good := 1000
			if testing.Short() || name == "panic" {
				good = 100
			}
			if testing.Short() && name == "panic" {
				t.Skip("the other way of failing runs without -short")
			}
			x := &poisoned{Extractor: rules.New(nil), poison: poison}
			m := open(t, &Options{Extractor: x, Memory: MemoryOptions{MaxFacts: 500}})
			events := map[string]bool{}
			for i := range good {
				tell(t, m, Who{User: fmt.Sprint("u", i%users), Thread: fmt.Sprint("t", i)}, fmt.Sprintf("I like dish%d very much.", i), events)
				if i == good/2 {
					tell(t, m, Who{User: "u0", Thread: "bad"}, "I like poison very much.", events)
				}
			}
			if n, err := m.FlushAll(t.Context()); err != nil || n == 0 {
				t.Fatal(n, err)
			}
			page, err := m.Events(t.Context(), EventsRequest{State: store.EventDead})
			if err != nil || page.Counts[store.EventStored] != good || page.Counts[store.EventDead] != 1 || page.Counts[store.EventPending] != 0 || len(page.Events) != 1 {
				t.Fatalf("%+v, %v", page, err)
			}
			if dead := page.Events[0]; dead.Note == "" || strings.Contains(dead.Note, "poison") || !events[dead.ID] || dead.Thread != "bad" {
				t.Errorf("the dead letter: %+v", dead)
			}
			if facts := countFacts(t, m, users); facts != good {
				t.Errorf("%d facts of %d", facts, good)
			}
			// The slots are free, the dead one's too: as many run at once as may.
			gate := make(chan struct{})
			x.heal(gate)
			for i := range slots - 1 {
				tell(t, m, Who{User: "u0", Thread: fmt.Sprint("last", i)}, fmt.Sprintf("I like dish%d very much.", good+i), events)
			}
			if r, err := m.RetryEvents(t.Context(), []string{page.Events[0].ID}); err != nil || r.Revived != 1 {
				t.Fatal(r, err)
			}
			flushed := make(chan error, 1)
			go func() { _, err := m.FlushAll(context.WithoutCancel(t.Context())); flushed <- err }()
			for range 1000 {
				if x.waiting() == slots {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if n := x.waiting(); n != slots {
				t.Errorf("%d extractions run at once, want %d", n, slots)
			}
			close(gate)
			if err := <-flushed; err != nil {
				t.Fatal(err)
			}
			if n := countFacts(t, m, users); n != good+slots {
				t.Errorf("%d facts after the retry", n)
			}
			if st, err := m.QueueStats(t.Context()); err != nil || st.Waiting+st.Due+st.Leased != 0 {
				t.Errorf("%+v, %v", st, err)
			}
		})
	}
}

// tell ingests an exchange and notes its event.
func tell(t *testing.T, m *Memory, w Who, said string, events map[string]bool) {
	t.Helper()
	r, err := m.Ingest(t.Context(), IngestRequest{Who: w, Messages: chat(said, "Noted.")})
	if err != nil {
		t.Fatal(err)
	}
	events[r.EventID] = true
}

func countFacts(t *testing.T, m *Memory, users int) (n int) {
	t.Helper()
	for u := range users {
		st, err := m.Stats(t.Context(), Who{User: fmt.Sprint("u", u)})
		if err != nil {
			t.Fatal(err)
		}
		n += st.Semantic
	}
	return n
}

// Two hundred write for one user at once, by conversation and by hand: one item for each thing that was said, confirmed
// as often as it was said again, and no use and no field that anyone added is lost.
func TestTwoHundredWritersOfOneUser(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		twoHundredWriters(t, open(t, &Options{Path: t.TempDir(), Embedder: &bagEmbedder{}}))
	})
	t.Run("qdrant", func(t *testing.T) {
		addr := qdrantServer.Address(t)
		qdranttest.DropAfter(t, addr, "writers")
		items, err := qdrantstore.Open(t.Context(), &qdrantstore.Options{URL: "qdrant://" + addr, Collection: "writers", Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { items.Close() })
		ledger, err := sqlitestore.OpenMemory(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ledger.Close() })
		twoHundredWriters(t, open(t, &Options{Store: items, Ledger: ledger, Embedder: &bagEmbedder{}}))
	})
}

func twoHundredWriters(t *testing.T, m *Memory) {
	const distinct, fields = 50, 60
	writers := 200
	if testing.Short() {
		writers = 100 // the race detector sees as much of them
	}
	who := Who{User: "u"}
	anchor, err := m.Remember(t.Context(), RememberRequest{Who: who, ID: "anchor", Kind: store.Procedural, Content: "Restart the router when the line is slow"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			w, dish := Who{User: "u", Thread: fmt.Sprint("t", i)}, fmt.Sprintf("dish%d", i%distinct)
			var err error
			if i < writers/2 {
				_, err = m.Ingest(t.Context(), IngestRequest{Who: w, Messages: chat("I like "+dish+" very much.", "Noted.")})
				if _, ferr := m.Flush(t.Context(), w); ferr != nil {
					err = ferr
				}
			} else {
				_, err = m.Remember(t.Context(), RememberRequest{Who: w, Content: "The user likes " + dish, Category: store.Preference})
			}
			_, ferr := m.Feedback(t.Context(), FeedbackRequest{Who: who, IDs: []string{anchor.Item.ID}})
			if i < fields {
				_, uerr := m.Update(t.Context(), UpdateRequest{Who: who, ID: anchor.Item.ID, Metadata: store.Metadata{fmt.Sprint("f", i): store.String("x")}})
				ferr = errors.Join(ferr, uerr)
			}
			if err = errors.Join(err, ferr); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	page, err := m.List(t.Context(), ListRequest{Who: who, All: true, Limit: 1000, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
	if err != nil {
		t.Fatal(err)
	}
	evidence := map[string]int{}
	for _, it := range page.Items {
		if _, twice := evidence[it.Content]; twice || it.Closed() {
			t.Errorf("%q is there again: %+v", it.Content, it)
		}
		evidence[it.Content] = it.Provenance.Evidence
	}
	if len(evidence) != distinct {
		t.Errorf("%d items for %d things", len(evidence), distinct)
	}
	for content, n := range evidence {
		if n != writers/distinct-1 {
			t.Errorf("%q was said %d times and confirmed %d times", content, writers/distinct, n)
		}
	}
	it, err := m.Get(t.Context(), who, anchor.Item.ID)
	if err != nil || it.Uses != writers || len(it.Metadata) != fields {
		t.Errorf("%d uses, %d fields: %v", it.Uses, len(it.Metadata), err)
	}
	settle(t, m)
	if st, err := m.Stats(t.Context(), who); err != nil || st.Episodic != writers || st.Semantic != distinct || st.Pending != (Pending{}) {
		t.Errorf("%+v, %v", st, err)
	}
}
