package benchmarks

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"evoke"
	"evoke/recall"
)

const poison = "POISON"

// writeSet writes a small set of our own in which everything that must not reach an engine holds the poison.
func writeSet(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var items, queries strings.Builder
	items.WriteString(`{"ns":"a","id":"blank","text":" ","speaker":"Rui","time":"2024-05-01T09:00:00Z","type":"episodic"}` + "\n")
	for i, s := range []string{"I adopted a grey cat last spring.", "How lovely, what is the cat called?", "The cat is called Mina.", "We moved to Porto in June.", "The new flat has a small balcony."} {
		fmt.Fprintf(&items, `{"ns":"a","id":"m%d","text":%q,"speaker":"Rui","time":"2024-05-0%dT10:00:00Z","type":"episodic","meta":{"session":"s%d","seq":%d,"source":["%s"]}}`+"\n", i, s, i/3+1, i/3, i, poison)
	}
	for i, q := range []struct{ q, cat, rel string }{
		{"what is the name of the cat", poison + "-name", `["m2"]`}, {"where did they move", poison + "-move", `["m3","gone-` + poison + `"]`},
		{"what was never said", "adversarial", `["m1"]`}, {"nothing fits", "abstention", `[]`},
	} {
		fmt.Fprintf(&queries, `{"ns":"a","id":"%s-q%d","query":%q,"answer":"%s","category":%q,"time":null,"relevant":%s,"stale":["%s"]}`+"\n", poison, i, q.q, poison, q.cat, q.rel, poison)
	}
	f, err := os.Create(filepath.Join(dir, "tiny.items.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := io.WriteString(z, items.String()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(dir, "tiny.queries.jsonl"), []byte(queries.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// spy notes everything that reaches the engine.
type spy struct {
	weighed []evoke.RecallRequest // those with weights of their own
	Engine
	seen strings.Builder
}

func (s *spy) Import(ctx context.Context, w evoke.Who, in io.Reader, p func(int)) (evoke.ImportResult, error) {
	b, err := io.ReadAll(in)
	if err != nil {
		return evoke.ImportResult{}, err
	}
	fmt.Fprintf(&s.seen, "%+v %s\n", w, b)
	return s.Engine.Import(ctx, w, bytes.NewReader(b), p)
}

func (s *spy) Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error) {
	fmt.Fprintf(&s.seen, "%+v\n", r)
	if r.Weights != nil {
		s.weighed = append(s.weighed, r)
	}
	return s.Engine.Recall(ctx, r)
}

func TestLabelsNeverReachTheEngine(t *testing.T) {
	sets, err := Load(filepath.Dir(writeSet(t)), nil)
	if err != nil || len(sets) != 1 {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	clock := new(Clock)
	m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := &spy{Engine: m}
	r, err := RunSet(t.Context(), e, clock, &sets[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(e.seen.String(), poison) {
		t.Errorf("a label reached the engine: %s", e.seen.String())
	}
	if !strings.Contains(e.seen.String(), "grey cat") || !strings.Contains(e.seen.String(), "name of the cat") {
		t.Error("items and questions did not reach the engine")
	}
	if r.Refused != 1 {
		t.Errorf("%d items refused, want the blank one", r.Refused)
	}
	if r.N != 2 || len(r.Systems) != len(Systems()) {
		t.Fatalf("n = %d, systems %v", r.N, r.Systems)
	}
	for _, w := range e.weighed { // with classic nothing newer is lifted
		if *w.Weights != (recall.Weights{Semantic: 1}) || w.Profile != Classic {
			t.Errorf("recency is not off: %+v of profile %s", *w.Weights, w.Profile)
		}
	}
	if len(e.weighed) != r.N || r.Systems[Timeless].N != r.N {
		t.Errorf("%d questions of %d asked with recency off", len(e.weighed), r.N)
	}
	if d := r.Systems[Default]; d.Mean[Recall5] != 1 || d.Tokens == 0 {
		t.Errorf("a set this small is answered in full: %+v", d.Mean)
	}
	var out bytes.Buffer
	rep := &QualityReport{Machine: ThisMachine(t.Context(), clock.Now()), Sets: []*SetResult{r}}
	if err := rep.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Sets map[string]struct {
			N       int
			Systems map[string]map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Sets["tiny"].N != 2 || string(back.Sets["tiny"].Systems["default"]["recall@5"]) != "1" {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := rep.WriteMarkdown(&out); err != nil || !strings.Contains(out.String(), "n = 2") || !strings.Contains(out.String(), rep.Machine.Commit) {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestScore(t *testing.T) {
	session := map[string]string{"a": "1", "b": "1", "c": "2", "x": ""}
	rank := []string{"x", "a", "y", "z", "w", "v", "c"}
	got := Score(rank, []string{"a", "c", "d"}, session)
	ideal := 1 + 1/math.Log2(3) + 0.5
	want := map[Metric]float64{
		Recall5: 1. / 3, Recall10: 2. / 3, Recall20: 2. / 3, Hit5: 1, MRR: 0.5, AllEvidence10: 0, SessionAny5: 1,
		NDCG10: (1/math.Log2(3) + 1/math.Log2(8)) / ideal,
	}
	for m, v := range want {
		if math.Abs(got[m]-v) > 1e-12 {
			t.Errorf("%s: %v, want %v", m, got[m], v)
		}
	}
	if all := Score([]string{"c", "a"}, []string{"a", "c"}, nil); all[AllEvidence10] != 1 || all[NDCG10] != 1 || all[MRR] != 1 {
		t.Errorf("a perfect ranking: %v", all)
	}
	if none := Score(nil, []string{"a"}, nil); !reflect.DeepEqual(none[NDCG10], 0.0) || none[MRR] != 0 {
		t.Errorf("no ranking: %v", none)
	}
}

func TestBootstrapCoversTheMean(t *testing.T) {
	x := make([]float64, 400)
	for i := range x {
		x[i] = float64(i % 2)
	}
	ci := Bootstrap(x)
	if !(ci.Low < 0.5 && ci.High > 0.5) || ci.High-ci.Low < 0.08 || ci.High-ci.Low > 0.12 {
		t.Errorf("%+v: the interval of 400 fair coins is about ±0.049", ci)
	}
	if again := Bootstrap(x); again != ci {
		t.Error("the same sample gives another interval")
	}
}

func TestQuantiles(t *testing.T) {
	var ms []float64
	for i := 100; i >= 1; i-- {
		ms = append(ms, float64(i))
	}
	if q := quantiles(ms); q.P50 != 50 || q.P95 != 95 || q.P99 != 99 || q.N != 100 {
		t.Errorf("%+v", q)
	}
}

// lexicalOnly drops the remark that there is no model, which a comparison would take for a fault.
type lexicalOnly struct{ *evoke.Memory }

func (l lexicalOnly) Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error) {
	res, err := l.Memory.Recall(ctx, r)
	res.Degraded = nil
	return res, err
}
