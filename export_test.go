package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"evoke/store"
)

// everySort fills a memory with an item of every sort that an export has to carry, and returns how many.
func everySort(t *testing.T, m *Memory) int {
	t.Helper()
	ctx, at := t.Context(), time.Date(2026, 3, 1, 9, 0, 0, 123000, time.UTC)
	ann := Who{User: "ann", Thread: "trip"}
	if _, err := m.Ingest(ctx, IngestRequest{Who: ann, Messages: chat("I live in Oslo. 你好 <&>", "Noted", "I live in Rome", "Noted")}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(ctx, ann); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second confirms
		if _, err := m.Remember(ctx, RememberRequest{Who: Who{User: "ann", Agent: "bot"}, Content: "a fact", Category: store.Goal,
			Metadata: store.Metadata{"n": store.Number(3.25), "l": store.List("a", "b"), "b": store.Bool(true), "s": store.String("\u2028 \\ \"")}}); err != nil {
			t.Fatal(err)
		}
	}
	sc := store.Scope{Tenant: m.Tenant(), User: "bob"}
	item := func(id string, f func(*store.Item)) store.Item {
		it := store.Item{ID: id, Kind: store.Semantic, Content: "Statement " + id, Importance: 0.25, Confidence: 0.75, RecordedAt: at,
			ValidFrom: at.Add(-time.Hour), Provenance: store.Provenance{Origin: "llm", Extractor: "llm/1", Turns: []string{"t1", "t2"}, Quote: "so",
				Subject: "home", Zone: "+09:00", Precision: "hour", Interim: true, Durability: "project", Evidence: 3, Corrections: 2, By: "op", Said: at}}
		f(&it)
		if err := it.Prepare(m.limits); err != nil {
			t.Fatal(err)
		}
		return it
	}
	w := store.Write{ID: newID(), Scope: sc}
	w.Put = []store.Item{
		item("closed", func(it *store.Item) { it.ValidTo, it.ClosedAt, it.SupersededBy = at, at.Add(time.Second), "next" }),
		item("next", func(it *store.Item) { it.Supersedes = "closed"; it.Provenance.Edited = true }),
		item("retracted", func(it *store.Item) { it.RetractedAt, it.Provenance.EndedBy = at.Add(time.Minute), "undo" }),
		item("forgotten", func(it *store.Item) {
			it.Aside = store.Aside{ForgottenAt: at.Add(time.Hour), PurgeAt: at.AddDate(1, 0, 0), ForgottenBy: "forget"}
		}),
		item("source", func(it *store.Item) { it.Aside = store.Aside{Summary: "sum", SummarizedAt: at.Add(time.Hour)} }),
		item("sum", func(it *store.Item) {
			it.Kind = store.Episodic
			it.Content = "Statement source, in sum"
			it.Provenance.Origin, it.Provenance.Turns = "summary", []string{"source"}
		}),
		item("kept", func(it *store.Item) { it.ExpiresAt = at.AddDate(0, 1, 0) }),
		item("howto", func(it *store.Item) {
			it.Kind, it.Uses, it.LastUsed = store.Procedural, 7, at
			it.Outcomes = store.Outcomes{Succeeded: 2, Failed: 1, Last: "succeeded", LastAt: at}
		}),
		item("section", func(it *store.Item) {
			it.ContentKey, it.Provenance.Origin = store.ProfileKey("work"), "profile"
		}),
	}
	if err := store.Commit(ctx, m.store, m.ledger, w); err != nil {
		t.Fatal(err)
	}
	n := 0
	scopes, err := m.exported(ctx, Who{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range scopes {
		if err := m.eachItem(ctx, sc, func(*store.Item) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// An export, its import into an empty store and the export of that are the same to the byte, whatever the items and on both
// backends; the command line and the server stand on the same calls.
func TestRoundTripIsIdentical(t *testing.T) {
	var first []byte
	for _, backend := range []string{"sqlite", "qdrant"} {
		t.Run(backend, func(t *testing.T) {
			o := &Options{}
			if backend == "qdrant" {
				o = inQdrant(t, "roundtrip")
			}
			from := open(t, nil)
			n := everySort(t, from)
			var out, back bytes.Buffer
			if _, err := from.Export(t.Context(), Who{}, &out); err != nil {
				t.Fatal(err)
			}
			first = out.Bytes()
			to := open(t, o)
			res, err := to.Import(t.Context(), Who{}, bytes.NewReader(first), nil)
			if err != nil || res.Imported != n || res.FailedN > 0 || len(res.UnknownFields) > 0 {
				t.Fatalf("%+v, %v; want %d", res, err, n)
			}
			if _, err := to.Export(t.Context(), Who{}, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(first), back.String()); diff != "" {
				t.Fatal(diff)
			}
			a, err := from.Checksum(t.Context(), Who{})
			b, err2 := to.Checksum(t.Context(), Who{})
			if err != nil || err2 != nil || a != b || a.Items != n {
				t.Errorf("%+v, %+v, %v, %v", a, b, err, err2)
			}
			if res, err := to.Import(t.Context(), Who{}, bytes.NewReader(first), nil); err != nil || res.Same != n || res.FailedN > 0 {
				t.Errorf("again: %+v, %v", res, err)
			}
			one, err := to.Checksum(t.Context(), Who{User: "bob"})
			if err != nil || one.Items != 9 || one == b {
				t.Errorf("of one memory: %+v, %v", one, err)
			}
		})
	}
}

// What is written is what docs/export.schema.json says, and it says of every field of an item what it is.
func TestExportFollowsItsSchema(t *testing.T) {
	text, err := os.ReadFile("docs/export.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("export.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("export.json")
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, nil)
	n := everySort(t, m)
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range bytes.Lines(out.Bytes()) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		lines++
	}
	if lines != n+2 {
		t.Errorf("%d lines of %d items", lines, n)
	}
	var s struct {
		Defs map[string]struct {
			Properties map[string]struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	item := s.Defs["item"].Properties
	for name, of := range map[string]reflect.Type{"": reflect.TypeFor[record](), "turn": reflect.TypeFor[store.Turn](), "provenance": reflect.TypeFor[store.Provenance](),
		"aside": reflect.TypeFor[store.Aside](), "outcomes": reflect.TypeFor[store.Outcomes]()} {
		for field := range fieldNames(of) {
			_, ok := item[field]
			if name != "" {
				_, ok = item[name].Properties[field]
			}
			if !ok {
				t.Errorf("the schema does not know %s.%s", name, field)
			}
		}
	}
}

// An export that was altered or cut off is told by line; the lines that are sound are imported.
func TestAlteredExportsAreTold(t *testing.T) {
	oneByOne(t)
	from := open(t, nil)
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		if _, err := from.Remember(t.Context(), RememberRequest{Who: Who{User: "u"}, ID: id, Content: "thing " + id + strings.Repeat("!", 3)}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := from.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	whole := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
	old := func(lines []string) string { // as the versions before wrote it
		var b strings.Builder
		for _, l := range lines[1 : len(lines)-1] {
			b.WriteString("{" + l[len(sumBefore)+sumDigits+len(sumAfter):])
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text     string
		imported int
		lines    []int // that fail
		says     string
	}{
		"whole":               {out.String(), 3, nil, ""},
		"with CRLF":           {strings.ReplaceAll(out.String(), "\n", "\r\n"), 3, nil, ""},
		"two, joined":         {out.String() + out.String(), 3, nil, ""},
		"of before":           {old(whole), 3, nil, ""},
		"one letter":          {strings.Replace(out.String(), "thing b", "thing B", 1), 2, []int{3}, "sum: must be that of the line"},
		"one without its sum": {whole[0] + strings.Replace(whole[1], whole[1][:len(sumBefore)+sumDigits+len(sumAfter)], "{", 1) + whole[2] + whole[3] + whole[4], 3, []int{5}, "another checksum"},
		"a line is gone":      {whole[0] + whole[1] + whole[3] + whole[4], 2, []int{4}, "tells of 3 items, got 2"},
		"a line is twice":     {whole[0] + whole[1] + whole[1] + whole[2] + whole[3] + whole[4], 3, []int{6}, "tells of 3 items, got 4"},
		"exchanged":           {whole[0] + whole[2] + whole[1] + whole[3] + whole[4], 3, []int{5}, "another checksum"},
		"cut between lines":   {whole[0] + whole[1] + whole[2], 2, []int{4}, "cut off (it began with 3 items), got 2"},
		"cut within a line":   {whole[0] + whole[1] + whole[2][:60], 1, []int{3, 3}, "cut off"},
		"cut, and another":    {whole[0] + whole[1] + out.String(), 3, []int{3}, "cut off"},
		"only its head":       {whole[0], 0, []int{2}, "cut off"},
		"only its end":        {whole[4], 0, []int{1}, "whose first one stands before it"},
		"empty":               {"", 0, nil, ""},
	} {
		m := open(t, nil)
		res, err := m.Import(t.Context(), Who{}, strings.NewReader(c.text), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		var lines []int
		told := ""
		for _, f := range res.Failed {
			lines = append(lines, f.Line)
			told += f.Error + "\n"
		}
		if res.Imported != c.imported || !slices.Equal(lines, c.lines) || !strings.Contains(told, c.says) {
			t.Errorf("%s: %+v; want %d imported, lines %v, %q", name, res, c.imported, c.lines, c.says)
		}
	}
	m := open(t, nil)
	newer := strings.Replace(out.String(), `"evoke_export":1`, `"evoke_export":2`, 1)
	if res, err := m.Import(t.Context(), Who{}, strings.NewReader(newer), nil); err == nil || res.Imported > 0 || !strings.Contains(err.Error(), "newer Evoke") {
		t.Errorf("of a newer version: %+v, %v", res, err)
	}
}

// An export and an import of many items hold few of them at a time: 800, with EVOKE_SOAK 100,000.
func TestExportAndImportAreBounded(t *testing.T) {
	oneByOne(t)
	n := 800
	if os.Getenv("EVOKE_SOAK") != "" {
		n = 100_000
	}
	long := strings.Repeat("lorem ipsum ", 80)
	fill := open(t, &Options{Path: t.TempDir(), Durability: "normal"})
	lines := &lineSource{n: n, line: func(i int) string {
		return fmt.Sprintf(`{"id":"%07d","text":"%d %s","type":"episodic"}`, i, i, long)
	}}
	before, highest := liveHeap(), uint64(0)
	res, err := fill.Import(t.Context(), Who{User: "u"}, lines, func(line int) {
		if line%(n/7) == n/9 { // within a batch
			highest = max(highest, liveHeap())
		}
	})
	if err != nil || res.Imported != n {
		t.Fatalf("%+v, %v", res, err)
	}
	highest = max(highest, before) - before
	exported := &byteCount{each: n * len(long) / 8}
	before = liveHeap()
	if k, err := fill.Export(t.Context(), Who{}, exported); err != nil || k != n {
		t.Fatal(k, err)
	}
	highestOut := max(exported.highest, before) - before
	t.Logf("soak: export and import | %d items, %d MB: the heap grew by at most %d MB importing, %d MB exporting", n, exported.n>>20, highest>>20, highestOut>>20)
	const bound = 64 << 20
	if highest > bound || highestOut > bound {
		t.Errorf("the heap grew by %d and %d bytes", highest, highestOut)
	}
}

// byteCount counts what is written and looks at the heap now and then.
type byteCount struct {
	n, each int
	highest uint64
}

func (c *byteCount) Write(b []byte) (int, error) {
	if was := c.n; (was+len(b))/c.each > was/c.each {
		c.highest = max(c.highest, liveHeap())
	}
	c.n += len(b)
	return len(b), nil
}

// lineSource makes lines as they are read.
type lineSource struct {
	n, i int
	line func(i int) string
	rest []byte
}

func (s *lineSource) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.i == s.n {
			return 0, io.EOF
		}
		s.rest = append([]byte(s.line(s.i)), '\n')
		s.i++
	}
	k := copy(b, s.rest)
	s.rest = s.rest[k:]
	return k, nil
}

// liveHeap is the memory that is in use.
func liveHeap() uint64 {
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}
