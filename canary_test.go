package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

// canaryWords stand in every place where what a user says or names is kept. None may be left anywhere.
var canaryWords = []string{"zebraquartz", "Zebraquartz", "斑马石英", "ZEBRAQUARTZ"}

// nest is a memory with canaries in it, and what is needed to look for them.
type nest struct {
	*testing.T
	dir   string
	opts  func() *Options
	m     *Memory
	log   *lockedBuffer
	reuse []func() (string, error) // bring the same back, each answering why nothing was kept
	ids   []string                 // of items that have canaries in them, as long as there are any
	block string                   // the hash of a block that was made of them
	event string                   // of a conversation with a canary in its name
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (n *nest) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func (n *nest) reopen() {
	n.Helper()
	var err error
	n.m, err = Open(n.Context(), n.opts())
	n.must(err)
}

var (
	canaryWho  = Who{User: "ann", Thread: "zebraquartz thread 斑马石英"}
	canaryPair = Who{User: "ann", Agent: "pair-1", Thread: "zebraquartz pair"}
)

// canaryTurns is a conversation with canaries, with ids and times as a client's replay has them.
func canaryTurns(prefix string, lines ...string) []message.Message {
	msgs := chat(lines...)
	for i := range msgs {
		msgs[i].ID = fmt.Sprintf("zebraquartz-%s-%d", prefix, i)
		msgs[i].Name = []string{"Zebraquartz Ann", ""}[i%2]
		msgs[i].Time = time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC)
	}
	return msgs
}

// fill stores, derives and shows.
func (n *nest) fill() {
	n.Helper()
	ctx, m := n.Context(), n.m
	calls := []IngestRequest{
		{Who: canaryWho, Messages: canaryTurns("a", "My name is Zebraquartz. I live in zebraquartz city.", "Hello Zebraquartz!"), IdempotencyKey: "zebraquartz key"},
		{Who: canaryWho, Messages: canaryTurns("b", "我叫斑马石英。我住在斑马石英城。", "斑马石英你好！")},
		{Who: canaryPair, Messages: canaryTurns("c", "I like zebraquartz tea with my friends.", "Zebraquartz tea it is."), IdempotencyKey: "zebraquartz pair key"},
		{Who: Who{User: "ann", Thread: "zebraquartz waits"}, Messages: canaryTurns("d", "I work at Zebraquartz Ltd.", "Noted.")}, // it stays in the queue
	}
	for i, r := range calls {
		in, err := m.Ingest(ctx, r)
		n.must(err)
		if len(in.Turns) != 2 {
			n.Fatalf("%+v", in)
		}
		if i < 3 {
			_, err = m.Flush(ctx, r.Who)
			n.must(err)
		}
		if i == 0 {
			n.event = in.EventID
		}
		n.reuse = append(n.reuse, func() (string, error) { res, err := n.m.Ingest(n.Context(), r); return res.Skipped, err })
	}
	for _, r := range []RememberRequest{
		{Who: Who{User: "ann"}, ID: "zebraquartz-item", Content: "Ann's boat is called 斑马石英号.", Metadata: store.Metadata{"zebraquartz key": store.String("zebraquartz value 斑马石英"), "list": store.List("zebraquartz one")}},
		{Who: Who{User: "ann"}, Content: "The zebraquartz code is 4471.", Speaker: "zebraquartz speaker", Subject: "zebraquartz", IdempotencyKey: "zebraquartz remember"},
	} {
		_, err := m.Remember(ctx, r)
		n.must(err)
		n.reuse = append(n.reuse, func() (string, error) { res, err := n.m.Remember(n.Context(), r); return res.Skipped, err })
	}
	next, err := m.Update(ctx, UpdateRequest{Who: Who{User: "ann"}, ID: "zebraquartz-item", Content: ptr("Ann's boat is called Zebraquartz II.")})
	n.must(err)
	soft, err := m.Remember(ctx, RememberRequest{Who: Who{User: "ann"}, Content: "A zebraquartz that is softly forgotten."})
	n.must(err)
	_, err = m.Forget(ctx, ForgetRequest{Who: Who{User: "ann"}, IDs: []string{soft.Item.ID}, Soft: true})
	n.must(err)
	sc := store.Scope{Tenant: m.tenant, User: "ann"}
	written(n.T, m, sc, "zebraquartz-section", "work", "Works on zebraquartz.", m.now(), nil, "zebraquartz-a-0", "zebraquartz-b-0")
	op, err := json.Marshal(extract.Operation{Action: extract.Add, Kind: store.Semantic, Content: "Owns zebraquartz.", Quote: "zebraquartz", Speaker: "user"})
	n.must(err)
	w := m.newWrite(sc)
	w.Quarantine = []store.Quarantined{{ID: "waits", Scope: sc, Thread: canaryWho.Thread, Turn: "zebraquartz-a-0", Extractor: "x/1", Reason: "ungrounded", Operation: op, At: m.now()}}
	n.must(store.Commit(ctx, m.store, m.ledger, w))
	settle(n.T, m)
	for _, who := range []Who{canaryWho, canaryPair} {
		who.Thread = ""
		b, err := m.Context(ctx, ContextRequest{Who: who, Request: recall.Request{Query: "zebraquartz", MinScore: ptr(0.0)}})
		n.must(err)
		if !strings.Contains(b.Text, "ebraquartz") {
			n.Fatalf("the block has no canary: %s", b.Text)
		}
		if n.block == "" {
			n.block = b.Hash
		}
	}
	_, err = m.Outcome(ctx, OutcomeRequest{Who: Who{User: "ann"}, ID: next.ID, Outcome: store.Succeeded})
	if err == nil {
		n.Fatal("an outcome of a fact")
	}
	bob, err := m.Remember(ctx, RememberRequest{Who: Who{User: "bob"}, ID: "bob-1", Content: "Bob keeps bees and says nothing else."})
	n.must(err)
	if bob.Item.ID != "bob-1" {
		n.Fatal(bob)
	}
}

// consolidate has a summary made of a conversation of canaries.
func (n *nest) consolidate() {
	n.Helper()
	ctx, m := n.Context(), n.m
	trip := canaryTurns("trip",
		"We walked to the zebraquartz mine near the old harbour and bought two bags of stones.", "The zebraquartz mine near the harbour sounds like a long walk.",
		"The guide at the zebraquartz mine told us of the flood that closed it in the winter.", "A flood closed the zebraquartz mine for a whole winter then.",
		"Afterwards we had soup in the zebraquartz inn and slept until the train left.", "Soup in the zebraquartz inn and a late train make a good day.")
	for i := range trip {
		trip[i].Time = trip[i].Time.AddDate(0, -1, 0)
	}
	_, err := m.Ingest(ctx, IngestRequest{Who: Who{User: "ann", Thread: "zebraquartz trip"}, Messages: trip})
	n.must(err)
	_, err = m.Flush(ctx, Who{User: "ann", Thread: "zebraquartz trip"})
	n.must(err)
	settle(n.T, m)
	op, err := m.Consolidate(ctx, ConsolidateRequest{Policy: wholly})
	n.must(err)
	op, err = m.WaitOperation(ctx, op.ID)
	n.must(err)
	var got Consolidated
	n.must(json.Unmarshal(op.Result, &got))
	if got.Summaries == 0 {
		n.Fatalf("no summary was made: %s", op.Result)
	}
}

// name notes the ids of all that ann has.
func (n *nest) name() {
	n.Helper()
	for _, who := range []Who{canaryWho, canaryPair} {
		who.Thread = ""
		page, err := n.m.List(n.Context(), ListRequest{Who: who, Limit: 100, All: true})
		n.must(err)
		for i := range page.Items {
			n.ids = append(n.ids, page.Items[i].ID)
		}
	}
}

// erase erases and returns the receipt, verified.
func (n *nest) erase(r EraseRequest) lifecycle.Receipt {
	n.Helper()
	op, err := n.m.Erase(n.Context(), r)
	n.must(err)
	op, _ = erased(n.T, n.m, op.ID)
	if op.State != store.OperationDone {
		n.Fatalf("%s: %s", op.State, op.Note)
	}
	signed, err := n.m.Receipt(n.Context(), op.ID)
	n.must(err)
	receipt, err := n.m.VerifyReceipt(n.Context(), signed)
	n.must(err)
	if !receipt.Clean {
		n.Errorf("the receipt is not clean: %s", signed.Receipt)
	}
	return receipt
}

// Stored, derived, shown, softly forgotten, exported, erased, restarted and replayed: not a byte of a canary is in any file, be
// the store open or closed, on any path, in the log or in a point of the item store, and what is somebody else's stays. Before
// the erasure the same looking finds canaries in every place that keeps some. The routes are looked at in cmd/internal/server.
func TestCanariesAreErasedEverywhere(t *testing.T) {
	for _, backend := range []string{"sqlite", "qdrant"} {
		t.Run(backend, func(t *testing.T) {
			n := &nest{T: t, dir: t.TempDir(), log: &lockedBuffer{}}
			policy := &Policy{Rules: []PolicyRule{{Agent: "pair-*", Namespace: PairNamespace}}}
			n.opts = func() *Options {
				return &Options{Path: n.dir, Embedder: &bagEmbedder{}, Policy: policy, Logger: slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			}
			var items *qdrantstore.DB
			var collection string
			if backend == "qdrant" {
				addr, name := qdrantServer.Address(t), fmt.Sprintf("canary_%d", os.Getpid())
				qdranttest.DropAfter(t, addr, name)
				collection = name
				local := n.opts
				n.opts = func() *Options {
					o := local()
					var err error
					items, err = qdrantstore.Open(t.Context(), &qdrantstore.Options{URL: "qdrant://" + addr, Collection: name})
					n.must(err)
					ledger, err := sqlitestore.Open(t.Context(), n.dir, nil)
					n.must(err)
					o.Path, o.Store, o.Ledger = "", items, ledger
					return o
				}
			}
			end := func() {
				n.must(n.m.Close())
				if items != nil {
					n.must(items.Close())
					n.must(n.m.ledger.Close())
				}
			}
			n.reopen()
			n.fill()
			end() // so that there are canaries in the database and, after what comes next, in the log of writes
			n.reopen()
			n.consolidate()
			n.name()
			var export bytes.Buffer
			exported, err := n.m.Export(t.Context(), Who{}, &export)
			n.must(err)
			n.held(collection)
			receipt := n.erase(EraseRequest{User: "ann"})
			looked := map[string]int64{}
			for _, p := range receipt.Probes {
				looked[p.Place] = p.Looked
			}
			for _, place := range []string{"get", "list", "recall, lexical", "recall, dense", "context", "profile", "export", "files", "replies", "events", "threads", "quarantine", "blocks", "audit", "operations"} {
				if _, ok := looked[place]; !ok || looked[place] == 0 && place != "profile" && place != "export" {
					t.Errorf("%s was not probed: %+v", place, receipt.Probes)
				}
			}
			if receipt.Removed["items"] < 14 || receipt.Tombstones < 28 || receipt.Removed["replies"] < 3 || receipt.Removed["blocks"] < 2 || receipt.Removed["events"] < 4 {
				t.Errorf("%+v", receipt)
			}
			hasStore := slices.ContainsFunc(receipt.Residual, func(r lifecycle.Residual) bool { return r.Place == "item store" && r.Until != "" })
			if hasStore != (backend == "qdrant") {
				t.Errorf("%+v", receipt.Residual)
			}
			n.gone("after the erasure", collection)
			end()
			n.files("after the erasure and a stop")

			n.reopen()
			n.gone("after a restart", collection)
			for i, again := range n.reuse {
				if why, err := again(); err != nil || why != "erased" {
					t.Errorf("replay %d: %q, %v", i, why, err)
				}
			}
			res, err := n.m.Import(t.Context(), Who{}, bytes.NewReader(export.Bytes()), nil)
			if err != nil || res.Erased == 0 || res.Imported != 0 || res.FailedN != 0 || res.Erased+res.Same != exported {
				t.Errorf("import of the export: %+v of %d, %v", res, exported, err)
			}
			settle(t, n.m)
			n.gone("after a replay", collection)
			if backend == "qdrant" && !strings.Contains(n.points(collection), "Bob keeps bees") {
				t.Error("the scroll sees nothing")
			}
			if it, err := n.m.Get(t.Context(), Who{User: "bob"}, "bob-1"); err != nil || it.Content != "Bob keeps bees and says nothing else." {
				t.Errorf("somebody else's: %+v, %v", it, err)
			}
			end()
			n.files("after a replay and a stop")
		})
	}
}

var _ io.Writer = (*lockedBuffer)(nil)
