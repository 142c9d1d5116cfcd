package standin

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// points is the service for points. It runs under the server's lock.
type points struct {
	qdrant.UnimplementedPointsServer
	s *Server
}

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// idText is a point's id as text, in its stored form.
func idText(id *qdrant.PointId) (string, error) {
	switch {
	case id.GetUuid() != "":
		u, err := uuid.Parse(id.GetUuid())
		if err != nil {
			return "", invalid("Unable to parse UUID: %s", id.GetUuid())
		}
		return u.String(), nil
	case id != nil && id.GetPointIdOptions() != nil:
		return id.String(), nil
	}
	return "", invalid("Empty ID is not allowed")
}

// written answers an update: wait false is acknowledged whatever becomes of it.
func (p *points) written(c *collection, wait bool, f func() error) (*qdrant.UpdateResult, error) {
	c.op++
	op := c.op
	if !wait {
		_ = f() // never reported
		return &qdrant.UpdateResult{OperationId: &op, Status: qdrant.UpdateStatus_Acknowledged}, nil
	}
	if p.s.waitTimeout > 0 {
		p.s.waitTimeout--
		c.late = append(c.late, func() { _ = f() })
		return &qdrant.UpdateResult{OperationId: &op, Status: qdrant.UpdateStatus_WaitTimeout}, nil
	}
	if err := f(); err != nil {
		return nil, err
	}
	return &qdrant.UpdateResult{OperationId: &op, Status: qdrant.UpdateStatus_Completed}, nil
}

func (p *points) respond(name string, wait bool, f func(*collection) error) (*qdrant.PointsOperationResponse, error) {
	c, err := p.s.find(name)
	if err != nil {
		return nil, err
	}
	r, err := p.written(c, wait, func() error { return f(c) })
	return &qdrant.PointsOperationResponse{Result: r}, err
}

// Upsert inserts and replaces.
func (p *points) Upsert(_ context.Context, r *qdrant.UpsertPoints) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error {
		return p.upsert(c, r.GetPoints(), r.GetUpdateFilter(), r.GetUpdateMode())
	})
}

// upsert is not atomic: when a point is bad, a random part of the others is there all the same.
func (p *points) upsert(c *collection, list []*qdrant.PointStruct, guard *qdrant.Filter, mode qdrant.UpdateMode) error {
	if len(list) == 0 {
		return invalid("Empty update request")
	}
	var bad error
	for _, ps := range list {
		err := p.upsertOne(c, ps, guard, mode, func() bool { return bad == nil || p.s.rand.IntN(2) == 0 })
		if err != nil && bad == nil {
			bad = err
		}
	}
	return bad
}

func (p *points) upsertOne(c *collection, ps *qdrant.PointStruct, guard *qdrant.Filter, mode qdrant.UpdateMode, lucky func() bool) error {
	id, err := idText(ps.GetId())
	if err != nil {
		return err
	}
	vectors := ps.GetVectors().GetVectors().GetVectors()
	if ps.GetVectors() == nil {
		return invalid("Expected some vectors")
	}
	if err := c.checkVectors(vectors); err != nil {
		return err
	}
	old := c.points[id]
	switch {
	case !lucky(), old != nil && (mode == qdrant.UpdateMode_InsertOnly || !c.match(old, guard)), old == nil && mode == qdrant.UpdateMode_UpdateOnly:
		return nil
	}
	fresh := &point{id: qdrant.NewIDUUID(id), payload: map[string]*qdrant.Value{}, vectors: map[string]*qdrant.Vector{}}
	for k, v := range ps.GetPayload() {
		fresh.payload[k] = clone(v)
	}
	for k, v := range vectors {
		fresh.vectors[k] = clone(v)
	}
	c.points[id] = fresh
	return nil
}

func clone[M proto.Message](m M) M { return proto.Clone(m).(M) }

// checkVectors checks names and dimensions, and nothing else: NaN passes.
func (c *collection) checkVectors(vs map[string]*qdrant.Vector) error {
	dense := c.config.GetVectorsConfig().GetParamsMap().GetMap()
	sparse := c.config.GetSparseVectorsConfig().GetMap()
	for name, v := range vs {
		switch {
		case sparse[name] != nil:
			seen := map[uint32]bool{}
			for _, i := range v.GetSparse().GetIndices() {
				if seen[i] {
					return invalid("Validation error in sparse vector: indices must be unique")
				}
				seen[i] = true
			}
		case dense[name] != nil:
			for _, row := range v.GetMultiDense().GetVectors() {
				if uint64(len(row.GetData())) != dense[name].GetSize() {
					return invalid("Wrong input: Vector dimension error: expected dim: %d, got %d", dense[name].GetSize(), len(row.GetData()))
				}
			}
			if len(v.GetMultiDense().GetVectors()) == 0 {
				return invalid("Wrong input: Conversion between multi and regular vectors failed")
			}
		default:
			return invalid("Wrong input: Not existing vector name error: %s", name)
		}
	}
	return nil
}

// UpdateVectors replaces the named vectors.
func (p *points) UpdateVectors(_ context.Context, r *qdrant.UpdatePointVectors) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error { return c.updateVectors(r.GetPoints(), r.GetUpdateFilter()) })
}

func (c *collection) updateVectors(list []*qdrant.PointVectors, guard *qdrant.Filter) error {
	for _, pv := range list {
		id, err := idText(pv.GetId())
		if err != nil {
			return err
		}
		vs := pv.GetVectors().GetVectors().GetVectors()
		if err := c.checkVectors(vs); err != nil {
			return err
		}
		pt := c.points[id]
		if pt == nil {
			return status.Errorf(codes.NotFound, "Not found: No point with id %s found", id)
		}
		if !c.match(pt, guard) {
			continue
		}
		for name, v := range vs {
			pt.vectors[name] = clone(v)
		}
	}
	return nil
}

// selected are the points of a selector; ids that are not there are an error where strict.
func (c *collection) selected(sel *qdrant.PointsSelector, strict bool) ([]*point, error) {
	var out []*point
	switch {
	case sel.GetFilter() != nil:
		for _, pt := range c.points {
			if c.match(pt, sel.GetFilter()) {
				out = append(out, pt)
			}
		}
	case sel.GetPoints() != nil:
		for _, i := range sel.GetPoints().GetIds() {
			id, err := idText(i)
			if err != nil {
				return nil, err
			}
			if pt := c.points[id]; pt != nil {
				out = append(out, pt)
			} else if strict {
				return nil, status.Errorf(codes.NotFound, "Not found: No point with id %s found", id)
			}
		}
	default:
		return nil, invalid("PointsSelector is missing")
	}
	return out, nil
}

func (c *collection) remove(sel *qdrant.PointsSelector) error {
	pts, err := c.selected(sel, false)
	for _, pt := range pts {
		delete(c.points, pt.id.GetUuid())
	}
	return err
}

// Delete removes points; none at all is no error.
func (p *points) Delete(_ context.Context, r *qdrant.DeletePoints) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error { return c.remove(r.GetPoints()) })
}

func (c *collection) setPayload(payload map[string]*qdrant.Value, sel *qdrant.PointsSelector, overwrite bool) error {
	pts, err := c.selected(sel, true)
	if err != nil {
		return err
	}
	for _, pt := range pts {
		if overwrite {
			pt.payload = map[string]*qdrant.Value{}
		}
		for k, v := range payload {
			pt.payload[k] = clone(v)
		}
	}
	return nil
}

// SetPayload merges keys.
func (p *points) SetPayload(_ context.Context, r *qdrant.SetPayloadPoints) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error { return c.setPayload(r.GetPayload(), r.GetPointsSelector(), false) })
}

// OverwritePayload replaces it.
func (p *points) OverwritePayload(_ context.Context, r *qdrant.SetPayloadPoints) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error { return c.setPayload(r.GetPayload(), r.GetPointsSelector(), true) })
}

// UpdateBatch applies operations in order up to the first that fails; the earlier ones stay.
func (p *points) UpdateBatch(_ context.Context, r *qdrant.UpdateBatchPoints) (*qdrant.UpdateBatchResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	out := &qdrant.UpdateBatchResponse{}
	for _, op := range r.GetOperations() {
		f, err := p.operation(c, op)
		if err != nil {
			return nil, err
		}
		res, err := p.written(c, r.GetWait(), f)
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, res)
	}
	return out, nil
}

func (p *points) operation(c *collection, op *qdrant.PointsUpdateOperation) (func() error, error) {
	switch o := op.GetOperation().(type) {
	case *qdrant.PointsUpdateOperation_Upsert:
		return func() error {
			return p.upsert(c, o.Upsert.GetPoints(), o.Upsert.GetUpdateFilter(), o.Upsert.GetUpdateMode())
		}, nil
	case *qdrant.PointsUpdateOperation_UpdateVectors_:
		return func() error { return c.updateVectors(o.UpdateVectors.GetPoints(), o.UpdateVectors.GetUpdateFilter()) }, nil
	case *qdrant.PointsUpdateOperation_OverwritePayload_:
		return func() error {
			return c.setPayload(o.OverwritePayload.GetPayload(), o.OverwritePayload.GetPointsSelector(), true)
		}, nil
	case *qdrant.PointsUpdateOperation_DeletePoints_:
		return func() error { return c.remove(o.DeletePoints.GetPoints()) }, nil
	}
	return nil, status.Errorf(codes.Unimplemented, "the stand-in has no %T", op.GetOperation())
}

// CreateFieldIndex makes an index; the same again is fine.
func (p *points) CreateFieldIndex(_ context.Context, r *qdrant.CreateFieldIndexCollection) (*qdrant.PointsOperationResponse, error) {
	return p.respond(r.GetCollectionName(), r.GetWait(), func(c *collection) error {
		c.indexes[r.GetFieldName()] = r
		return nil
	})
}

// Get reads points by id. Unknown ones are left out, the order is not that of the request.
func (p *points) Get(_ context.Context, r *qdrant.GetPoints) (*qdrant.GetResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	out := &qdrant.GetResponse{}
	for _, i := range r.GetIds() {
		id, err := idText(i)
		if err != nil {
			return nil, err
		}
		if pt := c.points[id]; pt != nil && !slices.ContainsFunc(out.Result, func(o *qdrant.RetrievedPoint) bool { return o.GetId().GetUuid() == id }) {
			out.Result = append(out.Result, &qdrant.RetrievedPoint{Id: pt.id, Payload: pt.show(r.GetWithPayload()), Vectors: pt.showVectors(r.GetWithVectors())})
		}
	}
	slices.SortFunc(out.Result, func(a, b *qdrant.RetrievedPoint) int {
		return strings.Compare(a.GetId().GetUuid(), b.GetId().GetUuid())
	})
	return out, nil
}

// show is the part of the payload that was asked for: nothing unless asked.
func (pt *point) show(sel *qdrant.WithPayloadSelector) map[string]*qdrant.Value {
	if sel.GetEnable() {
		return pt.payload
	}
	out := map[string]*qdrant.Value{}
	for _, f := range sel.GetInclude().GetFields() {
		if v := pt.payload[f]; v != nil {
			out[f] = v
		}
	}
	return out
}

func (pt *point) showVectors(sel *qdrant.WithVectorsSelector) *qdrant.VectorsOutput {
	out := map[string]*qdrant.VectorOutput{}
	for name, v := range pt.vectors {
		if !sel.GetEnable() && !slices.Contains(sel.GetInclude().GetNames(), name) {
			continue
		}
		if m := v.GetMultiDense(); m != nil {
			out[name] = &qdrant.VectorOutput{Vector: &qdrant.VectorOutput_MultiDense{MultiDense: m}}
		} else {
			out[name] = &qdrant.VectorOutput{Vector: &qdrant.VectorOutput_Sparse{Sparse: v.GetSparse()}}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &qdrant.VectorsOutput{VectorsOptions: &qdrant.VectorsOutput_Vectors{Vectors: &qdrant.NamedVectorsOutput{Vectors: out}}}
}
