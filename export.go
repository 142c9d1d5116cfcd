package evoke

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"evoke/store"
)

// record is one item of an export and whose it is.
type record struct {
	store.Item
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
}

// ExportFormat is the version of the format that Export writes; docs/export.md describes it. Import reads it and all before.
const ExportFormat = 1

// exportHead is the first line of an export.
type exportHead struct {
	Format   int    `json:"evoke_export"`
	Engine   string `json:"engine"`          // version of the program that wrote it
	User     string `json:"user,omitempty"`  // of the one memory that it holds; with both empty it holds all of a tenant
	Agent    string `json:"agent,omitempty"` // as above
	Memories int    `json:"memories"`
	Items    int    `json:"items"` // when the export began; exportEnd has the exact number
}

// exportEnd is the last line of an export.
type exportEnd struct {
	Format int    `json:"evoke_export_end"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"` // of all lines of items, each with a newline at its end, in hex
}

// ExportSummary identifies what a memory, or all of a tenant, holds: equal ones hold the same items.
type ExportSummary struct {
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"` // as in the last line of an export
}

// Export writes every version of every item of a memory as JSON Lines and returns the number of items; docs/export.md
// describes the format. An empty Who exports all memories of the tenant. Vectors are left out: they are computed again on
// import. It reads page by page: items that come or go meanwhile may be in it or not.
func (m *Memory) Export(ctx context.Context, w Who, out io.Writer) (n int, err error) {
	defer func() { m.audit(ctx, deed("export", w, err, map[string]int{"items": n})) }()
	s, err := m.export(ctx, w, out)
	return s.Items, err
}

// Checksum is what the last line of an export would tell, without the export.
func (m *Memory) Checksum(ctx context.Context, w Who) (ExportSummary, error) {
	return m.export(ctx, w, io.Discard)
}

func (m *Memory) export(ctx context.Context, w Who, out io.Writer) (ExportSummary, error) {
	scopes, err := m.exported(ctx, w)
	if err != nil {
		return ExportSummary{}, err
	}
	e := newExporter(out)
	head := exportHead{Format: ExportFormat, Engine: Version, Memories: len(scopes)}
	if w != (Who{}) {
		head.User, head.Agent = scopes[0].User, scopes[0].Agent
	}
	for _, sc := range scopes {
		st, err := m.store.Stats(ctx, sc, store.View{All: true})
		if err != nil {
			return ExportSummary{}, fmt.Errorf("export: %w", err)
		}
		head.Items += st.Total
	}
	if err := e.frame(head); err != nil {
		return ExportSummary{}, err
	}
	for _, sc := range scopes {
		if err := m.eachItem(ctx, sc, func(it *store.Item) error {
			it.Provenance.Import = "" // of this store
			return e.item(record{*it, sc.User, sc.Agent})
		}); err != nil {
			return e.summary(), fmt.Errorf("export: %w", err)
		}
	}
	s := e.summary()
	if err := e.frame(exportEnd{Format: ExportFormat, Items: s.Items, SHA256: s.SHA256}); err != nil {
		return s, err
	}
	if err := e.out.Flush(); err != nil {
		return s, fmt.Errorf("export: %w", err)
	}
	return s, nil
}

// eachItem hands over every version of every item of a memory, by id.
func (e *engine) eachItem(ctx context.Context, sc store.Scope, f func(it *store.Item) error) error {
	for it, err := range store.Items(ctx, e.store, sc, store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: pageItems}) {
		if err != nil {
			return fmt.Errorf("list items: %w", err)
		}
		if err := f(it); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) exported(ctx context.Context, w Who) ([]store.Scope, error) {
	if w == (Who{}) {
		scopes, err := m.store.Scopes(ctx, m.tenant)
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		return scopes, nil
	}
	sc, err := m.memory(w)
	return []store.Scope{sc}, err
}

// pageItems is how many whole items are read at once where all are walked: each may hold a megabyte.
const pageItems = 200

// exporter writes the lines of an export.
type exporter struct {
	out  *bufio.Writer
	line bytes.Buffer
	enc  *json.Encoder
	hash hash.Hash // of the lines of items
	n    int
}

func newExporter(out io.Writer) *exporter {
	e := &exporter{out: bufio.NewWriterSize(out, 64<<10), hash: sha256.New()}
	e.enc = json.NewEncoder(&e.line)
	e.enc.SetEscapeHTML(false)
	return e
}

// frame writes the first or the last line.
func (e *exporter) frame(v any) error {
	e.line.Reset()
	if err := e.enc.Encode(v); err != nil {
		return fmt.Errorf("export: encode: %w", err)
	}
	return e.write(e.line.Bytes())
}

// item writes the line of an item: its object, with the checksum of it as the first field.
func (e *exporter) item(v any) error {
	e.line.Reset()
	if err := e.enc.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	object := e.line.Bytes()
	sum := lineSum(object[:len(object)-1])
	for _, part := range [][]byte{[]byte(sumBefore), []byte(sum), []byte(sumAfter), object[1:]} {
		e.hash.Write(part) // a hash does not fail
		if err := e.write(part); err != nil {
			return err
		}
	}
	e.n++
	return nil
}

func (e *exporter) write(b []byte) error {
	if _, err := e.out.Write(b); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func (e *exporter) summary() ExportSummary {
	return ExportSummary{Items: e.n, SHA256: hex.EncodeToString(e.hash.Sum(nil))}
}

// A line of an item begins with these around its checksum.
const (
	sumBefore = `{"sum":"`
	sumAfter  = `",`
	sumDigits = 16
)

// lineSum is the checksum of an item's object without its field sum: the first digits of a SHA-256 in hex.
func lineSum(object []byte) string {
	h := sha256.Sum256(object)
	return hex.EncodeToString(h[:sumDigits/2])
}
