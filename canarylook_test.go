package evoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/encoding/protojson"

	"evoke/recall"
	"evoke/store"
)

// sight is where canaries are looked for, with all the text that is there.
type sight struct{ name, text string }

// seen is all that the endpoints of the façade tell, place by place. None of its questions holds a canary but in the ids of
// items, and what is asked for by an id that nobody has any more is not found.
func (n *nest) seen() []sight {
	n.Helper()
	ctx, m := n.Context(), n.m
	texts := map[string]*bytes.Buffer{}
	put := func(name string, v any, err error) {
		n.Helper()
		if errors.Is(err, store.ErrNotFound) {
			return
		}
		n.must(err)
		if texts[name] == nil {
			texts[name] = &bytes.Buffer{}
		}
		enc := json.NewEncoder(texts[name])
		enc.SetEscapeHTML(false)
		n.must(enc.Encode(v))
	}
	var export bytes.Buffer
	_, err := m.Export(ctx, Who{}, &export)
	put("export", export.String(), err)
	const question = "name city tea code boat 石英"
	began := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, who := range []Who{{User: "ann"}, {User: "ann", Agent: "pair-1"}, {User: "bob"}} {
		page, err := m.List(ctx, ListRequest{Who: who, Limit: 100, All: true})
		put("list", page, err)
		soft, err := m.Forgotten(ctx, ListRequest{Who: who, Limit: 100})
		put("forgotten", soft, err)
		recent, err := m.Recent(ctx, who, 100)
		put("recent", recent, err)
		res, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: question, MinScore: ptr(0.0), Explain: true}})
		put("recall", res.Hits, err)
		block, err := m.Context(ctx, ContextRequest{Who: who, Request: recall.Request{Query: question}})
		put("context", block.Text, err)
		p, err := m.Profile(ctx, ProfileRequest{Who: who})
		put("profile", p, err)
		diff, err := m.Diff(ctx, DiffRequest{Who: who, From: began})
		put("diff", diff, err)
		was, err := m.List(ctx, ListRequest{Who: who, Limit: 100, AsOf: m.now()})
		put("list, as of a time", was, err)
	}
	ann := Who{User: "ann"}
	for _, id := range n.ids {
		it, err := m.Get(ctx, ann, id)
		put("get", it, err)
		versions, err := m.History(ctx, ann, id)
		put("history", versions, err)
		changes, err := m.Changes(ctx, ann, id)
		put("changes", changes, err)
		sources, err := m.Sources(ctx, ann, id)
		put("sources", sources, err)
	}
	shown, err := m.ShownBlock(ctx, BlockRequest{Who: ann, Hash: n.block})
	put("blocks", shown, err)
	event, err := m.Event(ctx, n.event, 0)
	put("event", event, err)
	q, err := m.Quarantined(ctx, QuarantineRequest{})
	put("quarantine", q, err)
	ev, err := m.Events(ctx, EventsRequest{})
	put("events", ev, err)
	audit, err := m.Audit(ctx, AuditRequest{Limit: 1000})
	put("audit", audit, err)
	ops, err := m.Operations(ctx, OperationsRequest{Limit: 1000})
	put("operations", ops, err)
	stats, err := m.TenantStats(ctx, TenantStatsRequest{Users: 10})
	put("stats", stats, err)
	var places []sight
	for name, b := range texts {
		places = append(places, sight{name, b.String()})
	}
	return places
}

// keeping are the places each of which shows a canary while there is one. Operations and counts name none here.
var keeping = []string{
	"export", "list", "list, as of a time", "forgotten", "recent", "recall", "context", "profile", "diff", "get", "history", "changes", "sources", "blocks",
	"event", "events", "quarantine", "audit",
}

// onDisk is every byte that is on disk, file by file, whether the store is open or not.
func (n *nest) onDisk() (places []sight) {
	n.Helper()
	n.must(filepath.WalkDir(n.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		places = append(places, sight{filepath.Base(path), string(b)})
		return err
	}))
	return places
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

// logged is what the log tells so far.
func (n *nest) logged() string {
	n.log.mu.Lock()
	defer n.log.mu.Unlock()
	return n.log.b.String()
}

// hasCanary tells which canary a text holds, and what stands around it.
func hasCanary(text string) (canary, around string) {
	for _, c := range canaryWords {
		if i := strings.Index(text, c); i >= 0 {
			return c, text[max(0, i-80):min(len(text), i+80)]
		}
	}
	return "", ""
}

// held fails the test where the looking is blind: before the erasure every place that keeps canaries shows one. What must
// never hold any holds none then either.
func (n *nest) held(collection string) {
	n.Helper()
	found := map[string]bool{}
	for _, p := range n.seen() {
		c, _ := hasCanary(p.text)
		found[p.name] = c != ""
	}
	for _, name := range keeping {
		if !found[name] {
			n.Errorf("before the erasure: no canary is seen in %s", name)
		}
	}
	var with, files []string
	for _, p := range n.onDisk() {
		files = append(files, p.name)
		if c, _ := hasCanary(p.text); c != "" {
			with = append(with, p.name)
		}
	}
	// What is in the log of writes moves into the database whenever SQLite takes it there, on a busy machine before this look.
	if !slices.Contains(with, "evoke.db") || !slices.Contains(files, "evoke.db-wal") {
		n.Errorf("before the erasure: the files with canaries are %q", with)
	}
	if collection != "" {
		if c, _ := hasCanary(n.points(collection)); c == "" {
			n.Error("before the erasure: no canary is seen in the points")
		}
	}
	if log := n.logged(); !strings.Contains(log, `"msg"`) {
		n.Errorf("nothing is logged: %s", log)
	} else {
		n.none("the log before the erasure", log)
	}
}

// gone fails the test for each place with a canary in it, files while they are open among them.
func (n *nest) gone(when, collection string) {
	n.Helper()
	for _, p := range n.seen() {
		n.none(when+", "+p.name, p.text)
	}
	n.files(when + ", open")
	if collection != "" {
		n.none(when+", points", n.points(collection))
	}
	n.none(when+", log", n.logged())
}

func (n *nest) none(where, text string) {
	n.Helper()
	if c, around := hasCanary(text); c != "" {
		n.Errorf("%s: %q is left: …%q…", where, c, around)
	}
}

// files looks into every byte that is on disk.
func (n *nest) files(when string) {
	n.Helper()
	for _, p := range n.onDisk() {
		n.none(when+", "+p.name, p.text)
	}
}
