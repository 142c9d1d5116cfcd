package evoke

import (
	"bytes"
	"evoke/store"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestExportImportKeepsEverything(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	for i := range 30 {
		w := Who{User: fmt.Sprintf("u%d", i%3), Thread: "t"}
		if _, err := m.Ingest(ctx, IngestRequest{Who: w, Messages: chat(fmt.Sprintf("note %d 你好", i), "ok")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Remember(ctx, RememberRequest{Who: Who{User: "u1", Agent: "bot"}, Content: "a fact", Metadata: store.Metadata{"n": store.Number(3), "l": store.List("a", "b")}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := m.Export(ctx, Who{}, &out)
	if err != nil || n != 61 {
		t.Fatalf("%d, %v", n, err)
	}
	to := open(t, nil)
	res, err := to.Import(ctx, Who{}, bytes.NewReader(out.Bytes()), nil)
	if err != nil || res.Imported != 61 || res.FailedN != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	var back bytes.Buffer
	if _, err := to.Export(ctx, Who{}, &back); err != nil || back.String() != out.String() {
		t.Fatalf("the export of the import differs: %v", err)
	}
	res, err = to.Import(ctx, Who{}, bytes.NewReader(out.Bytes()), nil)
	if err != nil || res.Imported != 0 || res.Same != 61 {
		t.Fatalf("again: %+v, %v", res, err)
	}
}

func TestImportReportsLinesAndTakesTheRest(t *testing.T) {
	m := open(t, nil)
	in := strings.Join([]string{
		`{"ns":"x","id":"D1:1","text":"Hello there","speaker":"Caroline","time":"2023-05-08T13:56:00Z","type":"episodic","meta":{"session":1,"seq":0,"note":null}}`,
		`not json`,
		`{"id":"D1:2","text":"Second","type":"episodic","meta":{"session":"1","seq":1,"deep":{"a":1}}}`,
		`{"id":"D1:3","text":"   "}`,
		`{"id":"D1:4","text":"x","type":"dream"}`,
		``,
		`{"id":"D1:1","text":"Other text"}`,
		`{"id":"D1:5","text":"` + strings.Repeat("x", maxImportLine) + `"}`,
		`{"id":"D1:6","content":"no time, no place","importance":2}`,
		`{"id":"D1:7","text":"last line without an end","time":null}`,
	}, "\n")
	res, err := m.Import(t.Context(), Who{User: "u"}, strings.NewReader(in), nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, f := range res.Failed {
		lines = append(lines, f.Line)
	}
	if res.Imported != 3 || res.FailedN != 6 || len(lines) != 6 {
		t.Fatalf("%+v", res)
	}
	it, err := m.Get(t.Context(), Who{User: "u"}, "D1:1")
	if err != nil || it.Turn.Session != "1" || it.Turn.Position != 0 || it.Turn.Speaker != "Caroline" || it.Content != "Hello there" {
		t.Fatalf("%+v, %v", it, err)
	}
	if it, _ := m.Get(t.Context(), Who{User: "u"}, "D1:7"); !it.ValidFrom.IsZero() {
		t.Errorf("no time stays no time: %v", it.ValidFrom)
	}
}

// A line that cannot be read is told by the field and what it holds, in the words of the format.
func TestImportNamesTheField(t *testing.T) {
	m := open(t, nil)
	for line, want := range map[string]string{
		`{"text":"a","turn":{"session":"s","position":1.5}}`:   "turn.position: must be a whole number",
		`{"text":"a","importance":"much"}`:                     "importance: must be a number",
		`{"text":1}`:                                           "text: must be a string",
		`{"text":"a","time":"99999-01-01T00:00:00Z"}`:          "time: must be an RFC 3339 time",
		`{"text":"a","valid_from":"yesterday"}`:                "time: must be an RFC 3339 time",
		`{"text":"a","valid_from":"0000-01-01T00:00:00Z"}`:     "valid_from: must be in the years 1 to 9999",
		`{"text":"a","uses":-1}`:                               "uses: must be zero or more",
		`[{"text":"a"}]`:                                       "line: must be one JSON object",
		`{"text":"a","provenance":{"turns":{"not":"a list"}}}`: "provenance.turns: must be a list",
	} {
		res, err := m.Import(t.Context(), Who{User: "u"}, strings.NewReader(line), nil)
		if err != nil || res.FailedN != 1 || !strings.HasPrefix(res.Failed[0].Error, want) {
			t.Errorf("%s: %+v, %v; want %s", line, res, err, want)
		}
	}
}

// An imported count of uses may be the greatest there is; feedback leaves it there.
func TestUsesDoNotOverflow(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u"}
	if _, err := m.Import(t.Context(), who, strings.NewReader(`{"id":"a","text":"worn","uses":9223372036854775807}`), nil); err != nil {
		t.Fatal(err)
	}
	n, err := m.Feedback(t.Context(), FeedbackRequest{Who: who, IDs: []string{"a"}})
	if it, _ := m.Get(t.Context(), who, "a"); n.Updated != 1 || err != nil || it.Uses != math.MaxInt {
		t.Errorf("%+v, %v, %d uses", n, err, it.Uses)
	}
}
