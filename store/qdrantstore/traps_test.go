package qdrantstore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"evoke/scoring"
	"evoke/store"
)

// The tests of this file hold the store against what was measured of the server, on the stand-in and on a real one. Each
// first shows the trap with a plain client, where that is certain enough, and then that the store does not fall into it.

// TestSilentlyEmpty: without a graph and above the scan threshold a dense query silently finds too little.
func TestSilentlyEmpty(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		must(t, db.SetModel(ctx, model, dim))
		r := rand.New(rand.NewPCG(1, 1))
		items := facts(3000)
		for i := range items {
			items[i].Category = store.Categories()[i%4]
		}
		es := embed(r, items)
		put(t, db, alice, items...)
		must(t, db.SetEmbeddings(ctx, alice, es))
		// As an operator might who follows the usual advice for many tenants: links by payload only, a low threshold, indexes early.
		must(t, db.client.UpdateCollection(ctx, &qdrant.UpdateCollection{CollectionName: db.set.Collection,
			OptimizersConfig: &qdrant.OptimizersConfigDiff{IndexingThreshold: qdrant.PtrOf(uint64(10))},
			VectorsConfig: qdrant.NewVectorsConfigDiffMap(map[string]*qdrant.VectorParamsDiff{denseVector: {
				HnswConfig: &qdrant.HnswConfigDiff{PayloadM: qdrant.PtrOf(uint64(16)), FullScanThreshold: qdrant.PtrOf(uint64(10))}}})}))
		waitGreen(t, db)
		q := unit(r)
		for i, c := range store.Categories()[:4] {
			var mine []store.Embedding
			for j := i; j < len(es); j += 4 {
				mine = append(mine, es[j])
			}
			want := nearest(mine, q, 50)
			raw, err := db.client.Query(ctx, &qdrant.QueryPoints{CollectionName: db.set.Collection, Filter: within(alice, qdrant.NewMatchKeyword(fieldCategory, string(c))),
				Query: qdrant.NewQueryMulti([][]float32{q}), Using: qdrant.PtrOf(denseVector), Limit: qdrant.PtrOf(uint64(50)), WithPayload: qdrant.NewWithPayloadInclude(fieldID)})
			must(t, err)
			t.Logf("%s: a plain query finds %d of 50, and no error", c, common(raw, want))
			found, err := db.Search(ctx, alice, store.Query{Filter: store.Filter{Categories: []store.Category{c}}, View: store.Current(now), Vector: q, Dense: 50})
			must(t, err)
			if got := ranked(found, store.DenseArm); !slices.Equal(got, want) {
				t.Errorf("%s: the dense arm brought %d, not the 50 nearest in their order", c, len(got))
			}
		}
	})
}

func common(hits []*qdrant.ScoredPoint, want []string) int {
	n := 0
	for _, h := range hits {
		if slices.Contains(want, itemID(h)) {
			n++
		}
	}
	return n
}

func waitGreen(t *testing.T, db *DB) {
	t.Helper()
	for range 600 {
		info, err := db.info(context.Background(), db.set.Collection)
		must(t, err)
		if info.GetStatus() == qdrant.CollectionStatus_Green && info.GetIndexedVectorsCount() > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the collection did not settle within a minute")
}

// TestCollectionShape: what the collection is made with.
func TestCollectionShape(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		must(t, db.SetModel(ctx, model, dim))
		info, err := db.info(ctx, db.set.Collection)
		must(t, err)
		p := info.GetConfig().GetParams()
		dense := p.GetVectorsConfig().GetParamsMap().GetMap()[denseVector]
		if dense.GetDistance() != qdrant.Distance_Dot || dense.GetMultivectorConfig().GetComparator() != qdrant.MultiVectorComparator_MaxSim || dense.GetHnswConfig().GetFullScanThreshold() < fullScanKB {
			t.Errorf("dense vectors: %v", dense)
		}
		if m := p.GetSparseVectorsConfig().GetMap()[lexicalVector].GetModifier(); m != qdrant.Modifier_None {
			t.Errorf("the sparse vector has the modifier %v: it would count all tenants", m)
		}
		for _, x := range indexes() {
			s := info.GetPayloadSchema()[x.field]
			if s == nil {
				t.Errorf("no index on %s", x.field)
				continue
			}
			if links := enablesLinks(s.GetParams()); links != (x.field == fieldScope) {
				t.Errorf("the index on %s adds links: %t", x.field, links)
			}
		}
	})
}

func enablesLinks(p *qdrant.PayloadIndexParams) bool {
	var enable *bool
	switch o := p.GetIndexParams().(type) {
	case *qdrant.PayloadIndexParams_KeywordIndexParams:
		enable = o.KeywordIndexParams.EnableHnsw
	case *qdrant.PayloadIndexParams_IntegerIndexParams:
		enable = o.IntegerIndexParams.EnableHnsw
	case *qdrant.PayloadIndexParams_FloatIndexParams:
		enable = o.FloatIndexParams.EnableHnsw
	case *qdrant.PayloadIndexParams_BoolIndexParams:
		enable = o.BoolIndexParams.EnableHnsw
	case *qdrant.PayloadIndexParams_DatetimeIndexParams:
		enable = o.DatetimeIndexParams.EnableHnsw
	}
	return enable == nil || *enable
}

// TestBatchesAreNotAtomic: the server refuses a batch with one bad point after it has applied what it likes of it. So nothing
// bad may ever be sent, and a change that broke off can be repeated.
func TestBatchesAreNotAtomic(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		must(t, db.SetModel(ctx, model, dim))
		r := rand.New(rand.NewPCG(2, 2))
		items := facts(10)
		var batch []*qdrant.PointStruct
		for i := range items {
			p, err := prepare(bob, items[i], store.Limits{})
			must(t, err)
			ps := p.point(db.bm25)
			v := unit(r)
			if i == 5 {
				v = v[1:]
			}
			ps.Vectors.GetVectors().Vectors[denseVector] = qdrant.NewVectorMulti([][]float32{v})
			batch = append(batch, ps)
		}
		_, err := db.client.Upsert(ctx, &qdrant.UpsertPoints{CollectionName: db.set.Collection, Wait: qdrant.PtrOf(true), Points: batch})
		if err == nil {
			t.Error("the server took a vector of another dimension")
		}
		n, err := db.count(ctx, bob)
		must(t, err)
		t.Logf("a refused batch of 10 left %d points", n)

		put(t, db, alice, items...)
		es := embed(r, items)
		es[9].Own[0] = es[9].Own[0][1:]
		wantErr(t, "another dimension", db.SetEmbeddings(ctx, alice, es), store.ErrInvalid)
		st, err := db.Stats(ctx, alice, store.Current(now))
		must(t, err)
		if st.Embedded != 0 {
			t.Errorf("a refused call left vectors of %d items", st.Embedded)
		}
		bad := item("bad", "text")
		bad.Importance = 2
		wantErr(t, "a bad item", db.Apply(ctx, bob, store.Change{Put: append(facts(3), bad), Delete: []string{items[0].ID}}), store.ErrInvalid)
		if m, err := db.count(ctx, bob); err != nil || m != n {
			t.Errorf("a refused change left %d points of %d: %v", m, n, err)
		}
	})
}

// TestNaNIsAccepted: by the server, where it then ranks first; not by the store.
func TestNaNIsAccepted(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		must(t, db.SetModel(ctx, model, dim))
		r := rand.New(rand.NewPCG(3, 3))
		items := facts(3)
		put(t, db, alice, items...)
		es := embed(r, items)
		nan := float32(math.NaN())
		es[2].Own = append(es[2].Own, slices.Repeat([]float32{nan}, dim))
		wantErr(t, "NaN", db.SetEmbeddings(ctx, alice, es), store.ErrInvalid)
		es[2].Own = es[2].Own[:1]
		must(t, db.SetEmbeddings(ctx, alice, es))
		q := slices.Repeat([]float32{0.1}, dim)
		q[0] = nan
		c, err := db.Search(ctx, alice, store.Query{View: store.Current(now), Vector: q, Dense: 3, Recent: 3})
		must(t, err)
		if c.Failed[store.DenseArm] == nil || len(c.Records) != 3 {
			t.Errorf("a query of NaN: failed %v, %d records", c.Failed, len(c.Records))
		}
		for _, rec := range c.Records {
			if rec.Embedded || math.IsNaN(rec.Dense) {
				t.Errorf("%s has a dense score of a query that is none", rec.Item.ID)
			}
		}
		_, err = db.client.UpdateVectors(ctx, &qdrant.UpdatePointVectors{CollectionName: db.set.Collection, Wait: qdrant.PtrOf(true), Points: []*qdrant.PointVectors{{
			Id: pointID(alice, items[0].ID), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{denseVector: qdrant.NewVectorMulti([][]float32{slices.Repeat([]float32{nan}, dim)})})}}})
		if err != nil {
			t.Errorf("the server has learnt to refuse NaN: %v", err)
		}
	})
}

// TestStatisticsOfTheScope: the query's weights are of the scope's counts, whatever other tenants store.
func TestStatisticsOfTheScope(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		rare, common := item("rare", "gondola"), item("common", "coffee")
		put(t, db, alice, rare, common, item("c2", "coffee again"), item("c3", "coffee once more"))
		q := store.Query{View: store.Current(now), Terms: scoring.QueryTerms("gondola coffee"), Lexical: 1}
		check := func(when string) {
			t.Helper()
			c, err := db.Search(ctx, alice, q)
			must(t, err)
			if got := ranked(c, store.LexicalArm); !slices.Equal(got, []string{"rare"}) {
				t.Errorf("%s: %v is first, want the item with the scope's rare word", when, got)
			}
			if c.Stats.Docs != 4 || c.Stats.DF[scoring.HashTerm("gondola")] != 1 {
				t.Errorf("%s: statistics %+v", when, c.Stats)
			}
		}
		check("alone")
		var flood []store.Item // in which the scope's rare word is the common one
		for i := range 300 {
			flood = append(flood, item(fmt.Sprint("f", i), "gondola"))
		}
		put(t, db, store.Scope{Tenant: "other", User: "x"}, flood...)
		check("beside a tenant of 300")
	})
}

// TestRepliesHaveNoCounts: a write whose condition is not met says "Completed" like any other, so what a write depends on is
// read first, and guarded.
func TestRepliesHaveNoCounts(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		mine := item("mine", "text")
		p, err := prepare(bob, item("planted", "bob's own"), store.Limits{})
		must(t, err)
		planted := p.point(db.bm25)
		planted.Id = pointID(alice, "mine") // as if two ids met
		res, err := db.client.Upsert(ctx, &qdrant.UpsertPoints{CollectionName: db.set.Collection, Wait: qdrant.PtrOf(true), Points: []*qdrant.PointStruct{planted}})
		must(t, err)
		must(t, completed("plant", res))
		wantErr(t, "an id of another scope", db.Apply(ctx, alice, store.Change{Put: []store.Item{mine}}), store.ErrConflict)
		// The guard holds even where nothing was read: the server says "Completed" and has done nothing.
		p, err = prepare(alice, mine, store.Limits{})
		must(t, err)
		var u updates
		u.put(within(alice), p.point(db.bm25), 1)
		must(t, db.update(ctx, "write", u.batches[0]))
		if n, err := db.count(ctx, alice); err != nil || n != 0 {
			t.Errorf("%d points of alice: %v", n, err)
		}
		must(t, db.Apply(ctx, alice, store.Change{Delete: []string{"mine"}}))
		if got, err := db.Get(ctx, alice, []string{"mine"}); err != nil || len(got) != 0 {
			t.Errorf("another scope's point was read: %v, %v", got, err)
		}
		if n, err := db.count(ctx, bob); err != nil || n != 1 {
			t.Errorf("bob's point is gone: %d, %v", n, err)
		}
	})
}

// TestDates: times at the edges of what can be stored are found; what the server would silently not index is refused.
func TestDates(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		first, last := item("first", "text"), item("last", "text")
		first.ValidFrom, last.ValidFrom = minTime, maxTime
		undated := item("undated", "text")
		undated.ValidFrom, undated.RecordedAt = time.Time{}, time.Time{}
		put(t, db, alice, first, last, undated)
		for name, c := range map[string]struct {
			r    store.TimeRange
			want []string
		}{
			"first microsecond":  {store.TimeRange{From: minTime, To: minTime.Add(time.Nanosecond)}, []string{"first"}},
			"up to the last":     {store.TimeRange{To: maxTime}, []string{"first"}},
			"beyond the last":    {store.TimeRange{To: maxTime.AddDate(9000, 0, 0)}, []string{"first", "last"}},
			"from the last":      {store.TimeRange{From: maxTime}, []string{"last"}},
			"after all":          {store.TimeRange{From: maxTime.Add(time.Nanosecond)}, nil},
			"before all":         {store.TimeRange{To: minTime}, nil},
			"far out":            {store.TimeRange{From: maxTime.AddDate(9000, 0, 0)}, nil},
			"all that are dated": {store.TimeRange{From: minTime.AddDate(-1, 0, 0)}, []string{"first", "last"}},
		} {
			q := store.ListQuery{Filter: store.Filter{Valid: c.r}, View: store.View{All: true}, Order: store.ByID}
			page, err := db.List(ctx, alice, q)
			must(t, err)
			if got := ids(page.Items); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		for _, o := range []struct {
			order store.Order
			want  []string
		}{{store.NewestEvent, []string{"last", "first", "undated"}}, {store.Oldest, []string{"undated", "first", "last"}}, {store.Newest, []string{"first", "last", "undated"}}} {
			for _, limit := range []int{1, 2, 3} {
				var got []string
				q := store.ListQuery{View: store.View{All: true}, Order: o.order, Limit: limit}
				for {
					page, err := db.List(ctx, alice, q)
					must(t, err)
					got = append(got, ids(page.Items)...)
					if q.Cursor = page.Next; q.Cursor == "" {
						break
					}
				}
				if !slices.Equal(got, o.want) {
					t.Errorf("order %d by pages of %d: %v, want %v", o.order, limit, got, o.want)
				}
			}
		}
		for name, spoil := range map[string]func(*store.Item){
			"closed":    func(it *store.Item) { it.ClosedAt = maxTime.AddDate(1, 0, 0) },
			"retracted": func(it *store.Item) { it.RetractedAt = maxTime.AddDate(10000, 0, 0) },
			"last used": func(it *store.Item) { it.LastUsed = maxTime.AddDate(1, 0, 0) },
		} {
			it := item("x", "text")
			spoil(&it)
			wantErr(t, name, db.Apply(ctx, alice, store.Change{Put: []store.Item{it}}), store.ErrInvalid)
		}
	})
}

// TestTies: equal values come in any order from the server, and in one order from the store.
func TestTies(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		put(t, db, alice, facts(200)...)
		var first [4][]string
		for run := range 5 {
			c, err := db.Search(ctx, alice, store.Query{View: store.Current(now), Recent: 30, Important: 30})
			must(t, err)
			got := [2][]string{ranked(c, store.RecentArm), ranked(c, store.ImportantArm)}
			for i, g := range got {
				if run == 0 {
					first[i] = g
				}
				if len(g) != 30 || !slices.Equal(g, first[i]) {
					t.Fatalf("run %d: arm %d brought %v, before %v", run, i, g, first[i])
				}
			}
		}
	})
}

// TestScopeIsInEveryRequest: every request for points of a scope names it at the root.
func TestScopeIsInEveryRequest(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	must(t, db.SetModel(ctx, model, dim))
	r := rand.New(rand.NewPCG(4, 4))
	items := facts(20)
	items[0].Turn = store.Turn{Session: "s", Position: 3}
	srv.Calls()
	put(t, db, alice, items...)
	must(t, db.SetEmbeddings(ctx, alice, embed(r, items)))
	_, err := db.Search(ctx, alice, store.Query{View: store.Current(now), Vector: unit(r), Terms: scoring.QueryTerms("tea number3"), Dense: 5, Lexical: 5, Recent: 5, Important: 5,
		Filter: store.Filter{Any: []store.Filter{{IDs: []string{"i00001"}}, {Kinds: []store.Kind{store.Semantic}}}}})
	must(t, err)
	_, err = db.List(ctx, alice, store.ListQuery{Limit: 3})
	must(t, err)
	_, err = db.Stats(ctx, alice, store.Current(now))
	must(t, err)
	put(t, db, alice, items...) // the same texts again
	must(t, db.Apply(ctx, alice, store.Change{Delete: []string{"i00001"}}))
	seen := 0
	for _, m := range srv.Requests() {
		for _, f := range filtersOf(t, m) {
			seen++
			if len(f.GetMust()) == 0 || f.GetMust()[0].GetField().GetKey() != fieldScope || f.GetMust()[0].GetField().GetMatch().GetKeyword() != alice.Key() {
				t.Errorf("%T without the scope at its root: %v", m, f)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d filters seen", seen)
	}
}

// filtersOf are the root filters of a request; reads by id have none, their answers are checked.
func filtersOf(t *testing.T, m proto.Message) []*qdrant.Filter {
	t.Helper()
	var out []*qdrant.Filter
	switch r := m.(type) {
	case *qdrant.CountPoints:
		out = append(out, r.GetFilter())
	case *qdrant.FacetCounts:
		out = append(out, r.GetFilter())
	case *qdrant.ScrollPoints:
		out = append(out, r.GetFilter())
	case *qdrant.QueryPoints:
		out = append(out, r.GetFilter())
	case *qdrant.QueryBatchPoints:
		for _, q := range r.GetQueryPoints() {
			out = append(out, q.GetFilter())
		}
	case *qdrant.UpdateBatchPoints:
		for _, o := range r.GetOperations() {
			switch op := o.GetOperation().(type) {
			case *qdrant.PointsUpdateOperation_Upsert:
				out = append(out, op.Upsert.GetUpdateFilter())
			case *qdrant.PointsUpdateOperation_UpdateVectors_:
				out = append(out, op.UpdateVectors.GetUpdateFilter())
			case *qdrant.PointsUpdateOperation_OverwritePayload_:
				out = append(out, op.OverwritePayload.GetPointsSelector().GetFilter())
			case *qdrant.PointsUpdateOperation_DeletePoints_:
				out = append(out, op.DeletePoints.GetPoints().GetFilter())
			default:
				t.Errorf("an operation %T", op)
			}
		}
	case *qdrant.GetPoints, *qdrant.GetCollectionInfoRequest:
	default:
		t.Errorf("a request %T", m)
	}
	return out
}
