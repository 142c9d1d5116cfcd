package benchmarks

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"evoke/embed"
	"evoke/scoring"
	"evoke/store"
)

// material makes any number of items out of a set's: texts recombined from two turns, vectors moved along the
// difference of two others. A difference of real vectors has their covariance, so cosines spread as those of the set
// do; random noise would make every query an easy one.
type material struct {
	model   embed.Model
	items   []Item
	own     [][]float32
	context [][]float32
	queries []string
	asked   map[string][]float32     // the queries' vectors
	pieces  map[string][]embed.Piece // … and those of their word pieces
}

const (
	materialItems   = 1200
	materialQueries = 300
	step            = 0.35 // how far a vector is moved along the difference of two others
	sessionTurns    = 20
)

func newMaterial(ctx context.Context, e embed.Embedder, s *Set, progress func(string)) (*material, error) {
	m := &material{model: e.Model(), asked: map[string][]float32{}, pieces: map[string][]embed.Piece{}}
	var texts []string
	for _, n := range s.Namespaces {
		for i, it := range n.Items {
			if len(m.items) == materialItems {
				break
			}
			m.items = append(m.items, it)
			prev := it
			if i > 0 {
				prev = n.Items[i-1]
			}
			texts = append(texts, scoring.OwnView(it.Speaker, it.Text, it.Time), scoring.ContextView(prev.Speaker, prev.Text, it.Speaker, it.Text))
		}
		for _, q := range n.Questions {
			if len(m.queries) < materialQueries {
				m.queries = append(m.queries, strings.TrimSpace(q.Text)) // as the engine asks the embedder
			}
		}
	}
	if len(m.items) < 10 || len(m.queries) == 0 {
		return nil, fmt.Errorf("set %s has too little to make items of", s.Name)
	}
	progress(fmt.Sprintf("embedding %d items and %d queries to make the material from", len(m.items), len(m.queries)))
	vs, err := e.EmbedPassages(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed material: %w", err)
	}
	for i := 0; i < len(vs); i += 2 {
		m.own, m.context = append(m.own, vs[i]), append(m.context, vs[i+1])
	}
	for _, q := range m.queries {
		if m.asked[q], m.pieces[q], err = embed.QueryPieces(ctx, e, q); err != nil {
			return nil, fmt.Errorf("embed material: %w", err)
		}
	}
	return m, nil
}

// make returns the i-th item. The same i always gives the same.
func (m *material) make(i int) (it store.Item, own, prev []float32) {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	a, b, c := r.IntN(len(m.items)), r.IntN(len(m.items)), r.IntN(len(m.items))
	at := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i/sessionTurns) * 24 * time.Hour)
	it = store.Item{
		ID: fmt.Sprintf("i%07d", i), Kind: store.Episodic, Content: recombine(m.items[a].Text, m.items[b].Text), Importance: float64(r.IntN(10)) / 10,
		Confidence: 1, ValidFrom: at, RecordedAt: at.Add(time.Duration(i) * time.Millisecond), Provenance: store.Provenance{Origin: "import"},
		Turn: store.Turn{Thread: "t", Session: fmt.Sprint("s", i/sessionTurns), Position: i % sessionTurns, Speaker: m.items[a].Speaker},
	}
	return it, move(m.own[a], m.own[b], m.own[c]), move(m.context[a], m.context[b], m.context[c])
}

// recombine joins the first half of one text's words to the second half of another's.
func recombine(a, b string) string {
	x, y := strings.Fields(a), strings.Fields(b)
	return strings.Join(append(slices.Clip(x[:(len(x)+1)/2]), y[len(y)/2:]...), " ")
}

// move is v + step·(a − b), of unit length.
func move(v, a, b []float32) []float32 {
	out := make([]float32, len(v))
	var n float64
	for i := range v {
		out[i] = v[i] + step*(a[i]-b[i])
		n += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(n))
	}
	return out
}

// SpectrumRow compares a quantile of the cosines between queries and items, or of the best cosine of a query.
type SpectrumRow struct {
	What string  `json:"what"`
	Set  float64 `json:"set"`
	Made float64 `json:"made"`
}

// spectrum shows that made vectors are spread as those of the set: cosines of the queries with as many made items.
func (m *material) spectrum() []SpectrumRow {
	made := make([][]float32, len(m.own))
	for i := range made {
		_, made[i], _ = m.make(i)
	}
	set, best := m.cosines(m.own)
	other, otherBest := m.cosines(made)
	var rows []SpectrumRow
	for _, q := range []float64{0.01, 0.25, 0.5, 0.75, 0.99, 0.999} {
		rows = append(rows, SpectrumRow{fmt.Sprintf("quantile %g of all cosines", q), at(set, q), at(other, q)})
	}
	return append(rows, SpectrumRow{"median of the best cosine of a query", at(best, 0.5), at(otherBest, 0.5)})
}

func (m *material) cosines(rows [][]float32) (all, best []float64) {
	for _, v := range m.asked {
		top := -1.0
		for _, r := range rows {
			c := float64(scoring.Dot(v, r))
			all, top = append(all, c), math.Max(top, c)
		}
		best = append(best, top)
	}
	slices.Sort(all)
	slices.Sort(best)
	return all, best
}

func at(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1))] }

// given is an embedder that knows the vectors of the queries.
func (m *material) given() embed.Embedder { return known{m} }

type known struct{ m *material }

func (k known) Model() embed.Model { return k.m.model }

func (k known) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if v := k.m.asked[text]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("%w: not one of the queries", embed.ErrUnavailable)
}

func (k known) EmbedQueryPieces(ctx context.Context, text string) ([]float32, []embed.Piece, error) {
	v, err := k.EmbedQuery(ctx, text)
	return v, k.m.pieces[text], err
}

func (k known) EmbedPassages(context.Context, []string) ([][]float32, error) {
	return nil, fmt.Errorf("%w: vectors are given", embed.ErrUnavailable)
}
