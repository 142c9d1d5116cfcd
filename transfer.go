package evoke

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"evoke/store"
)

// Limits of an import: the longest line, the number of items and the bytes of lines a write holds, and how many failed
// lines are named.
const (
	maxImportLine   = 8 << 20
	importBatch     = 500
	importBytes     = 16 << 20
	maxFailedListed = 1000
)

// Import reads JSON Lines: what Export wrote, or lines of {"id", "text", "type", "speaker", "time", "meta"}, where
// meta.session and meta.seq place a turn. It keeps ids, times, speaker, session and position as given, merges nothing,
// caps nothing and starts no extraction; vectors follow. A line that was imported before is counted as the same, so that an
// import that was interrupted is simply made again; one whose id holds something else fails; a line that fails is reported
// and the rest imported. An export that was altered or cut off is told, by line. progress, if not nil, is called with the
// number of lines read so far.
func (m *Memory) Import(ctx context.Context, w Who, in io.Reader, progress func(lines int)) (_ ImportResult, err error) {
	imp := m.importer(ctx, w)
	defer func() { m.audit(ctx, deed("import", w, err, imp.res.counts())) }()
	err = imp.lines(in, reading{}, func(r *reading, _ bool) error {
		if progress != nil && r.line%100 == 0 {
			progress(r.line)
		}
		return nil
	})
	return imp.res, err
}

// reading is how far a file was read.
type reading struct {
	line  int
	bytes int64 // up to the end of that line
	check exportCheck
}

// lines imports the lines that follow those read so far. after is called for each, with whether all up to it are stored.
func (imp *importer) lines(in io.Reader, r reading, after func(r *reading, stored bool) error) error {
	buf, goesOn := bufio.NewReaderSize(in, 64<<10), r.line > 0
	for {
		r.line++
		b, size, err := readLine(buf)
		if r.bytes += size; size > 0 {
			imp.read = r.line
		}
		if end := errors.Is(err, io.EOF); err != nil && !end && !errors.Is(err, errLongLine) {
			return errors.Join(fmt.Errorf("import: read: %w", err), imp.flush())
		}
		if errors.Is(err, errLongLine) {
			r.check.tooLong()
			imp.fail(r.line, store.Invalid("line", fmt.Sprintf("at most %d bytes long", maxImportLine), ""))
		} else if len(b) > 0 {
			skip, bad := r.check.line(b)
			if err := r.check.newer(); err != nil {
				return errors.Join(fmt.Errorf("import: line %d: %w", r.line, err), imp.flush())
			}
			if bad != nil {
				imp.fail(r.line, bad)
			}
			if !skip {
				if err := imp.line(r.line, b); err != nil {
					return fmt.Errorf("import: line %d: %w", r.line, err)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			if cut := r.check.end(); cut != nil {
				imp.fail(r.line, cut)
			}
			if err := imp.flush(); err != nil {
				return err
			}
			return imp.freeSources(goesOn)
		}
		if err := after(&r, imp.queued == 0); err != nil {
			return err
		}
	}
}

func (m *Memory) importer(ctx context.Context, w Who) *importer {
	id := newID()
	return &importer{m: m, ctx: ctx, id: id, res: ImportResult{ID: id}, who: w, began: m.now(), batches: map[store.Scope]*importing{}, summaries: map[store.Scope]map[string]bool{}, fields: fieldNames(reflect.TypeFor[importLine]())}
}

type importer struct {
	m       *Memory
	ctx     context.Context // of the one call the importer lives for
	id      string
	resumed bool // nothing was written yet since an earlier attempt at this import broke off
	who     Who
	began   time.Time
	batches map[store.Scope]*importing
	queued  int
	bytes   int
	read    int // the line, or the entry, that was read last
	res     ImportResult
	fields  map[string]bool // that a line may have
	// summaries are the ids of those that lines say to stand in their place.
	summaries map[store.Scope]map[string]bool
}

type importing struct {
	items []store.Item
	lines []int
}

func (imp *importer) fail(line int, err error) {
	imp.res.FailedN++
	if len(imp.res.Failed) < maxFailedListed {
		imp.res.Failed = append(imp.res.Failed, ImportLine{line, err.Error()})
	}
}

// line queues one line's item. It fails only when a full batch could not be written.
func (imp *importer) line(n int, b []byte) error {
	var l importLine
	if err := json.Unmarshal(b, &l); err != nil {
		imp.fail(n, lineError(err))
		return nil
	}
	imp.unknownFields(b)
	it, err := l.item(imp.m.now(), lineID(n, b))
	if err == nil {
		err = imp.redact(&it)
	}
	if err == nil {
		err = it.Prepare(imp.m.limits)
	}
	if err != nil {
		imp.fail(n, err)
		return nil
	}
	sc, err := imp.scope(l)
	if err != nil {
		imp.fail(n, err)
		return nil
	}
	q := imp.batches[sc]
	if q == nil {
		q = &importing{}
		imp.batches[sc] = q
	}
	q.items, q.lines = append(q.items, it), append(q.lines, n)
	imp.queued, imp.bytes = imp.queued+1, imp.bytes+len(b)
	if imp.queued < importBatch && imp.bytes < importBytes {
		return nil
	}
	return imp.flush()
}

// lineID is the id of an item whose line has none: the same each time that the file is imported.
func lineID(n int, b []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00", n)
	h.Write(b)
	return "import:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// scope is the memory that the call names or, when it names none, the one that the line does.
func (imp *importer) scope(l importLine) (store.Scope, error) {
	if imp.who == (Who{}) && (l.User != "" || l.Agent != "") {
		sc := store.Scope{Tenant: imp.m.tenant, User: l.User, Agent: l.Agent}
		return sc, sc.Validate()
	}
	return imp.m.memory(imp.who)
}

func (imp *importer) flush() error {
	for sc, q := range imp.batches {
		if err := imp.write(sc, q); err != nil {
			return err
		}
	}
	clear(imp.batches)
	imp.queued, imp.bytes = 0, 0
	return nil
}

// write stores the items of one scope that are new.
func (imp *importer) write(sc store.Scope, q *importing) error {
	m := imp.m
	imp.summariesNamed(sc, q.items)
	unlock, err := m.hold(imp.ctx, sc)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer unlock()
	ids := make([]string, len(q.items))
	for i := range q.items {
		ids[i] = q.items[i].ID
	}
	have, err := m.store.Get(imp.ctx, sc, ids)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	known := make(map[string]*store.Item, len(have)+len(q.items))
	for i := range have {
		known[have[i].ID] = &have[i]
	}
	sections, err := imp.openSections(sc, q.items)
	if err != nil {
		return err
	}
	gone, err := m.erasedImports(imp.ctx, sc, q.items, imp.began)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	w := m.newWrite(sc)
	rep := imp.repeats(sc)
	for i := range q.items {
		it := &q.items[i]
		if gone[i] && known[it.ID] == nil {
			imp.res.Erased++
			continue
		}
		it.Provenance.Import = imp.id
		if key := it.ContentKey; it.IsProfile() && !it.Closed() && known[it.ID] == nil {
			if sections[key] {
				imp.fail(q.lines[i], fmt.Errorf("%w: the profile has this section already (forget it first)", store.ErrConflict))
				continue
			}
			sections[key] = true
		}
		if old := known[it.ID]; old != nil {
			switch {
			case sameImport(old, it):
				rep.same(q.lines[i], old, it)
			default:
				imp.fail(q.lines[i], fmt.Errorf("id: %w: another item has this id (give it a new one)", store.ErrConflict))
			}
			continue
		}
		known[it.ID], rep.seen[it.ID] = it, true
		w.Put = append(w.Put, *it)
		if !it.IsProfile() { // it is never searched
			w.Embed = append(w.Embed, it.ID)
		}
	}
	again, err := rep.change()
	if err != nil {
		return err
	}
	imported := len(w.Put)
	w.Put, w.Embed = append(w.Put, again.Put...), append(w.Embed, again.embed...)
	if err := m.commit(imp.ctx, w); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	imp.resumed = imp.resumed && len(w.Put) == 0
	imp.res.Imported += imported + again.count
	imp.res.Again += again.count
	return imp.continueThreads(sc, w.Put[:imported], true)
}

// sameImport compares what a line gives; uses, links and stamps may have moved on since.
func sameImport(a, b *store.Item) bool {
	return a.Kind == b.Kind && a.Content == b.Content && a.ValidFrom.Equal(b.ValidFrom) && a.Turn == b.Turn && reflect.DeepEqual(a.Metadata, b.Metadata)
}

// importLine accepts both forms of a line; the first set of names wins.
type importLine struct {
	store.Item
	Sum        string                     `json:"sum"` // of a line of an export, see exportCheck
	Importance *float64                   `json:"importance"`
	Confidence *float64                   `json:"confidence"`
	Metadata   map[string]json.RawMessage `json:"metadata"`
	User       string                     `json:"user"`
	Agent      string                     `json:"agent"`

	Text    string                     `json:"text"`
	Type    store.Kind                 `json:"type"`
	Time    *time.Time                 `json:"time"`
	Speaker string                     `json:"speaker"`
	Meta    map[string]json.RawMessage `json:"meta"`
}

func (l *importLine) item(now time.Time, made string) (store.Item, error) {
	it := l.Item
	it.Importance, it.Confidence = or(l.Importance, 0.5), or(l.Confidence, 1)
	if it.Content == "" {
		it.Content = l.Text
	}
	if it.Kind == "" {
		it.Kind = l.Type
	}
	if it.Kind == "" {
		it.Kind = store.Semantic
	}
	if l.Time != nil && it.ValidFrom.IsZero() {
		it.ValidFrom = *l.Time
	}
	if it.Turn.Speaker == "" {
		it.Turn.Speaker = l.Speaker
	}
	if it.RecordedAt.IsZero() {
		it.RecordedAt = now
	}
	if it.ID == "" {
		it.ID = made
	}
	exported := l.Sum != "" // and is as it was
	if it.Provenance.Origin == "" && !exported {
		it.Provenance.Origin = "import"
	}
	if it.ContentKey == "" && !exported {
		it.ContentKey = store.ContentKey(it.Kind, store.CleanText(it.Content))
	}
	md, err := importMetadata(l.Metadata)
	if err != nil {
		return it, err
	}
	if it.Metadata = md; len(l.Meta) > 0 {
		return it, l.place(&it)
	}
	return it, nil
}

// place reads meta: session and seq are the turn's place, the rest is metadata.
func (l *importLine) place(it *store.Item) error {
	rest := map[string]json.RawMessage{}
	for k, v := range l.Meta {
		switch k {
		case "session":
			it.Turn.Session = plain(v)
		case "seq":
			n, err := strconv.Atoi(plain(v))
			if err != nil {
				return store.Invalid("meta.seq", "a whole number", "")
			}
			it.Turn.Position = n
		default:
			rest[k] = v
		}
	}
	if _, ok := l.Meta["seq"]; !ok { // a session without an order makes no neighbours
		rest["session"] = l.Meta["session"]
		if it.Turn.Session = ""; rest["session"] == nil {
			delete(rest, "session")
		}
	} else if it.Turn.Role == "" && (it.Turn.Speaker == "user" || it.Turn.Speaker == "assistant") {
		it.Turn.Role = it.Turn.Speaker
	}
	md, err := importMetadata(rest)
	if err != nil {
		return err
	}
	if it.Metadata == nil {
		it.Metadata = md
		return nil
	}
	for k, v := range md {
		it.Metadata[k] = v
	}
	return nil
}

// importMetadata keeps strings, numbers, booleans and lists of strings as they are; null is no value, and anything
// nested is kept as its JSON text.
func importMetadata(raw map[string]json.RawMessage) (store.Metadata, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	md := store.Metadata{}
	for k, b := range raw {
		if string(b) == "null" {
			continue
		}
		var v store.Value
		if err := v.UnmarshalJSON(b); errors.Is(err, store.ErrInvalid) {
			v = store.String(string(b))
		} else if err != nil {
			return nil, store.Invalid("metadata."+k, "a string, number, boolean or list of strings", "")
		}
		md[k] = v
	}
	if len(md) == 0 {
		return nil, nil
	}
	return md, nil
}

// plain is a JSON string's text, or any other value's JSON.
func plain(b json.RawMessage) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}

// lineError says what is wrong with a line without repeating it.
func lineError(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return store.Invalid(strings.TrimPrefix(t.Field, "Item."), jsonKind(t.Type.Kind()), "a JSON "+t.Value)
	}
	var p *time.ParseError
	switch {
	case errors.Is(err, store.ErrInvalid):
		return err
	case errors.As(err, &p):
		return store.Invalid("time", "an RFC 3339 time with a zone, such as 2026-03-01T09:30:00Z", "")
	}
	return store.Invalid("line", "one JSON object", "")
}

// jsonKind says what JSON holds a Go kind.
func jsonKind(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}
