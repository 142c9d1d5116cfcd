package qdrantstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// schemaVersion is the layout of points. Open copies a collection of an older one.
const schemaVersion = 3 // 2: what holds for one task, what was distilled, and subjects; 3: what is aside, and until when items are kept

// Names of the vectors.
const (
	denseVector   = "dense"
	lexicalVector = "lexical"
)

// Keys of the collection's metadata.
const (
	metaSchema   = "evoke_schema"
	metaAnalyzer = "evoke_analyzer"
	metaModel    = "evoke_model"
	metaDim      = "evoke_dim"
	metaCopyOf   = "evoke_copy_of" // the collection that this one replaces
)

// Fields of a point's payload. Those with an index are in indexes.
const (
	fieldScope      = "scope"
	fieldTenant     = "tenant"
	fieldID         = "id"
	fieldItem       = "item" // the whole item, JSON
	fieldDoc        = "doc"  // its analysed text, base64
	fieldTextKey    = "text_key"
	fieldKind       = "kind"
	fieldCategory   = "category"
	fieldThread     = "thread"
	fieldSession    = "session"
	fieldRole       = "role"
	fieldSpeaker    = "speaker"
	fieldContentKey = "content_key"
	fieldPosition   = "position" // of items in a session
	fieldValidFrom  = "valid_from"
	fieldValidTo    = "valid_to"
	fieldRecordedAt = "recorded_at"
	fieldClosedAt   = "closed_at"
	fieldOver       = "over_at" // store.Item.Over
	fieldRetracted  = "retracted_at"
	fieldExpires    = "expires_at"
	fieldSummarized = "summarized_at" // of what a summary stands for
	fieldForgotten  = "forgotten_at"  // of what is softly forgotten
	fieldMoment     = "moment"        // valid_from or, where unknown, recorded_at
	fieldImportance = "importance"
	fieldRank       = "rank"    // importance and moment in one number: what the important arm orders by
	fieldTie        = "tie"     // a hash of the id, to break ties
	fieldCurrent    = "current" // what statistics count: store.Item.Counted
	fieldTask       = "task"    // it holds for the task of its thread only
	fieldDistilled  = "distilled"
	fieldSubject    = "subject"
	fieldTerms      = "terms"
	fieldMeta       = "meta" // metadata entries
	fieldNums       = "nums" // metadata numbers: key and value
	fieldNumKey     = "key"
	fieldNumValue   = "value"
	fieldSize       = "size"    // bytes of content
	fieldChunks     = "chunks"  // of the analysed text, at least one
	fieldPlace      = "place"   // a hash of session and position
	fieldIDHead     = "id_head" // the first bytes of the id as a number
)

// index describes the index of a field.
type index struct {
	field  string
	kind   qdrant.FieldType
	params *qdrant.PayloadIndexParams
}

// indexes are all fields that conditions, orders and facets use. Only the scope's may add links to a graph, were there one.
func indexes() []index {
	no, yes := qdrant.PtrOf(false), qdrant.PtrOf(true)
	keyword := func(name string, tenant bool) index {
		p := &qdrant.KeywordIndexParams{EnableHnsw: no}
		if tenant {
			p = &qdrant.KeywordIndexParams{IsTenant: yes}
		}
		return index{name, qdrant.FieldType_FieldTypeKeyword, qdrant.NewPayloadIndexParamsKeyword(p)}
	}
	integer := func(name string, lookup, ranges *bool) index {
		return index{name, qdrant.FieldType_FieldTypeInteger, qdrant.NewPayloadIndexParamsInt(&qdrant.IntegerIndexParams{Lookup: lookup, Range: ranges, EnableHnsw: no})}
	}
	float := func(name string) index {
		return index{name, qdrant.FieldType_FieldTypeFloat, qdrant.NewPayloadIndexParamsFloat(&qdrant.FloatIndexParams{EnableHnsw: no})}
	}
	list := []index{keyword(fieldScope, true)}
	for _, f := range []string{fieldTenant, fieldTextKey, fieldKind, fieldCategory, fieldThread, fieldSession, fieldRole, fieldSpeaker, fieldContentKey,
		fieldSubject, fieldMeta, fieldNums + "[]." + fieldNumKey} {
		list = append(list, keyword(f, false))
	}
	for _, f := range []string{fieldValidFrom, fieldValidTo, fieldRecordedAt, fieldClosedAt, fieldOver, fieldRetracted, fieldExpires, fieldSummarized, fieldForgotten, fieldMoment} {
		list = append(list, index{f, qdrant.FieldType_FieldTypeDatetime, qdrant.NewPayloadIndexParamsDatetime(&qdrant.DatetimeIndexParams{EnableHnsw: no})})
	}
	return append(list,
		float(fieldImportance), float(fieldNums+"[]."+fieldNumValue),
		index{fieldCurrent, qdrant.FieldType_FieldTypeBool, qdrant.NewPayloadIndexParamsBool(&qdrant.BoolIndexParams{EnableHnsw: no})},
		index{fieldTask, qdrant.FieldType_FieldTypeBool, qdrant.NewPayloadIndexParamsBool(&qdrant.BoolIndexParams{EnableHnsw: no})},
		index{fieldDistilled, qdrant.FieldType_FieldTypeBool, qdrant.NewPayloadIndexParamsBool(&qdrant.BoolIndexParams{EnableHnsw: no})},
		integer(fieldTerms, yes, no), integer(fieldPlace, yes, no), integer(fieldSize, yes, no), integer(fieldChunks, yes, no),
		integer(fieldPosition, no, yes), integer(fieldTie, no, yes), integer(fieldIDHead, yes, yes), integer(fieldRank, yes, yes))
}

// space is the vector space of a collection; the zero space has no vectors.
type space struct {
	model string
	dim   int
}

// make creates a collection with its indexes. copyOf names the collection that it is to replace.
func (db *DB) makeCollection(ctx context.Context, name string, sp space, copyOf string) error {
	req := &qdrant.CreateCollection{
		CollectionName: name,
		SparseVectorsConfig: qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{
			lexicalVector: {}, // no IDF modifier: it would count all tenants
		}),
		OnDiskPayload: qdrant.PtrOf(true),
		Metadata: map[string]*qdrant.Value{
			metaSchema: qdrant.NewValueInt(schemaVersion), metaAnalyzer: qdrant.NewValueInt(scoring.AnalyzerVersion),
			metaModel: qdrant.NewValueString(sp.model), metaDim: qdrant.NewValueInt(int64(sp.dim)), metaCopyOf: qdrant.NewValueString(copyOf),
		},
	}
	if sp.dim > 0 {
		req.VectorsConfig = qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{denseVector: denseParams(sp.dim)})
	}
	if err := db.once(ctx, "create collection", func(ctx context.Context) error { return db.client.CreateCollection(ctx, req) }); err != nil {
		return err
	}
	return db.makeIndexes(ctx, name)
}

// denseParams: several rows an item, the best of which counts. Dense queries are exact, so no links of a graph are made at all;
// should a query ever not be exact, or somebody turn on links by payload, the threshold keeps it a scan: with links by
// payload alone (m = 0) a graph search silently finds too little.
func denseParams(dim int) *qdrant.VectorParams {
	return &qdrant.VectorParams{
		Size: uint64(dim), Distance: qdrant.Distance_Dot,
		MultivectorConfig: &qdrant.MultiVectorConfig{Comparator: qdrant.MultiVectorComparator_MaxSim},
		HnswConfig: &qdrant.HnswConfigDiff{M: qdrant.PtrOf(uint64(0)), PayloadM: qdrant.PtrOf(uint64(0)),
			FullScanThreshold: qdrant.PtrOf(uint64(fullScanKB))},
	}
}

// fullScanKB is the size of vectors, in KB, up to which the server scans.
const fullScanKB = 1_000_000

// makeIndexes makes all indexes, some at a time, and reads back what the server has.
func (db *DB) makeIndexes(ctx context.Context, name string) error {
	list := indexes()
	err := each(len(list), width, func(i int) error {
		x := list[i]
		res, err := call(ctx, db, "create index", func(ctx context.Context) (*qdrant.UpdateResult, error) {
			return db.client.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{CollectionName: name, Wait: qdrant.PtrOf(true),
				FieldName: x.field, FieldType: x.kind.Enum(), FieldIndexParams: x.params})
		})
		if err != nil {
			return err
		}
		return completed("create index", res)
	})
	if err != nil {
		return err
	}
	info, err := db.info(ctx, name)
	if err != nil {
		return err
	}
	return checkIndexes(name, info)
}

// checkIndexes refuses a collection that lacks an index: without one, orders fail and filters are slow.
func checkIndexes(name string, info *qdrant.CollectionInfo) error {
	var missing []string
	for _, x := range indexes() {
		if _, ok := info.GetPayloadSchema()[x.field]; !ok {
			missing = append(missing, x.field)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: collection %q lacks the indexes %v", store.ErrConflict, name, missing)
	}
	return nil
}

func (db *DB) info(ctx context.Context, name string) (*qdrant.CollectionInfo, error) {
	return call(ctx, db, "read collection", func(ctx context.Context) (*qdrant.CollectionInfo, error) {
		return db.client.GetCollectionInfo(ctx, name)
	})
}

// layout is what a collection's metadata says.
type layout struct {
	space
	schema, analyzer int
	copyOf           string
	dense            bool // it has the dense vector
}

func layoutOf(name string, info *qdrant.CollectionInfo) (layout, error) {
	m := info.GetConfig().GetMetadata()
	l := layout{
		space:  space{m[metaModel].GetStringValue(), int(m[metaDim].GetIntegerValue())},
		schema: int(m[metaSchema].GetIntegerValue()), analyzer: int(m[metaAnalyzer].GetIntegerValue()), copyOf: m[metaCopyOf].GetStringValue(),
	}
	params := info.GetConfig().GetParams()
	vectors := params.GetVectorsConfig().GetParamsMap().GetMap()
	l.dense = vectors[denseVector] != nil
	switch {
	case l.schema < 1:
		return l, fmt.Errorf("%w: collection %q was not made by this program: choose another collection", store.ErrConflict, name)
	case l.schema > schemaVersion:
		return l, fmt.Errorf("%w: collection %q was made by a newer version of this program (layout %d, known is %d)", store.ErrConflict, name, l.schema, schemaVersion)
	case l.dense != (l.dim > 0) || l.dense && vectors[denseVector].GetSize() != uint64(l.dim):
		return l, fmt.Errorf("%w: collection %q has vectors %v, but its metadata says %d dimensions", store.ErrCorrupt, name, slices.Sorted(maps.Keys(vectors)), l.dim)
	case params.GetSparseVectorsConfig().GetMap()[lexicalVector] == nil:
		return l, fmt.Errorf("%w: collection %q lacks the vector %q", store.ErrCorrupt, name, lexicalVector)
	}
	return l, nil
}
