package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"time"

	"evoke/scoring"
)

// Store keeps items and finds candidates for a query. Every method fails with ErrTenant or ErrInvalid for a scope
// that does not validate, with ErrUnavailable when the backend cannot be reached, and with ErrClosed after Close.
type Store interface {
	Reader
	Searcher
	Writer
	Admin
}

// Reader reads items.
type Reader interface {
	// Get returns the items that exist, in the order of ids, whatever their version state. Unknown ids are left out.
	Get(ctx context.Context, sc Scope, ids []string) ([]Item, error)
	// List pages through the items that filter and view select, in the given order.
	List(ctx context.Context, sc Scope, q ListQuery) (Page, error)
	// Stats counts the scope's items in the view.
	Stats(ctx context.Context, sc Scope, v View) (Stats, error)
}

// Order of a listing. Ties are broken by id.
type Order uint8

// The orders.
const (
	Newest        Order = iota // by RecordedAt, newest first
	Oldest                     // by RecordedAt, oldest first
	NewestEvent                // by ValidFrom, newest first; items without a time last
	ByID                       // by id, ascending
	MostImportant              // by Importance, highest first
)

// ListQuery selects a page.
type ListQuery struct {
	Filter Filter
	View   View
	Order  Order
	Limit  int    // 1–10000; 0 means 100
	Cursor string // from the previous page; "" for the first
}

// Page is one page of a listing. Next is "" on the last page.
type Page struct {
	Items []Item
	Next  string
}

// Stats counts items. Bytes is the size of contents and vectors.
type Stats struct {
	Total, Episodic, Semantic, Procedural int
	Bytes                                 int64
	Embedded                              int // items that have a vector in the store's current vector space
}

// Searcher finds candidates.
type Searcher interface {
	// Search runs the arms that q asks for within one scope and returns the union of what they nominate, with all
	// that exact scoring needs. A failed arm is reported in Candidates.Failed; Search itself fails only when no
	// candidates could be read at all.
	Search(ctx context.Context, sc Scope, q Query) (*Candidates, error)
}

// Arm is one way to nominate candidates.
type Arm string

// The arms. Each nominates among the items that filter and view select; equal ranks of an arm are broken by the backend,
// the same way every time.
//
//   - DenseArm: by the greatest dot product of the query with one of the item's rows.
//   - LexicalArm: by the sum over the query's terms of N times idf (scoring.BM25.IDF over Candidates.Stats) times the
//     term's weight in the item (scoring.Doc.Weights with scoring.LexicalParams.OwnBM25).
//   - ContextArm: what stands one and two positions behind a lexical hit in its session, in the order of the hits: an
//     answer need not repeat the words of the question that the turn before it asked. Switched by Query.Lexical.
//   - RecentArm: by ValidFrom or, where that is unknown, RecordedAt, newest first.
//   - ImportantArm: by Importance, highest first.
const (
	DenseArm     Arm = "dense"
	LexicalArm   Arm = "lexical"
	ContextArm   Arm = "context"
	RecentArm    Arm = "recent"
	ImportantArm Arm = "important"
)

// Query asks for candidates.
type Query struct {
	Filter Filter
	View   View
	// Vector is the query's centred unit vector in the store's vector space; nil switches the dense arm off.
	Vector []float32
	// Terms are the query's analysed terms; none switches the lexical arm off.
	Terms []scoring.QueryTerm
	// Correct asks to take, for terms that none of the items of the statistics has and that are not Known, what
	// scoring.CorrectTypos makes of them, where the view is of the past by what its items have, too; Candidates.Terms tells what was taken.
	Correct bool
	// How many candidates each arm may nominate; 0 switches it off.
	Dense, Lexical, Recent, Important int
}

// Candidates is the answer to a Query.
type Candidates struct {
	Records []Record // unique by item id, in no meaningful order
	// Stats of the query's terms: Docs is the number of the scope's items that are neither retracted nor closed
	// (RetractedAt and ValidTo zero) nor aside, and no sections of a profile (Item.Counted), whatever filter and view select; DF, for each term that
	// any of them holds in its own terms (scoring.Doc.Terms), how many do. Never over other scopes.
	Stats scoring.LexicalStats
	// Terms are the terms that were searched and that Stats counts: those of the query or, with Query.Correct, what
	// scoring.CorrectTypos made of them. Never nil for a query with terms in a scope that holds items.
	Terms []scoring.QueryTerm
	// Pending counts, of those same items, the ones that have no vector yet.
	Pending int
	Failed  map[Arm]error // arms that could not answer
}

// Record is a candidate with what exact scoring needs.
type Record struct {
	Item Item
	Doc  *scoring.Doc // never nil
	// Prev1 and Prev2 are the items of the same session at Position-1 and Position-2, nil when there are none in
	// the view; whether the filter selects them does not matter. Of several at one position it is an episodic one
	// first, then the one with the smallest id.
	Prev1, Prev2 *scoring.Doc
	// Dense is the largest dot product of the query with the item's search vectors (see Embedding.Rows, each row
	// quantised by scoring.Quantize), in [-2,2] up to the error of that. Embedded is true when the query has a valid
	// vector and the item has one too; otherwise Dense means nothing.
	Dense    float64
	Embedded bool
	Ranks    map[Arm]int // rank (from 1) in each arm that nominated it
}

// Writer changes items.
type Writer interface {
	// Apply makes a change of one scope. It is idempotent. A backend without transactions may stop in the middle
	// when it fails; applying the same change again completes it.
	Apply(ctx context.Context, sc Scope, c Change) error
	// SetEmbeddings stores vectors for items that still exist with the same TextKey; others are skipped silently.
	// Vectors of another model than the store's, or while it has none, are refused with ErrConflict; no vectors, another
	// dimension, numbers that are not finite and zero vectors with ErrInvalid: all before anything is written.
	SetEmbeddings(ctx context.Context, sc Scope, es []Embedding) error
}

// Change is a set of item writes. Put inserts or replaces whole items; an item whose TextKey is unchanged keeps its
// vectors, any other loses them until new ones are set. Delete removes items for good, after Put: an id in both is gone.
// Of several puts of one id the last counts.
type Change struct {
	Put    []Item
	Delete []string
}

// Embedding holds the vectors of one item: one for each chunk of its own text and, for a dated chat turn of one chunk,
// one for the text with the previous turn before it. All are centred and of unit length.
type Embedding struct {
	ID      string
	Model   string // embed.Model.ID()
	TextKey string // what the vectors were computed from: Item.TextKey
	Own     [][]float32
	Context []float32 // nil when the item has none
}

// Rows are the vectors that search compares with the query: own + context for an item that has both, otherwise twice
// each own vector, so that a dot product with a unit query lies in [-2,2] either way.
func (e *Embedding) Rows() [][]float32 {
	rows := make([][]float32, len(e.Own))
	for i, o := range e.Own {
		r := make([]float32, len(o))
		for j := range o {
			r[j] = 2 * o[j]
			if e.Context != nil {
				r[j] = o[j] + e.Context[j]
			}
		}
		rows[i] = r
	}
	return rows
}

// Admin looks after a whole store.
type Admin interface {
	// Scopes lists the scopes of a tenant that hold items, ordered by Key.
	Scopes(ctx context.Context, tenant string) ([]Scope, error)
	// Tenants lists the tenants that hold items, by name.
	Tenants(ctx context.Context) ([]string, error)
	// Census counts a tenant's items over all of its scopes.
	Census(ctx context.Context, tenant string, q CensusQuery) (Census, error)
	// Model returns the id of the vector space the store's vectors are in; "" before the first vector.
	Model(ctx context.Context) (string, error)
	// SetModel claims the store's vector space. It fails with ErrConflict when the store has another one, also while
	// no item has a vector; claiming the same again is no change.
	SetModel(ctx context.Context, id string, dim int) error
	// ReplaceModel makes another vector space the store's, in one step, and drops all vectors; the items stay. That of the
	// space which the store has is no change.
	ReplaceModel(ctx context.Context, id string, dim int) error
	Close() error
}

// TextKey identifies what an item's vectors and analysed text were made from: kind, speaker, exact content and the day of
// Local. It is the first 128 bits, in hex, of a SHA-256.
func (it *Item) TextKey() string {
	h := sha256.New()
	for _, part := range [...]string{string(it.Kind), it.Turn.Speaker, it.Content} {
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		io.WriteString(h, part) //nolint:errcheck // a hash does not fail
	}
	io.WriteString(h, it.Local().Format(time.DateOnly)) //nolint:errcheck // as above
	return hex.EncodeToString(h.Sum(nil)[:16])
}
