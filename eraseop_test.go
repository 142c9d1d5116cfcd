package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/lifecycle"
)

// lines are n items to import, of a thread.
func lines(t *testing.T, m *Memory, w Who, n int) {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%s%s%s-%04d","text":"note %d of %s","meta":{"session":"s","seq":%d}}`+"\n", w.User, w.Agent, w.Thread, i, i, w.User, i)
	}
	if res, err := m.Import(t.Context(), Who{User: w.User, Agent: w.Agent}, strings.NewReader(b.String()), nil); err != nil || res.Imported != n {
		t.Fatalf("%+v, %v", res, err)
	}
}

func erased(t *testing.T, m *Memory, id string) (store.Operation, Erased) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	op, err := m.WaitOperation(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var got Erased
	if len(op.Result) > 0 {
		if err := json.Unmarshal(op.Result, &got); err != nil {
			t.Fatal(err)
		}
	}
	return op, got
}

func held(t *testing.T, m *Memory) int {
	t.Helper()
	n, err := m.Export(t.Context(), Who{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEraseCoversEveryMemoryOfWhomItNames(t *testing.T) {
	m := open(t, &Options{Policy: &Policy{Rules: []PolicyRule{{Agent: "pair-*", Namespace: PairNamespace}, {Agent: "own-*", Namespace: OwnNamespace}}}})
	for _, w := range []Who{{User: "ann"}, {User: "ann", Agent: "pair-1"}, {User: "bob"}, {User: "bob", Agent: "pair-1"}, {Agent: "own-1"}} {
		lines(t, m, w, 5)
	}
	for _, step := range []struct {
		r    EraseRequest
		want Erased
		left int
	}{
		{EraseRequest{User: "nobody"}, Erased{}, 25},
		{EraseRequest{User: "bob", Thread: "none"}, Erased{}, 25},
		{EraseRequest{User: "bob", Filter: &store.Filter{Positions: store.PositionRange{From: 3}}}, Erased{Memories: 2, Items: 4, Tombstones: 8}, 21},
		{EraseRequest{User: "ann"}, Erased{Memories: 2, Items: 10, Tombstones: 20}, 11},
		{EraseRequest{Agent: "pair-1"}, Erased{Memories: 1, Items: 3, Tombstones: 6}, 8},
		{EraseRequest{Tenant: true}, Erased{Memories: 2, Items: 8, Tombstones: 16}, 0},
	} {
		ctx := WithActor(t.Context(), Actor{Name: "dpo"})
		op, err := m.Erase(ctx, step.r)
		if err != nil {
			t.Fatal(err)
		}
		op, got := erased(t, m, op.ID)
		if op.State != store.OperationDone || got != step.want || op.Done != got.Items || op.By != "dpo" {
			t.Errorf("%+v: %s (%s) by %q, %+v, %d done, want %+v", step.r, op.State, op.Note, op.By, got, op.Done, step.want)
		}
		if n := held(t, m); n != step.left {
			t.Errorf("%+v: %d left, want %d", step.r, n, step.left)
		}
		log, err := m.Audit(t.Context(), AuditRequest{Verb: "erase", Limit: 1})
		if err != nil || len(log.Entries) != 1 || log.Entries[0].By != "dpo" || log.Entries[0].Counts["items"] != step.want.Items || log.Entries[0].IDs[0] != op.ID {
			t.Errorf("%+v: %+v, %v", step.r, log, err)
		}
	}
	for _, bad := range []EraseRequest{
		{}, {User: "ann", Tenant: true}, {User: "a\x00"}, {Tenant: true, Filter: &store.Filter{}}, {Thread: "t"},
		{User: "ann", Filter: &store.Filter{Any: []store.Filter{{Subjects: []string{"home"}}}}}, {User: "ann", Filter: &store.Filter{Distilled: true}},
	} {
		if _, err := m.Erase(t.Context(), bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Wherever a crash cuts an erasure off, the next start ends it, and what it counted adds up.
func TestEraseGoesOnAfterACrash(t *testing.T) {
	oneByOne(t)
	plan := func(from, to int) (ids []string) {
		for i := from; i < to; i++ {
			ids = append(ids, fmt.Sprintf("ann-%04d", i))
		}
		return ids
	}
	ann := store.Scope{Tenant: "default", User: "ann"}
	for name, tt := range map[string]struct {
		gone  int // of the 450 items
		state *erasing
	}{
		"before the first step":              {0, nil},
		"a step planned and not done":        {0, &erasing{Erased: Erased{Memories: 1, Items: 200, Tombstones: 400}, Scope: ann, Next: plan(0, 200)}},
		"a step done and not followed":       {200, &erasing{Erased: Erased{Memories: 1, Items: 200, Tombstones: 400}, Scope: ann, Next: plan(0, 200)}},
		"the next planned and not done":      {200, &erasing{Erased: Erased{Memories: 1, Items: 400, Tombstones: 800}, Scope: ann, Next: plan(200, 400)}},
		"the last planned and not done":      {400, &erasing{Erased: Erased{Memories: 1, Items: 450, Tombstones: 900}, Scope: ann, Next: plan(400, 450)}},
		"everything done, and that not said": {450, &erasing{Erased: Erased{Memories: 1, Items: 450, Tombstones: 900}, Scope: ann, Next: plan(400, 450)}},
	} {
		dir := t.TempDir()
		m, err := Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		lines(t, m, Who{User: "ann"}, 450)
		lines(t, m, Who{User: "bob"}, 3)
		if tt.gone > 0 {
			if _, err := m.Forget(t.Context(), ForgetRequest{Who: Who{User: "ann"}, IDs: plan(0, tt.gone)}); err != nil {
				t.Fatal(err)
			}
		}
		op := store.Operation{ID: "cut-off", Tenant: "default", Kind: "erase", State: store.OperationRunning, By: "dpo", CreatedAt: m.now(), UpdatedAt: m.now()}
		op.Args = json.RawMessage(`{"user":"ann"}`)
		if tt.state != nil {
			if op.Checkpoint, err = json.Marshal(tt.state); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.ledger.SaveOperation(t.Context(), op); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = open(t, &Options{Path: dir})
		got, sum := erased(t, m, "cut-off")
		if got.State != store.OperationDone || sum != (Erased{Memories: 1, Items: 450, Tombstones: 900}) {
			t.Errorf("%s: %s (%s), %+v", name, got.State, got.Note, sum)
		}
		if n := held(t, m); n != 3 {
			t.Errorf("%s: %d left", name, n)
		}
	}
}

// A stop in the middle is no end; two erasures at once of the same and what is written meanwhile do no harm.
func TestErasuresThatMeet(t *testing.T) {
	dir := t.TempDir()
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	lines(t, m, Who{User: "ann"}, 900)
	first, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Erase(t.Context(), EraseRequest{Tenant: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil { // wherever they are
		t.Fatal(err)
	}
	m = open(t, &Options{Path: dir})
	op1, one := erased(t, m, first.ID)
	op2, two := erased(t, m, second.ID)
	if op1.State != store.OperationDone || op2.State != store.OperationDone || one.Items+two.Items != 900 {
		t.Errorf("%s %+v, %s %+v", op1.State, one, op2.State, two)
	}
	if n := held(t, m); n != 0 {
		t.Errorf("%d left", n)
	}
}

// gated are the rules, which wait until they are let go.
type gated struct {
	extract.Extractor
	begun, release chan struct{}
}

func (x *gated) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	x.begun <- struct{}{}
	<-x.release
	return x.Extractor.Extract(ctx, b)
}

// What is erased while it is being extracted does not come back as a fact.
func TestEraseWhileTheSameIsExtracted(t *testing.T) {
	x := &gated{rules.New(nil), make(chan struct{}, 1), make(chan struct{})}
	m := open(t, &Options{Extractor: x})
	who := Who{User: "ann", Thread: "t"}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("My name is Ann. I live in Lisbon.", "Hello Ann.")})
	if err != nil {
		t.Fatal(err)
	}
	flushed := make(chan error, 1)
	go func() { _, err := m.Flush(context.Background(), who); flushed <- err }()
	<-x.begun
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if op, got := erased(t, m, op.ID); op.State != store.OperationDone || got.Items != 2 {
		t.Errorf("%s (%s), %+v", op.State, op.Note, got)
	}
	close(x.release)
	if err := <-flushed; err != nil {
		t.Fatal(err)
	}
	if ev, err := m.Event(t.Context(), in.EventID, 20*time.Second); err != nil || ev.State != store.EventNothing {
		t.Errorf("%+v, %v", ev, err)
	}
	if n := held(t, m); n != 0 {
		t.Errorf("%d items came back", n)
	}
}

// A canceled erasure ends at its next step; what was done stays done, and a retry does the rest and counts it all.
func TestEraseCanceledAndTriedAgain(t *testing.T) {
	m := open(t, nil)
	lines(t, m, Who{User: "ann"}, 450)
	ann := store.Scope{Tenant: "default", User: "ann"}
	unlock := m.locks.Lock(ann) // it gets no further than this
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.CancelOperation(t.Context(), op.ID); err != nil {
		t.Fatal(err)
	}
	if got, _ := erased(t, m, op.ID); got.State != store.OperationCanceled {
		t.Errorf("%s (%s)", got.State, got.Note)
	}
	unlock()
	if n := held(t, m); n != 450 {
		t.Errorf("%d left of 450", n)
	}
	if _, err := m.RetryOperation(t.Context(), op.ID); err != nil {
		t.Fatal(err)
	}
	if got, sum := erased(t, m, op.ID); got.State != store.OperationDone || sum.Items != 450 || held(t, m) != 0 {
		t.Errorf("%s (%s), %+v, %d left", got.State, got.Note, sum, held(t, m))
	}
	log, err := m.Audit(t.Context(), AuditRequest{Verb: "erase"})
	if err != nil || len(log.Entries) > 2 || log.Entries[0].Counts["items"] != 450 {
		t.Errorf("%+v, %v", log, err)
	}
}

// A user's memories that hold nothing but control data are erased with the others: of each form of the request.
func TestErasureOfControlDataAlone(t *testing.T) {
	for _, r := range []EraseRequest{{User: "ann"}, {Agent: "chef"}, {User: "ann", Agent: "chef"}, {Tenant: true}} {
		m := open(t, &Options{})
		who := Who{User: "ann", Agent: "chef", Thread: "secret-thread"}
		said, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I keep bees", "Noted"), IdempotencyKey: "secret-key"})
		if err != nil {
			t.Fatal(err)
		}
		sc, err := m.memory(who)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for id := range all(t, m, who) {
			ids = append(ids, id)
		}
		if err := m.store.Apply(t.Context(), sc, store.Change{Delete: ids}); err != nil { // nothing but control data is left
			t.Fatal(err)
		}
		op, err := m.Erase(t.Context(), r)
		if err == nil {
			op, err = m.WaitOperation(t.Context(), op.ID)
		}
		if err != nil || op.State != store.OperationDone {
			t.Fatal(op.State, op.Note, err)
		}
		left, err := m.ledger.Traces(t.Context(), store.Traced{Scope: sc, All: true})
		if err != nil || left.Total() != 0 {
			t.Errorf("%+v: left: %+v, %v", r, left, err)
		}
		if ev, err := m.ledger.Event(t.Context(), m.tenant, said.EventID); err != nil || ev.Thread != "" {
			t.Errorf("%+v: event %+v, %v", r, ev, err)
		}
		if _, err := m.ledger.Reply(t.Context(), sc, "secret-key"); err == nil {
			t.Errorf("%+v: the reply is left", r)
		}
	}
}

// What an undo was asked about goes with its memory, also when no item was ever said in that conversation; another's stays.
func TestErasureTakesTheThreadsThatUndosNamed(t *testing.T) {
	m := open(t, nil)
	var undos []string
	for _, user := range []string{"ann", "bob"} {
		if _, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: user}, Content: "tea"}); err != nil {
			t.Fatal(err)
		}
		res, err := m.Undo(t.Context(), UndoRequest{Who: Who{User: user}, Batch: lifecycle.Batch{Thread: "ghost-of-" + user}})
		if err == nil {
			_, err = m.WaitOperation(t.Context(), res.Operation.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		undos = append(undos, res.Operation.ID)
	}
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if op, _ := erased(t, m, op.ID); op.State != store.OperationDone {
		t.Fatal(op.State, op.Note)
	}
	for i, want := range []string{store.ErasedPrefix, "ghost-of-bob"} {
		op, err := m.Operation(t.Context(), undos[i])
		if err != nil || strings.Contains(string(op.Args), "ghost-of-ann") || !strings.Contains(string(op.Args), want) {
			t.Errorf("%s, %v", op.Args, err)
		}
	}
}
