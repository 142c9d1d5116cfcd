// Package cache remembers vectors by the content of their texts, in memory.
//
// The key is the sha256 of the model's identity, the text's role and the text,
// so a vector never answers for another model or role. Only successes are kept.
// Several callers who ask for the same query at the same time share one answer.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/maypok86/otter/v2"

	"evoke/embed"
)

// Options bound a Cache. The zero value is the default.
type Options struct {
	// Bytes is about the most memory the vectors may take, those of queries' word
	// pieces included, 1 or more. Default 64 MiB.
	Bytes int64
	// Entries is the most texts whose vectors are kept, 1 or more. Default: as
	// many as Bytes allows.
	Entries int
}

const defaultBytes = 64 << 20

// overhead is about what the cache spends on an entry beside its vector.
const overhead = 160

type key [sha256.Size]byte

// Cache is an embedder that remembers. It is safe for concurrent use.
type Cache struct {
	inner   embed.Embedder
	id      string
	entries *otter.Cache[key, entry]

	mu      sync.Mutex
	flights map[key]*flight
}

var _ embed.QueryPieceEmbedder = (*Cache)(nil)

// entry is what is kept of a text. pieces are a query's, nil when its embedder
// cannot tell them.
type entry struct {
	v      []float32
	pieces []embed.Piece
}

// clone gives a caller vectors of his own.
func (e entry) clone() ([]float32, []embed.Piece) {
	pieces := slices.Clone(e.pieces)
	for i := range pieces {
		pieces[i].Vector = slices.Clone(pieces[i].Vector)
	}
	return slices.Clone(e.v), pieces
}

func (e entry) weight() uint32 {
	n := 4*len(e.v) + overhead
	for i := range e.pieces {
		n += 4*len(e.pieces[i].Vector) + overhead
	}
	return uint32(min(n, math.MaxInt32))
}

// flight is a query being answered. v and err are set before done is closed.
type flight struct {
	done chan struct{}
	entry
	err error
	// abandoned: the caller who asked gave up, which says nothing of the query.
	abandoned bool
}

// New puts a cache before an embedder. Nil options are the defaults.
func New(inner embed.Embedder, opts *Options) (*Cache, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if inner == nil {
		return nil, fmt.Errorf("new embedding cache: %w: no embedder", embed.ErrInvalid)
	}
	if o.Bytes < 0 || o.Entries < 0 {
		return nil, fmt.Errorf("new embedding cache: %w: Bytes is %d and Entries %d: set 1 or more, or 0 for the default", embed.ErrInvalid, o.Bytes, o.Entries)
	}
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	weight := int64(inner.Model().Dim)*4 + overhead
	// At least one vector fits, however small the bound.
	entries := max(1, o.Bytes/weight)
	if o.Entries > 0 {
		entries = min(entries, int64(o.Entries))
	}
	limits := &otter.Options[key, entry]{MaximumSize: int(entries)}
	if o.Entries == 0 {
		limits = &otter.Options[key, entry]{MaximumWeight: uint64(max(o.Bytes, weight)), Weigher: func(_ key, e entry) uint32 { return e.weight() }}
	}
	kept, err := otter.New(limits)
	if err != nil {
		return nil, fmt.Errorf("new embedding cache: %w", err)
	}
	return &Cache{inner: inner, id: inner.Model().ID(), entries: kept, flights: make(map[key]*flight)}, nil
}

// Model is the identity of the wrapped embedder.
func (c *Cache) Model() embed.Model { return c.inner.Model() }

// Unwrap is the embedder behind the cache.
func (c *Cache) Unwrap() embed.Embedder { return c.inner }

// Clear forgets all vectors: those of texts that were erased are not told from others.
func (c *Cache) Clear() { c.entries.InvalidateAll() }

// Len is about how many vectors are kept.
func (c *Cache) Len() int {
	c.entries.CleanUp()
	return c.entries.EstimatedSize()
}

func (c *Cache) key(role embed.Role, text string) key {
	h := sha256.New()
	for _, part := range []string{c.id, string(role)} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	h.Write([]byte(text))
	return key(h.Sum(nil))
}

// EmbedPassages answers from memory what it can and asks for the rest in one
// batch, a repeated text once.
func (c *Cache) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	out := make([][]float32, len(texts))
	keys := make([]key, len(texts))
	var missing []string
	place := make(map[key]int) // of a key in missing
	for i, t := range texts {
		keys[i] = c.key(embed.Passage, t)
		if e, ok := c.entries.GetIfPresent(keys[i]); ok {
			out[i] = slices.Clone(e.v)
		} else if _, asked := place[keys[i]]; !asked {
			place[keys[i]] = len(missing)
			missing = append(missing, t)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	vs, err := c.inner.EmbedPassages(ctx, missing)
	if err != nil {
		return nil, err
	}
	if len(vs) != len(missing) {
		return nil, fmt.Errorf("embed passages: %w: %d vectors for %d texts", embed.ErrDamaged, len(vs), len(missing))
	}
	for i, k := range keys {
		if out[i] == nil {
			v := vs[place[k]]
			c.entries.Set(k, entry{v: v})
			out[i] = slices.Clone(v)
		}
	}
	return out, nil
}

// EmbedQuery answers from memory, from a call that is under way, or anew.
func (c *Cache) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	e, err := c.query(ctx, text)
	return slices.Clone(e.v), err
}

// EmbedQueryPieces is EmbedQuery with the vectors of the query's word pieces.
func (c *Cache) EmbedQueryPieces(ctx context.Context, text string) ([]float32, []embed.Piece, error) {
	e, err := c.query(ctx, text)
	v, pieces := e.clone()
	return v, pieces, err
}

// query is the shared entry of a query.
func (c *Cache) query(ctx context.Context, text string) (entry, error) {
	k := c.key(embed.Query, text)
	for {
		if err := ctx.Err(); err != nil {
			return entry{}, err
		}
		if e, ok := c.entries.GetIfPresent(k); ok {
			return e, nil
		}
		f, leads := c.join(k)
		if leads {
			c.lead(ctx, k, f, text)
			return f.entry, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return entry{}, ctx.Err()
		}
		if !f.abandoned {
			return f.entry, f.err
		}
	}
}

// join finds the flight of a key or starts one.
func (c *Cache) join(k key) (f *flight, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flights[k]; ok {
		return f, false
	}
	f = &flight{done: make(chan struct{}), abandoned: true, err: errors.New("embedder panicked")}
	c.flights[k] = f
	return f, true
}

// lead answers a flight in the caller's goroutine.
func (c *Cache) lead(ctx context.Context, k key, f *flight, text string) {
	defer func() {
		c.mu.Lock()
		delete(c.flights, k)
		c.mu.Unlock()
		close(f.done)
	}()
	f.v, f.pieces, f.err = embed.QueryPieces(ctx, c.inner, text)
	f.abandoned = f.err != nil && ctx.Err() != nil
	if f.err == nil {
		c.entries.Set(k, f.entry)
	}
}
