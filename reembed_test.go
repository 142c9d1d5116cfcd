package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

// fillForReembed stores items of two tenants and a section of a profile; it returns how many get vectors.
func fillForReembed(t *testing.T, m *Memory, n int) int {
	t.Helper()
	for i := range n {
		to := m
		if i%5 == 0 {
			var err error
			if to, err = m.ForTenant("other"); err != nil {
				t.Fatal(err)
			}
		}
		long := ""
		if i == 7 {
			long = strings.Repeat(" and a long passage about the harbour of Porto, its boats and its bridges.", 60) // several passages
		}
		if _, err := to.Remember(t.Context(), RememberRequest{Who: Who{User: fmt.Sprint("u", i%3)}, Content: fmt.Sprintf("Thing%d is of place%d%s", i, i, long)}); err != nil {
			t.Fatal(err)
		}
	}
	it := store.Item{ID: "section", Kind: store.Semantic, Content: "Works.", ContentKey: store.ProfileKey("work"), RecordedAt: m.now()}
	if err := it.Prepare(m.limits); err != nil {
		t.Fatal(err)
	}
	w := store.Write{ID: newID(), Scope: store.Scope{Tenant: m.Tenant(), User: "u1"}, Change: store.Change{Put: []store.Item{it}}}
	if err := store.Commit(t.Context(), m.store, m.ledger, w); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	return n
}

// embedded counts items and those with vectors, over all tenants.
func embedded(t *testing.T, m *Memory) (items, with int) {
	t.Helper()
	tenants, err := m.store.Tenants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range tenants {
		scopes, err := m.store.Scopes(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range scopes {
			st, err := m.store.Stats(t.Context(), sc, store.Current(m.now()))
			if err != nil {
				t.Fatal(err)
			}
			items, with = items+st.Total, with+st.Embedded
		}
	}
	return items, with
}

// With another model the store opens, is searched by words and says so, naming the mend; after Reembed, while which that is
// still so, it is searched by meaning again, every item of every tenant.
func TestReembed(t *testing.T) {
	dir := t.TempDir()
	m := open(t, &Options{Path: dir, Embedder: &bagEmbedder{revision: "a"}})
	n := fillForReembed(t, m, 20)
	if _, err := m.Reembed(t.Context(), false); !errors.Is(err, store.ErrConflict) {
		t.Errorf("with the store's own model: %v", err)
	}
	was := m.model.ID()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	gate := &gatedEmbedder{bagEmbedder: &bagEmbedder{revision: "b"}}
	m = open(t, &Options{Path: dir, Embedder: gate})
	look := func() *recall.Response {
		t.Helper()
		res, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: "u1"}, Request: recall.Request{Query: "Thing4 place4"}})
		if err != nil || len(res.Hits) == 0 || !strings.HasPrefix(res.Hits[0].Item.Content, "Thing4 ") {
			t.Fatalf("%+v, %v", res, err)
		}
		return &res.Response
	}
	if res := look(); !strings.Contains(res.Degraded["dense"], "evoke reembed") || res.Embedder != "none" {
		t.Errorf("before: %+v", res.Degraded)
	}
	if items, with := embedded(t, m); with != n || items != n {
		t.Errorf("opening with another model left %d of %d vectors", with, items)
	}
	gate.setFail(store.ErrUnavailable)
	if _, err := m.Reembed(t.Context(), false); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("with a model that is away: %v", err)
	}
	if have, err := m.store.Model(t.Context()); err != nil || have != was {
		t.Errorf("it dropped the vectors: %s, %v", have, err)
	}
	gate.setFail(nil)
	gate.closed.Store(true)
	op, err := m.Reembed(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.Reembed(t.Context(), false); err != nil || again.ID != op.ID {
		t.Errorf("asked for again: %s, %v, want %s", again.ID, err, op.ID)
	}
	waitUntil(t, func() bool { op, err := m.Operation(t.Context(), op.ID); return err == nil && op.Total == n })
	if res := look(); !strings.Contains(res.Degraded["dense"], "computed anew") {
		t.Errorf("meanwhile: %+v", res.Degraded)
	}
	gate.closed.Store(false)
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var res ReembedResult
	if err := json.Unmarshal(op.Result, &res); err != nil || res.Items != n || res.Refused != 0 || res.Was != was || res.Model != m.model.ID() || op.Done != n || op.Total != n {
		t.Errorf("%+v, %d of %d, %v", res, op.Done, op.Total, err)
	}
	if items, with := embedded(t, m); with != n || items != n {
		t.Errorf("%d of %d have vectors", with, items)
	}
	if res := look(); len(res.Degraded) > 0 || res.Embedder != m.model.ID() {
		t.Errorf("after: %+v by %s", res.Degraded, res.Embedder)
	}
	if st, err := m.Stats(t.Context(), Who{User: "u1"}); err != nil || st.Note != "" || st.Embedder != m.model.ID() {
		t.Errorf("%+v, %v", st, err)
	}
}

// gatedEmbedder embeds nothing but what asks whether it is there while it is closed.
type gatedEmbedder struct {
	*bagEmbedder
	closed atomic.Bool
}

func (g *gatedEmbedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if g.closed.Load() && len(texts[0]) > len("evoke") {
		return nil, store.ErrUnavailable
	}
	return g.bagEmbedder.EmbedPassages(ctx, texts)
}

func waitUntil(t *testing.T, f func() bool) {
	t.Helper()
	for range 2000 {
		if f() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not come to that")
}

// A re-embedding that nobody can go on with is left for who can; other work is done meanwhile.
func TestReembeddingWaitsForItsModel(t *testing.T) {
	dir := t.TempDir()
	m := open(t, &Options{Path: dir, Embedder: &bagEmbedder{revision: "a"}})
	fillForReembed(t, m, 5)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	stuck := &bagEmbedder{revision: "b"}
	m = open(t, &Options{Path: dir, Embedder: stuck})
	op, err := m.Reembed(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { have, err := m.store.Model(t.Context()); return err == nil && have == m.model.ID() })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, &Options{Path: dir}) // without a model
	if _, err := m.Reembed(t.Context(), false); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without a model: %v", err)
	}
	other, err := m.Erase(t.Context(), EraseRequest{User: "u2"})
	if err != nil {
		t.Fatal(err)
	}
	if other, err = m.WaitOperation(t.Context(), other.ID); err != nil || other.State != store.OperationDone {
		t.Errorf("an erasure meanwhile: %s %s, %v", other.State, other.Note, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, &Options{Path: dir, Embedder: &bagEmbedder{revision: "b"}})
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	if items, with := embedded(t, m); with != items {
		t.Errorf("%d of %d have vectors", with, items)
	}
}

const reembedChild = "EVOKE_TEST_REEMBED_CHILD"

// TestReembedChild is the victim of TestKilledWhileReembedding.
func TestReembedChild(t *testing.T) {
	env := func(name string) string { return os.Getenv(reembedChild + name) }
	if env("") == "" {
		t.Log("run by TestKilledWhileReembedding only")
		return
	}
	steps, _ := strconv.Atoi(env("_STEPS"))
	life := &mortal{}
	life.left.Store(int64(steps))
	m, err := Open(t.Context(), reembedOptions(t, env(""), env("_QDRANT"), env("_COLLECTION"), env("_REVISION"), life))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	op, err := m.Reembed(t.Context(), false)
	if errors.Is(err, store.ErrConflict) {
		say("done before\n")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	say("done\n")
}

// mortalSpace is a store whose change of the vector space is a step, too.
type mortalSpace struct {
	store.Store
	life *mortal
}

func (d mortalSpace) ReplaceModel(ctx context.Context, id string, dim int) error {
	d.life.step("before the space")
	defer d.life.step("after the space")
	return d.Store.ReplaceModel(ctx, id, dim)
}

type mortalLedger struct{ *mortalDB }

func (d mortalLedger) SaveOperation(ctx context.Context, op store.Operation) (int64, error) {
	defer d.life.step("after a checkpoint")
	return d.DB.SaveOperation(ctx, op)
}

func reembedOptions(t *testing.T, dir, qdrant, collection, revision string, life *mortal) *Options {
	t.Helper()
	db, err := sqlitestore.Open(t.Context(), dir, &sqlitestore.Options{Durability: sqlitestore.Normal})
	if err != nil {
		t.Fatal(err)
	}
	both := &mortalDB{db, life}
	o := &Options{Embedder: &bagEmbedder{revision: revision}, Store: mortalSpace{both, life}, Ledger: mortalLedger{both}}
	t.Cleanup(func() { db.Close() })
	if qdrant != "" {
		items, err := qdrantstore.Open(t.Context(), &qdrantstore.Options{URL: "qdrant://" + qdrant, Collection: collection, Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { items.Close() })
		o.Store = mortalSpace{&mortalItems{items, life}, life}
	}
	return o
}

// TestKilledWhileReembedding kills a process at a random step of a change of model, on SQLite and on Qdrant: every item is
// there throughout, and once it came to its end all have vectors of the new model, none of another.
func TestKilledWhileReembedding(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { killWhileReembedding(t, "", "") })
	t.Run("qdrant", func(t *testing.T) {
		addr, name := qdrantServer.Address(t), fmt.Sprintf("reembeds_%d", os.Getpid())
		qdranttest.DropAfter(t, addr, name)
		killWhileReembedding(t, addr, name)
	})
}

func killWhileReembedding(t *testing.T, qdrant, collection string) {
	kills := 3
	if testing.Short() || qdrant != "" {
		kills = 1
	}
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 120
	}
	dir, rnd := filepath.Join(t.TempDir(), "data"), rand.New(rand.NewPCG(6, 20261130))
	n := 60
	if qdrant != "" && kills == 1 {
		n = 12
	}
	first, err := Open(t.Context(), reembedOptions(t, dir, qdrant, collection, "0", nil))
	if err != nil {
		t.Fatal(err)
	}
	fillForReembed(t, first, n)
	if err := errors.Join(first.Close(), first.ledger.Close()); err != nil {
		t.Fatal(err)
	}
	died, ended, revision, where := 0, 0, 1, map[string]int{}
	for died < kills {
		steps := 1 + rnd.IntN(40)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReembedChild$", "-test.v")
		cmd.Env = append(os.Environ(), reembedChild+"="+dir, reembedChild+"_QDRANT="+qdrant, reembedChild+"_COLLECTION="+collection,
			fmt.Sprintf("%s_REVISION=%d", reembedChild, revision), fmt.Sprintf("%s_STEPS=%d", reembedChild, steps))
		out, err := cmd.CombinedOutput()
		switch text := string(out); {
		case strings.Contains(text, "dies "):
			_, at, _ := strings.Cut(text, "dies ")
			at, _, _ = strings.Cut(at, "\n")
			where[at]++
			died++
		case err == nil && strings.Contains(text, "done"):
			ended++
			revision++ // on to the next model
		default:
			t.Fatalf("%v\n%s", err, text)
		}
	}
	o := reembedOptions(t, dir, qdrant, collection, fmt.Sprint(revision), nil)
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if op, err := m.Reembed(t.Context(), false); err == nil {
		if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
			t.Fatal(op.State, op.Note, err)
		}
	} else if !errors.Is(err, store.ErrConflict) {
		t.Fatal(err)
	}
	items, with := embedded(t, m)
	have, err := m.store.Model(t.Context())
	if items != n || with != n || err != nil || have != m.model.ID() || m.noDense() != "" {
		t.Errorf("%d items, %d with vectors, of %d; model %s, %v; %s", items, with, n, have, err, m.noDense())
	}
	t.Logf("soak: kill -9 while re-embedding | %d kills %v, %d changes of model came to their end, %d items, all there with vectors of the last model", died, where, ended+1, items)
}
