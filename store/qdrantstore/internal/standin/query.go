package standin

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"
)

// scored is a point with what it is ordered by.
type scored struct {
	pt    *point
	score float64
	order *qdrant.OrderValue
}

// matching are the points that a filter selects, in no order.
func (c *collection) matching(f *qdrant.Filter) []*point {
	var out []*point
	for _, pt := range c.points {
		if c.match(pt, f) {
			out = append(out, pt)
		}
	}
	return out
}

// Count counts exactly.
func (p *points) Count(_ context.Context, r *qdrant.CountPoints) (*qdrant.CountResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &qdrant.CountResponse{Result: &qdrant.CountResult{Count: uint64(len(c.matching(r.GetFilter())))}}, nil
}

// Facet counts the values of a field, each once a point. It wants an index that finds values.
func (p *points) Facet(_ context.Context, r *qdrant.FacetCounts) (*qdrant.FacetResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	if x := c.indexes[r.GetKey()]; x == nil || x.GetFieldType() != qdrant.FieldType_FieldTypeKeyword && !looksUp(x) {
		return nil, invalid("Bad request: No facet index for `%s`", r.GetKey())
	}
	hits := map[string]*qdrant.FacetHit{}
	for _, pt := range c.matching(r.GetFilter()) {
		for _, v := range values(pt.payload, r.GetKey()) {
			if hits[v.String()] == nil {
				hits[v.String()] = &qdrant.FacetHit{Value: facetValue(v)}
			}
			hits[v.String()].Count++
		}
	}
	out := &qdrant.FacetResponse{}
	for _, h := range hits {
		out.Hits = append(out.Hits, h)
	}
	slices.SortFunc(out.Hits, func(a, b *qdrant.FacetHit) int { return cmp.Compare(b.GetCount(), a.GetCount()) })
	out.Hits = out.Hits[:min(len(out.Hits), limit(r.Limit))]
	return out, nil
}

func looksUp(x *qdrant.CreateFieldIndexCollection) bool {
	p := x.GetFieldIndexParams().GetIntegerIndexParams()
	return x.GetFieldType() == qdrant.FieldType_FieldTypeInteger && (p == nil || p.Lookup == nil || p.GetLookup())
}

func facetValue(v *qdrant.Value) *qdrant.FacetValue {
	if i, ok := v.GetKind().(*qdrant.Value_IntegerValue); ok {
		return &qdrant.FacetValue{Variant: &qdrant.FacetValue_IntegerValue{IntegerValue: i.IntegerValue}}
	}
	return qdrant.NewFacetValue(v.GetStringValue())
}

// limit is 10 unless given.
func limit(n *uint64) int {
	if n == nil {
		return 10
	}
	return int(*n)
}

// Scroll pages by id, or reads the beginning of an order.
func (p *points) Scroll(_ context.Context, r *qdrant.ScrollPoints) (*qdrant.ScrollResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	n := 10
	if r.Limit != nil {
		n = int(*r.Limit)
	}
	if n == 0 {
		return nil, invalid("Validation error: limit must be at least 1")
	}
	hits, err := p.ordered(c, r.GetFilter(), r.GetOrderBy())
	if err != nil {
		return nil, err
	}
	if r.GetOffset() != nil {
		if r.GetOrderBy() != nil {
			return nil, invalid("Bad request: Cannot use an `offset` when using `order_by`")
		}
		hits = slices.DeleteFunc(hits, func(h scored) bool { return h.pt.id.GetUuid() < r.GetOffset().GetUuid() })
	}
	out := &qdrant.ScrollResponse{}
	if len(hits) > n {
		if r.GetOrderBy() == nil {
			out.NextPageOffset = hits[n].pt.id
		}
		hits = hits[:n]
	}
	for _, h := range hits {
		out.Result = append(out.Result, &qdrant.RetrievedPoint{Id: h.pt.id, Payload: h.pt.show(r.GetWithPayload()),
			Vectors: h.pt.showVectors(r.GetWithVectors()), OrderValue: h.order})
	}
	return out, nil
}

// ordered are the points in an order, or by id. An order wants a range index and leaves out points without the key; equal
// keys come in an order that changes from call to call.
func (p *points) ordered(c *collection, f *qdrant.Filter, by *qdrant.OrderBy) ([]scored, error) {
	var out []scored
	if by == nil {
		for _, pt := range c.matching(f) {
			out = append(out, scored{pt: pt})
		}
		slices.SortFunc(out, func(a, b scored) int { return strings.Compare(a.pt.id.GetUuid(), b.pt.id.GetUuid()) })
		return out, nil
	}
	x := c.indexes[by.GetKey()]
	if x == nil || !ranges(x) {
		return nil, invalid("Bad request: No range index for `order_by` key: `%s`", by.GetKey())
	}
	for _, pt := range c.matching(f) {
		for _, v := range values(pt.payload, by.GetKey()) {
			if o := orderValue(x, v); o != nil {
				out = append(out, scored{pt: pt, score: 1, order: o})
			}
		}
	}
	p.s.rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	slices.SortStableFunc(out, func(a, b scored) int {
		o := cmp.Or(cmp.Compare(a.order.GetInt(), b.order.GetInt()), cmp.Compare(a.order.GetFloat(), b.order.GetFloat()))
		if by.GetDirection() == qdrant.Direction_Desc {
			return -o
		}
		return o
	})
	return out, nil
}

func ranges(x *qdrant.CreateFieldIndexCollection) bool {
	switch x.GetFieldType() {
	case qdrant.FieldType_FieldTypeInteger:
		p := x.GetFieldIndexParams().GetIntegerIndexParams()
		return p == nil || p.Range == nil || p.GetRange()
	case qdrant.FieldType_FieldTypeFloat, qdrant.FieldType_FieldTypeDatetime:
		return true
	default:
		return false
	}
}

func orderValue(x *qdrant.CreateFieldIndexCollection, v *qdrant.Value) *qdrant.OrderValue {
	if x.GetFieldType() == qdrant.FieldType_FieldTypeDatetime {
		t, ok := datetime(v)
		if !ok {
			return nil
		}
		return qdrant.NewOrderValueInt(t.UnixMicro())
	}
	f, ok := number(v)
	switch {
	case !ok:
		return nil
	case x.GetFieldType() == qdrant.FieldType_FieldTypeInteger:
		return qdrant.NewOrderValueInt(v.GetIntegerValue())
	}
	return qdrant.NewOrderValueFloat(f)
}

// QueryBatch runs queries; one bad query fails all.
func (p *points) QueryBatch(_ context.Context, r *qdrant.QueryBatchPoints) (*qdrant.QueryBatchResponse, error) {
	out := &qdrant.QueryBatchResponse{}
	for _, q := range r.GetQueryPoints() {
		hits, err := p.query(q)
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, &qdrant.BatchResult{Result: hits})
	}
	return out, nil
}

// Query runs one query.
func (p *points) Query(_ context.Context, r *qdrant.QueryPoints) (*qdrant.QueryResponse, error) {
	hits, err := p.query(r)
	return &qdrant.QueryResponse{Result: hits}, err
}

func (p *points) query(r *qdrant.QueryPoints) ([]*qdrant.ScoredPoint, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	n := limit(r.Limit)
	if n == 0 {
		return nil, invalid("Validation error: limit must be at least 1")
	}
	var hits []scored
	if near := r.GetQuery().GetNearest(); near != nil {
		hits, err = p.nearest(c, r, near)
	} else {
		hits, err = p.ordered(c, r.GetFilter(), r.GetQuery().GetOrderBy())
	}
	if err != nil {
		return nil, err
	}
	out := make([]*qdrant.ScoredPoint, 0, min(n, len(hits)))
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, &qdrant.ScoredPoint{Id: h.pt.id, Payload: h.pt.show(r.GetWithPayload()), Score: float32(h.score), OrderValue: h.order})
	}
	return out, nil
}

func (p *points) nearest(c *collection, r *qdrant.QueryPoints, near *qdrant.VectorInput) ([]scored, error) {
	name := r.GetUsing()
	var hits []scored
	switch {
	case c.config.GetSparseVectorsConfig().GetMap()[name] != nil:
		hits = c.sparse(name, near.GetSparse(), r.GetFilter())
	case c.config.GetVectorsConfig().GetParamsMap().GetMap()[name] != nil:
		params := c.config.GetVectorsConfig().GetParamsMap().GetMap()[name]
		for _, row := range near.GetMultiDense().GetVectors() {
			if uint64(len(row.GetData())) != params.GetSize() {
				return nil, invalid("Wrong input: Vector dimension error: expected dim: %d, got %d", params.GetSize(), len(row.GetData()))
			}
		}
		hits = c.dense(name, params, near.GetMultiDense(), r)
	default:
		return nil, invalid("Wrong input: Not existing vector name error: %s", name)
	}
	p.s.rand.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
	slices.SortStableFunc(hits, func(a, b scored) int { // NaN ranks first
		if an, bn := math.IsNaN(a.score), math.IsNaN(b.score); an != bn {
			if an {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.score, a.score)
	})
	return hits, nil
}

// defaultScan is the size of vectors, in KB, up to which the server scans unless told otherwise.
const defaultScan = 10_000

// dense is MaxSim of dot products. With links by payload only (m = 0, payload_m > 0) a query that is neither exact nor small
// finds nothing, and says so nowhere; without any links the server scans.
func (c *collection) dense(name string, params *qdrant.VectorParams, query *qdrant.MultiDenseVector, r *qdrant.QueryPoints) []scored {
	var hits []scored
	numbers := 0
	for _, pt := range c.matching(r.GetFilter()) {
		v := pt.vectors[name]
		if v == nil {
			continue
		}
		total := 0.0
		for _, q := range query.GetVectors() {
			best := math.Inf(-1)
			for _, row := range v.GetMultiDense().GetVectors() {
				numbers += len(row.GetData())
				d := 0.0
				for i, x := range row.GetData() {
					d += float64(x) * float64(q.GetData()[i])
				}
				if math.IsNaN(d) || d > best {
					best = d
				}
			}
			total += best
		}
		hits = append(hits, scored{pt: pt, score: total})
	}
	h := params.GetHnswConfig()
	scan := uint64(defaultScan)
	if h != nil && h.FullScanThreshold != nil {
		scan = h.GetFullScanThreshold()
	}
	if h != nil && h.M != nil && h.GetM() == 0 && h.GetPayloadM() > 0 && !r.GetParams().GetExact() && uint64(numbers*4/1024) > scan {
		return nil
	}
	return hits
}

// sparse is the dot product of sparse vectors; with the IDF modifier over the whole collection, whatever the filter.
func (c *collection) sparse(name string, query *qdrant.SparseVector, f *qdrant.Filter) []scored {
	weights := map[uint32]float64{}
	for i, term := range query.GetIndices() {
		w := float64(query.GetValues()[i])
		if c.config.GetSparseVectorsConfig().GetMap()[name].GetModifier() == qdrant.Modifier_Idf {
			n, df := float64(len(c.points)), 0.0
			for _, pt := range c.points {
				if slices.Contains(pt.vectors[name].GetSparse().GetIndices(), term) {
					df++
				}
			}
			w *= math.Log1p((n - df + 0.5) / (df + 0.5))
		}
		weights[term] = w
	}
	var hits []scored
	for _, pt := range c.matching(f) {
		v := pt.vectors[name].GetSparse()
		score, shared := 0.0, false
		for i, term := range v.GetIndices() {
			if w, ok := weights[term]; ok {
				score += w * float64(v.GetValues()[i])
				shared = true
			}
		}
		if shared {
			hits = append(hits, scored{pt: pt, score: score})
		}
	}
	return hits
}
