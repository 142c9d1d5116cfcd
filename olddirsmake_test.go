package evoke

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// oldDirEnv has TestWriteAnOldDirectory write the directory of this schema into the folder that it names. That is done
// before a migration is added, by the program that does not have it yet.
const oldDirEnv = "EVOKE_TEST_OLD_DIR"

// oldMaker fills a data directory with a little of everything.
type oldMaker struct {
	*testing.T
	m     *Memory
	began time.Time
	want  oldWant
}

// now runs as time does, from ten seconds before TestOldDirectoriesOpen looks.
func (g *oldMaker) now() time.Time {
	return time.Date(2026, 11, 30, 11, 59, 50, 0, time.UTC).Add(time.Since(g.began))
}

func (g *oldMaker) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

func (g *oldMaker) ingest(thread, text string) {
	g.Helper()
	_, err := g.m.Ingest(g.Context(), IngestRequest{Who: Who{User: "ann", Thread: thread}, Messages: []message.Message{
		{Role: message.User, Content: text}, {Role: message.Assistant, Content: "Noted"},
	}})
	g.must(err)
	_, err = g.m.Flush(g.Context(), Who{User: "ann", Thread: thread})
	g.must(err)
	waitUntil(g.T, func() bool {
		n, err := g.m.ledger.CountEvents(g.Context(), "default")
		return err == nil && n[store.EventPending] == 0
	})
}

func (g *oldMaker) remember(m *Memory, r RememberRequest) string {
	g.Helper()
	res, err := m.Remember(g.Context(), r)
	g.must(err)
	g.must(m.Settle(g.Context()))
	return res.Item.ID
}

func (g *oldMaker) ended(op store.Operation, err error) store.Operation {
	g.Helper()
	g.must(err)
	op, err = g.m.WaitOperation(g.Context(), op.ID)
	g.must(err)
	g.want.Operations[op.ID] = op.State
	return op
}

func TestWriteAnOldDirectory(t *testing.T) {
	to := os.Getenv(oldDirEnv)
	if to == "" {
		t.Skip(oldDirEnv + " names no folder to write the directory of this schema into")
	}
	dir := filepath.Join(t.TempDir(), "data")
	g := &oldMaker{T: t, began: time.Now(), want: oldWant{Operations: map[string]store.OperationState{}, Items: map[string]string{}}}
	m, err := Open(t.Context(), &Options{Path: dir, Embedder: &bagEmbedder{revision: "old"}, Clock: g.now,
		Review: &ReviewPolicy{Mode: extract.ReviewCategory, Categories: []store.Category{store.Goal}}})
	g.must(err)
	defer m.Close()
	g.m = m
	g.memories()
	g.past()
	g.control()
	// An event whose extraction waits, last: flushing would begin it.
	_, err = m.Ingest(t.Context(), IngestRequest{Who: Who{User: "cyd", Thread: "late"}, Messages: []message.Message{{Role: message.User, Content: "I work as a nurse."}}})
	g.must(err)
	g.must(m.Settle(t.Context()))
	g.know()
	g.must(m.Close())

	ms, err := filepath.Glob("store/sqlitestore/migrations/*.sql")
	g.must(err)
	name := filepath.Join(to, fmt.Sprintf("schema%d", len(ms)))
	snapshot := filepath.Join(t.TempDir(), "evoke.db")
	g.must(sqlitestore.SnapshotDir(t.Context(), dir, snapshot))
	b, err := os.ReadFile(snapshot)
	g.must(err)
	pack(t, name+".db.gz", b)
	text, err := json.MarshalIndent(g.want, "", " ")
	g.must(err)
	pack(t, name+".json.gz", text)
}

// memories: conversations in two languages with a correction, versions, a duty, an item that expires, another tenant's.
func (g *oldMaker) memories() {
	g.ingest("trip", "I live in Oslo and I prefer window seats.")
	g.ingest("zh", "我住在北京，我喜欢绿茶。")
	g.ingest("trip", "I live in Rome now.")
	g.ingest("goal", "I want to learn to paint.")
	bot := Who{User: "ann", Agent: "bot"}
	pump := g.remember(g.m, RememberRequest{Who: bot, Content: "Restart the pump before the valve", Kind: store.Procedural})
	after, meta := "Restart the pump after the valve", store.Metadata{}
	g.must(json.Unmarshal([]byte(`{"n":3,"l":["a","b"]}`), &meta))
	_, err := g.m.Update(g.Context(), UpdateRequest{Who: bot, ID: pump, Content: &after, Metadata: meta})
	g.must(err)
	g.remember(g.m, RememberRequest{Who: Who{User: "ann"}, Content: "Parks in the north garage until spring", ExpiresAt: g.now().AddDate(1, 0, 0)})
	other, err := g.m.ForTenant("other")
	g.must(err)
	g.remember(other, RememberRequest{Who: Who{User: "bob"}, Content: "Bob plays chess", Category: store.Preference})
}

// past: what was erased, forgotten for good and softly, and put behind a summary.
func (g *oldMaker) past() {
	ctx, ann := g.Context(), Who{User: "ann"}
	g.remember(g.m, RememberRequest{Who: Who{User: "dan"}, Content: "Dan fixes violins"})
	receipt, err := g.m.Receipt(ctx, g.ended(g.m.Erase(ctx, EraseRequest{User: "dan"})).ID)
	g.must(err)
	g.want.Receipt = &receipt

	soft := g.remember(g.m, RememberRequest{Who: ann, Content: "Lost an umbrella on the tram"})
	_, err = g.m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{soft}, Soft: true})
	g.must(err)
	g.want.Forgotten = []string{soft}

	gone := g.remember(g.m, RememberRequest{Who: ann, Content: "Rents a red kayak"})
	g.want.Erased = lineOf(g.T, g.m, gone)
	_, err = g.m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{gone}})
	g.must(err)

	for _, walk := range []string{"along the canal on Monday", "around the lake on Tuesday", "through the park on Friday"} {
		g.remember(g.m, RememberRequest{Who: Who{User: "eve"}, Content: "Walked " + walk + " with Emil"})
	}
	age := 0
	g.ended(g.m.Consolidate(ctx, ConsolidateRequest{User: "eve", Policy: &ConsolidationPolicy{MinAgeHours: &age}}))
	g.must(g.m.Settle(ctx))
}

// control: a hold and a schedule.
func (g *oldMaker) control() {
	h, err := g.m.AddHold(g.Context(), LegalHold{User: "eve", Reason: "a dispute"})
	g.must(err)
	s, err := g.m.SetSchedule(g.Context(), Schedule{Name: retainKind, EveryHours: 24, Next: g.now().AddDate(0, 0, 1)})
	g.must(err)
	g.want.Holds, g.want.Schedules = []string{h.ID}, []string{s.Name}
}

// know writes down what is in the directory.
func (g *oldMaker) know() {
	for _, tenant := range []string{"default", "other"} {
		of, err := g.m.ForTenant(tenant)
		g.must(err)
		g.want.Items[tenant] = lineOf(g.T, of, "")
	}
	g.must(g.m.eachScope(g.Context(), func(sc store.Scope) error {
		st, err := g.m.store.Stats(g.Context(), sc, store.View{All: true})
		g.want.Total, g.want.Embedded = g.want.Total+st.Total, g.want.Embedded+st.Embedded
		return err
	}))
	var err error
	g.want.Events, err = g.m.ledger.CountEvents(g.Context(), "default")
	g.must(err)
	pending, err := g.m.Events(g.Context(), EventsRequest{State: store.EventPending})
	g.must(err)
	for _, e := range pending.Events {
		g.want.Pending = append(g.want.Pending, e.ID)
	}
	waiting, err := g.m.Quarantined(g.Context(), QuarantineRequest{})
	g.must(err)
	for _, e := range waiting.Entries {
		g.want.Waiting = append(g.want.Waiting, e.Operation.Content)
	}
}

// lineOf is the line of an export that has an id in it, or all lines of items.
func lineOf(t *testing.T, m *Memory, id string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, `{"evoke_export`) && strings.Contains(line, id) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func pack(t *testing.T, name string, b []byte) {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(name, packed.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", name, packed.Len())
}
