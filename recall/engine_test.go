package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/embed"
	"evoke/store"
)

var (
	now   = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	alice = store.Scope{Tenant: "acme", User: "alice"}
	pair  = store.Scope{Tenant: "acme", User: "alice", Agent: "coach"}
)

// toy embeds a text by the words it knows: one axis each, none for the rest.
type toy struct {
	axes  []string
	err   error
	sleep time.Duration
	dim   int     // of the vectors it returns, when not len(axes)+1
	high  float64 // 1 when 0
}

func (e toy) Model() embed.Model {
	return embed.Model{Name: "toy", Dim: len(e.axes) + 1, Low: 0, High: max(e.high, 1)}
}

func (e toy) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	if e.sleep > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(e.sleep):
		}
	}
	if e.dim > 0 {
		return make([]float32, e.dim), nil
	}
	v := make([]float32, len(e.axes)+1)
	norm := 0.0
	for i, a := range e.axes {
		if strings.Contains(strings.ToLower(text), a) {
			v[i] = 1
			norm++
		}
	}
	if norm == 0 {
		v[len(e.axes)], norm = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v, nil
}

func (e toy) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i], _ = e.EmbedQuery(ctx, texts[i])
	}
	return out, nil
}

// turn is a dated chat turn; it stands at pos in session.
func turn(id, session string, pos int, speaker, text string, at time.Time) store.Item {
	it := item(id, speaker, text)
	it.Turn.Thread, it.Turn.Session, it.Turn.Position = "thread", session, pos
	it.ValidFrom = at
	return it
}

// conversation fills a scope with a short talk of our own writing.
func conversation() *fake {
	f := newFake()
	day := func(d int) time.Time { return time.Date(2026, 5, d, 9, 0, 0, 0, time.UTC) }
	for _, it := range []store.Item{
		turn("1", "s1", 0, "Mira", "Morning! How was your weekend?", day(4)),
		turn("2", "s1", 1, "Jonas", "Lovely, I adopted a greyhound from the shelter yesterday.", day(4)),
		turn("3", "s1", 2, "Mira", "What is it called?", day(4)),
		turn("4", "s1", 3, "Jonas", "Biscuit. She sleeps all day.", day(4)),
		turn("5", "s2", 0, "Mira", "I signed up for a pottery class in Valencia.", day(11)),
		turn("6", "s2", 1, "Jonas", "Nice! My marathon is on 7 June, so I run every morning.", day(11)),
		turn("7", "s2", 2, "Mira", "Do you still drink coffee before you run?", day(11)),
		turn("8", "s2", 3, "Jonas", "No, only green tea now.", day(11)),
	} {
		f.add(alice, it)
	}
	return f
}

func engine(t *testing.T, s store.Searcher, e embed.Embedder, o Options) *Engine {
	t.Helper()
	if o.Clock == nil {
		o.Clock = func() time.Time { return now }
	}
	eng, err := New(s, e, &o)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

func recall(t *testing.T, e *Engine, req Request) *Response {
	t.Helper()
	res, err := e.Recall(t.Context(), []store.Scope{alice}, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func ids(res *Response) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Item.ID)
	}
	return out
}

func ptr[T any](v T) *T { return &v }

func TestRecallFindsTheAnswer(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	for query, want := range map[string]string{
		"Which animal did Jonas adopt from the shelter?": "2",
		"What is the greyhound called?":                  "3",
		"Where is the pottery class?":                    "5",
		"When does Jonas run the marathon?":              "6",
		"What does Jonas drink, tea or coffee?":          "8",
		"What was said on 11 May 2026 about pottery?":    "5",
	} {
		res := recall(t, e, Request{Query: query, MinScore: ptr(0.0)})
		if got := ids(res); len(got) < 2 || !slices.Contains(got[:2], want) {
			t.Errorf("%s: %v, want %s among the first two", query, got, want)
		}
		if res.Embedder != "none" || res.PendingVectors != 8 || res.Candidates == 0 {
			t.Errorf("%+v", res)
		}
	}
}

// The answer need not repeat the words of the question that the turn before it asked.
func TestContextReachesTheAnswer(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	res := recall(t, e, Request{Query: "What is the dog of Jonas called?", Limit: 2, MinScore: ptr(0.0)})
	if got := ids(res); !slices.Contains(got, "4") {
		t.Errorf("got %v, want 4 (it follows the question)", got)
	}
}

func TestPartsSumAndExplain(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	for _, profile := range []string{"", "default", "classic"} {
		res := recall(t, e, Request{Query: "When did Jonas adopt the greyhound?", Limit: 20, MinScore: ptr(0.0), Profile: profile, Explain: true})
		for i, h := range res.Hits {
			p := h.Parts
			if sum := p.Semantic + p.Recency + p.Importance + p.Update; math.Abs(sum-h.Score) > 1e-6 || h.Score < 0 || h.Score > 1 {
				t.Errorf("parts %+v make %g, score %g", p, sum, h.Score)
			}
			x := h.Explain
			for name, part := range map[string][2]float64{"semantic": {x.Weights.Semantic, p.Semantic}, "recency": {x.Weights.Recency, p.Recency}, "importance": {x.Weights.Importance, p.Importance}} {
				if math.Abs(x.Raw[name]*part[0]-part[1]) > 1e-9 {
					t.Errorf("%s: %g × %g is not %g", name, x.Raw[name], part[0], part[1])
				}
			}
			if i > 0 && h.Score > res.Hits[i-1].Score {
				t.Error("not sorted by score")
			}
		}
		top := res.Hits[0]
		if top.Item.ID != "2" || top.Explain.Terms["speaker"] != 1 || top.Explain.Terms["when"] != 1 || top.Explain.Ranks[store.LexicalArm] == 0 || top.Explain.Terms["lexical_own"] <= 0 {
			t.Errorf("%s: %s, %+v", profile, top.Item.ID, top.Explain)
		}
	}
	if res := recall(t, e, Request{Query: "greyhound"}); res.Hits[0].Explain != nil {
		t.Error("explained without being asked")
	}
}

func TestEmptyQueryAnswersByRecencyAndImportance(t *testing.T) {
	f := newFake()
	for i, imp := range []float64{0.1, 0.9, 0.5} {
		it := item(fmt.Sprint(i), "", fmt.Sprint("memory number ", i))
		it.Importance = imp
		it.ValidFrom = now.AddDate(0, 0, -7*i)
		f.add(alice, it)
	}
	e := engine(t, f, toy{axes: []string{"x"}}, Options{})
	for _, q := range []string{"", " \n\t ", "\x00"} {
		res := recall(t, e, Request{Query: q, MinScore: ptr(1.0)})
		if got := ids(res); !slices.Equal(got, []string{"1", "0", "2"}) {
			t.Errorf("%q: %v", q, got)
		}
		for _, h := range res.Hits {
			if h.Parts.Semantic != 0 {
				t.Errorf("%+v", h.Parts)
			}
		}
	}
}

func TestMinScore(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	all := recall(t, e, Request{Query: "greyhound shelter", Limit: 20, MinScore: ptr(0.0)})
	cut := all.Hits[2].Score
	some := recall(t, e, Request{Query: "greyhound shelter", Limit: 20, MinScore: &cut})
	if len(some.Hits) < 3 || len(some.Hits) >= len(all.Hits) {
		t.Fatalf("%d of %d", len(some.Hits), len(all.Hits))
	}
	for _, h := range some.Hits {
		if h.Score < cut {
			t.Errorf("%g < %g", h.Score, cut)
		}
	}
	if res := recall(t, e, Request{Query: "quantum chromodynamics"}); len(res.Hits) != 0 || res.Hits == nil {
		t.Errorf("unrelated: %v", ids(res))
	}
}

func TestDenseArm(t *testing.T) {
	model := toy{axes: []string{"dog", "tea", "run"}}
	f := newFake()
	for i, text := range []string{"a dog", "tea time", "run fast", "dog and tea"} {
		v, _ := model.EmbedQuery(t.Context(), text)
		e := store.Embedding{Own: [][]float32{v}}
		f.add(alice, item(fmt.Sprint(i), "", strings.ToUpper(text[:1])+"xyz"+fmt.Sprint(i)), e.Rows()...)
	}
	e := engine(t, f, model, Options{})
	res := recall(t, e, Request{Query: "dog", Explain: true})
	if got := ids(res); !slices.Equal(got[:2], []string{"0", "3"}) {
		t.Fatalf("%v", got)
	}
	if x := res.Hits[0].Explain; math.Abs(x.Terms["cosine"]-1) > 1e-6 || math.Abs(x.Terms["dense"]-1) > 1e-6 || x.Ranks[store.DenseArm] != 1 {
		t.Errorf("%+v", x)
	}
	if res.Embedder != model.Model().ID() || res.Degraded != nil || res.PendingVectors != 0 {
		t.Errorf("%+v", res)
	}
}

func TestDegradedAnswers(t *testing.T) {
	axes := []string{"greyhound"}
	for name, tc := range map[string]struct {
		e    embed.Embedder
		o    Options
		fail map[store.Arm]error
		want map[string]string
	}{
		"no embedder": {nil, Options{}, nil, nil},
		"other model": {toy{axes: axes}, Options{NoDense: "the store was embedded by another model"}, nil, map[string]string{"dense": "the store was embedded by another model"}},
		"embedder down": {toy{axes: axes, err: fmt.Errorf("%w: secret host", store.ErrUnavailable)}, Options{}, nil,
			map[string]string{"dense": "the query could not be embedded (unavailable)"}},
		"embedder slow": {toy{axes: axes, sleep: time.Minute}, Options{EmbedTimeout: time.Millisecond}, nil,
			map[string]string{"dense": "the query could not be embedded (timed out)"}},
		"vector of another length": {toy{axes: axes, dim: 7}, Options{}, nil, map[string]string{"dense": "the query could not be embedded (unavailable)"}},
		"dense arm fails":          {toy{axes: axes}, Options{}, map[store.Arm]error{store.DenseArm: errors.New("secret")}, map[string]string{"dense": "failed"}},
		"recent arm fails":         {nil, Options{}, map[store.Arm]error{store.RecentArm: store.ErrCorrupt}, map[string]string{"recent": "stored data cannot be read"}},
	} {
		f := conversation()
		f.fail = tc.fail
		res := recall(t, engine(t, f, tc.e, tc.o), Request{Query: "greyhound from the shelter"})
		if len(res.Hits) == 0 || res.Hits[0].Item.ID != "2" || res.Embedder != "none" {
			t.Errorf("%s: %v, %s", name, ids(res), res.Embedder)
		}
		if fmt.Sprint(res.Degraded) != fmt.Sprint(tc.want) {
			t.Errorf("%s: degraded %v, want %v", name, res.Degraded, tc.want)
		}
	}
}

// An item whose vector is still to come is not drowned by those that have theirs.
func TestPendingItemIsFound(t *testing.T) {
	model := toy{axes: []string{"dog", "tea"}, high: 2} // so that an equal vector is half of what could be
	f := newFake()
	for i := range 30 {
		v, _ := model.EmbedQuery(t.Context(), []string{"dog", "tea", "other"}[i%3])
		f.add(alice, item(fmt.Sprint(i), "", fmt.Sprintf("filler text %d of no use", i)), (&store.Embedding{Own: [][]float32{v}}).Rows()...)
	}
	f.add(alice, item("new", "", "The vet said my dog needs a dental cleaning"))
	res := recall(t, engine(t, f, model, Options{}), Request{Query: "What did the vet say about the dental cleaning?"})
	if got := ids(res); got[0] != "new" || res.PendingVectors != 1 {
		t.Errorf("%v, %d pending", got, res.PendingVectors)
	}
}

func TestStoreFaults(t *testing.T) {
	f := conversation()
	f.err = fmt.Errorf("%w: disk", store.ErrUnavailable)
	e := engine(t, f, nil, Options{})
	if _, err := e.Recall(t.Context(), []store.Scope{alice}, Request{Query: "x"}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	f.err = nil
	f.broken = map[string]error{pair.Key(): store.ErrUnavailable}
	res, err := e.Recall(t.Context(), []store.Scope{pair, alice}, Request{Query: "greyhound"})
	if err != nil || len(res.Hits) == 0 || !strings.Contains(res.Degraded["store"], "unavailable") {
		t.Errorf("%+v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Recall(ctx, []store.Scope{alice}, Request{Query: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTwoScopesAreMergedBeforeTheCut(t *testing.T) {
	f := conversation()
	f.add(pair, item("goal", "user", "My goal: run the marathon under four hours"))
	f.add(pair, item("1", "user", "Please remind me to stretch after I run")) // the same id in another scope
	e := engine(t, f, nil, Options{})
	res, err := e.Recall(t.Context(), []store.Scope{pair, alice}, Request{Query: "running the marathon", MinScore: ptr(0.0)})
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]store.Scope{}
	for _, h := range res.Hits {
		scopes[h.Item.ID] = h.Scope
	}
	if scopes["goal"] != pair || scopes["6"] != alice || len(res.Hits) != 5 {
		t.Errorf("%v", scopes)
	}
}

func TestFiltersReachTheStore(t *testing.T) {
	f := conversation()
	e := engine(t, f, nil, Options{})
	at := now.AddDate(0, -1, 0)
	recall(t, e, Request{Query: "tea", Kinds: []store.Kind{store.Semantic}, Limit: 150, AsOf: at})
	q := f.asked[0]
	if !slices.Equal(q.Filter.Kinds, []store.Kind{store.Semantic}) || !cmp.Equal(q.View, store.AsOf(at)) || q.Lexical != 150 || q.Dense != 0 || q.Vector != nil {
		t.Errorf("%+v", q)
	}
	speaker := store.Filter{Speakers: []string{"Mira"}, Kinds: []store.Kind{store.Episodic}}
	if got := ids(recall(t, e, Request{Query: "coffee", Kinds: []store.Kind{store.Semantic}, Filter: speaker, MinScore: ptr(0.0)})); len(got) != 0 {
		t.Errorf("both must hold: %v", got)
	}
	if got := ids(recall(t, e, Request{Query: "coffee", Filter: speaker})); len(got) == 0 || got[0] != "7" {
		t.Errorf("%v", got)
	}
	if got := ids(recall(t, e, Request{Query: "coffee", Kinds: []store.Kind{store.Episodic}, Filter: store.Filter{Speakers: []string{"Mira"}}})); len(got) == 0 || got[0] != "7" {
		t.Errorf("%v", got)
	}
	if q := f.asked[len(f.asked)-1]; !cmp.Equal(q.View, store.Current(now)) || q.Recent != defaultFreshArm {
		t.Errorf("%+v", q)
	}
	off := engine(t, f, toy{axes: []string{"x"}}, Options{Dense: -1, Recent: -1, Important: -1})
	recall(t, off, Request{Query: "coffee"})
	if q := f.asked[len(f.asked)-1]; q.Dense != 0 || q.Vector != nil || q.Recent != 0 || q.Important != 0 || q.Lexical != defaultArm {
		t.Errorf("%+v", q)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	one := []store.Scope{alice}
	for field, tc := range map[string]struct {
		scopes []store.Scope
		req    Request
	}{
		"scopes":             {nil, Request{}},
		"scopes ":            {[]store.Scope{alice, alice}, Request{}},
		"limit":              {one, Request{Limit: -1}},
		"limit ":             {one, Request{Limit: 1001}},
		"min_score":          {one, Request{MinScore: ptr(1.5)}},
		"min_score ":         {one, Request{MinScore: ptr(math.NaN())}},
		"query":              {one, Request{Query: strings.Repeat("x", defaultQueryBytes+1)}},
		"profile":            {one, Request{Profile: "fancy"}},
		"weights.semantic":   {one, Request{Weights: &Weights{Semantic: math.NaN()}}},
		"weights.recency":    {one, Request{Weights: &Weights{Recency: -0.1}}},
		"weights.importance": {one, Request{Weights: &Weights{Importance: 2}}},
		"weights":            {one, Request{Weights: &Weights{Semantic: 0.6, Recency: 0.6}}},
		"kind":               {one, Request{Kinds: []store.Kind{"dream"}}},
		"kind ":              {one, Request{Filter: store.Filter{Kinds: []store.Kind{"dream"}}}},
	} {
		_, err := e.Recall(t.Context(), tc.scopes, tc.req)
		var fe *store.FieldError
		if !errors.As(err, &fe) || fe.Field != strings.TrimSpace(field) || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: got %v", field, err)
		}
	}
	other := store.Scope{Tenant: "other", User: "alice"}
	for _, scopes := range [][]store.Scope{{{User: "alice"}}, {alice, other}} {
		if _, err := e.Recall(t.Context(), scopes, Request{Query: "x"}); !errors.Is(err, store.ErrTenant) {
			t.Errorf("%v: got %v", scopes, err)
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	if _, err := New(nil, nil, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("no store: %v", err)
	}
	for name, o := range map[string]Options{
		"limit": {Limit: 1001}, "block limit": {BlockLimit: -1}, "query bytes": {QueryBytes: -1}, "arm": {Dense: maxArm + 1},
		"min score": {MinScore: ptr(-0.1)}, "duplicate": {Duplicate: math.NaN()}, "half-life": {EpisodicHalfLife: -1}, "timeout": {EmbedTimeout: -1},
	} {
		if _, err := New(newFake(), nil, &o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(newFake(), flat{}, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a model without ends: %v", err)
	}
}

// flat is an embedder whose model has no range of cosines.
type flat struct{ toy }

func (flat) Model() embed.Model { return embed.Model{Name: "flat", Dim: 1} }
