package evoke

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"evoke/store"
)

// richAgent has the memory with ann in which there is something of every kind; richWord stands in all of it.
const (
	richAgent = "rich"
	richWord  = "quillfeather"
)

// richHold is what a memory has beside plain turns: items under a summary, a fact that was taken of a conversation, an event that
// still waits, and replies that are kept under keys.
type richHold struct {
	who     Who
	ids     []string // of all items
	summary string
	threads []string
	waits   string // the event
	keys    int    // idempotency keys
	again   []func(m *Memory) (skipped string, err error)
}

// fillRich fills ann's memory with an agent, and makes sure that all of it is there.
func fillRich(t *testing.T, m *Memory) richHold {
	t.Helper()
	ctx := t.Context()
	h := richHold{who: Who{User: "ann", Agent: richAgent}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	trip := richWord + " trip"
	converse(t, m, h.who, trip, "2026-02-01",
		"Ann: We walked to the quillfeather mine near the old harbour and bought two bags of stones.", "Tom: The quillfeather mine near the harbour sounds like a long walk.",
		"Ann: The guide at the quillfeather mine told us of the flood that closed it in the winter.", "Tom: A flood closed the quillfeather mine for a whole winter then.",
		"Ann: Afterwards we had soup in the quillfeather inn and slept until the train left.", "Tom: Soup in the quillfeather inn and a late train make a good day.")
	if _, got := consolidate(t, m, ConsolidateRequest{User: "ann", Agent: richAgent, Policy: wholly}); got.Summaries != 1 || got.Items < 3 {
		t.Fatalf("no summary: %+v", got)
	}
	said := func(thread, prefix string, texts ...string) IngestRequest {
		who := h.who
		who.Thread = thread
		msgs := chat(texts...)
		for i := range msgs {
			msgs[i].ID, msgs[i].Time = fmt.Sprint(richWord, "-", prefix, "-", i), time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC)
		}
		return IngestRequest{Who: who, Messages: msgs, IdempotencyKey: richWord + " key " + prefix}
	}
	facts := said(richWord+" talk", "a", "I like quillfeather tea with my friends.", "Quillfeather tea it is.")
	waits := said(richWord+" waits", "b", "I work at Quillfeather as a quillfeather smith.", "Noted.")
	remembers := RememberRequest{Who: h.who, ID: richWord + "-item", Content: "The quillfeather code is 4471.", IdempotencyKey: richWord + " remember"}
	for _, r := range []IngestRequest{facts, waits} {
		in, err := m.Ingest(ctx, r)
		must(err)
		if len(in.Turns) != 2 {
			t.Fatalf("%+v", in)
		}
		h.waits = in.EventID
		h.again = append(h.again, func(m *Memory) (string, error) { res, err := m.Ingest(t.Context(), r); return res.Skipped, err })
	}
	_, err := m.Flush(ctx, facts.Who)
	must(err)
	_, err = m.Remember(ctx, remembers)
	must(err)
	h.again = append(h.again, func(m *Memory) (string, error) {
		res, err := m.Remember(t.Context(), remembers)
		return res.Skipped, err
	})
	h.keys, h.threads = 3, []string{trip, facts.Thread, waits.Thread}

	page, err := m.List(ctx, ListRequest{Who: h.who, All: true, Sources: true, Limit: 1000})
	must(err)
	fact := false
	for _, it := range page.Items {
		h.ids = append(h.ids, it.ID)
		if it.IsSummary() {
			h.summary = it.ID
		}
		fact = fact || it.Kind == store.Semantic && strings.HasPrefix(it.Provenance.Extractor, "rules")
	}
	ev, err := m.Event(ctx, h.waits, 0)
	must(err)
	traces, err := m.ledger.Traces(ctx, h.traced(m))
	must(err)
	if h.summary == "" || !fact || ev.State != store.EventPending || traces.Counts["replies"] < h.keys || traces.Counts["events"] < 2 || traces.Counts["threads"] == 0 {
		t.Fatalf("summary %q, fact %t, %s, %+v", h.summary, fact, ev.State, traces.Counts)
	}
	return h
}

// traced are the names by which control data may still know of it.
func (h *richHold) traced(m *Memory) store.Traced {
	tr := store.Traced{Scope: store.Scope{Tenant: m.tenant, User: h.who.User, Agent: h.who.Agent}, IDs: map[string]string{}, Threads: map[string]string{}, All: true}
	for _, id := range h.ids {
		tr.IDs[id] = ""
	}
	for _, thread := range h.threads {
		tr.Threads[thread] = ""
	}
	return tr
}

// gone fails the test where anything is left after the erasure of the id, or comes back.
func (h *richHold) gone(t *testing.T, m *Memory, erasure string) {
	t.Helper()
	ctx := t.Context()
	tr := h.traced(m)
	items, err := m.store.Get(ctx, tr.Scope, h.ids)
	if err != nil || len(items) > 0 {
		t.Errorf("%d items are left, %v", len(items), err)
	}
	traces, err := m.ledger.Traces(ctx, tr)
	if err != nil || traces.Total() > 0 {
		t.Errorf("control data keeps %+v, %v", traces.Counts, err)
	}
	ev, err := m.Event(ctx, h.waits, 0)
	if err != nil || ev.State != store.EventNothing || ev.Note != "erased" {
		t.Errorf("the event that waited: %s (%s), %v", ev.State, ev.Note, err)
	}
	st, err := m.Stats(ctx, h.who)
	if err != nil || st.Pending != (Pending{}) || st.Total != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	for i, again := range h.again {
		if why, err := again(m); err != nil || why != "erased" {
			t.Errorf("retry %d after %s: %q, %v", i, erasure, why, err)
		}
	}
}
