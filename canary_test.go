package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/encoding/protojson"

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

// seen is all that the endpoints of the façade tell, as one text.
func (n *nest) seen(log bool) string {
	n.Helper()
	ctx, m := n.Context(), n.m
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	put := func(v any, err error) {
		n.Helper()
		n.must(err)
		n.must(enc.Encode(v))
	}
	_, err := m.Export(ctx, Who{}, &out)
	n.must(err)
	for _, who := range []Who{{User: "ann"}, {User: "ann", Agent: "pair-1"}, {User: "bob"}} {
		page, err := m.List(ctx, ListRequest{Who: who, Limit: 100})
		put(page, err)
		res, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "name city tea code boat 石英", MinScore: ptr(0.0), Explain: true}})
		put(res.Hits, err)
		block, err := m.Context(ctx, ContextRequest{Who: who, Request: recall.Request{Query: "name city tea code boat 石英"}})
		put(block.Text, err)
		p, err := m.Profile(ctx, ProfileRequest{Who: who})
		put(p, err)
		diff, err := m.Diff(ctx, DiffRequest{Who: who, From: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)})
		put(diff, err)
	}
	q, err := m.Quarantined(ctx, QuarantineRequest{})
	put(q, err)
	ev, err := m.Events(ctx, EventsRequest{})
	put(ev, err)
	log1, err := m.Audit(ctx, AuditRequest{Limit: 1000})
	put(log1, err)
	ops, err := m.Operations(ctx, OperationsRequest{Limit: 1000})
	put(ops, err)
	if log {
		n.log.mu.Lock()
		defer n.log.mu.Unlock()
		out.Write(n.log.b.Bytes())
	}
	return out.String()
}

func (n *nest) none(where, text string) {
	n.Helper()
	for _, c := range canaryWords {
		if i := strings.Index(text, c); i >= 0 {
			n.Errorf("%s: %q is left: …%q…", where, c, text[max(0, i-80):min(len(text), i+80)])
		}
	}
}

// files looks into every byte that is on disk.
func (n *nest) files(when string) {
	n.Helper()
	n.must(filepath.WalkDir(n.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		n.none(when+", "+filepath.Base(path), string(b))
		return err
	}))
}

// points is every point of a collection, with payload and vectors, as the server's own client scrolls them.
func (n *nest) points(collection string) string {
	n.Helper()
	host, port, err := net.SplitHostPort(qdrantServer.Address(n.T))
	n.must(err)
	number, err := strconv.Atoi(port)
	n.must(err)
	client, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: number, SkipCompatibilityCheck: true})
	n.must(err)
	defer client.Close()
	var out strings.Builder
	req := &qdrant.ScrollPoints{CollectionName: collection, WithPayload: qdrant.NewWithPayload(true), WithVectors: qdrant.NewWithVectors(true), Limit: qdrant.PtrOf(uint32(1000))}
	points, err := client.Scroll(n.Context(), req)
	n.must(err)
	for _, p := range points {
		text, err := protojson.MarshalOptions{}.Marshal(p)
		n.must(err)
		out.Write(text)
	}
	return out.String()
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

// Stored, derived, shown, softly forgotten, exported, erased, restarted and replayed: not a byte of a canary is in any file, on
// any path, in the log or in a point of the item store, and what is somebody else's stays.
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
			n.consolidate()
			var export bytes.Buffer
			exported, err := n.m.Export(t.Context(), Who{}, &export)
			n.must(err)
			if text := n.seen(false); !strings.Contains(text, "zebraquartz") || !strings.Contains(text, "斑马石英") {
				t.Fatal("there is nothing to erase")
			}
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
			n.none("after the erasure", n.seen(true))
			end()
			n.files("after the erasure")

			n.reopen()
			n.none("after a restart", n.seen(true))
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
			n.none("after a replay", n.seen(true))
			if backend == "qdrant" {
				if points := n.points(collection); !strings.Contains(points, "Bob keeps bees") {
					t.Errorf("the scroll sees nothing: %s", points)
				} else {
					n.none("points", points)
				}
			}
			if it, err := n.m.Get(t.Context(), Who{User: "bob"}, "bob-1"); err != nil || it.Content != "Bob keeps bees and says nothing else." {
				t.Errorf("somebody else's: %+v, %v", it, err)
			}
			end()
			n.files("after a replay")
		})
	}
}

var _ io.Writer = (*lockedBuffer)(nil)
