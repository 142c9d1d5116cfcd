package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// noTime is how a time that is not set is stored. It sorts before every time that an item may carry.
const noTime int64 = -62135596800000000

func micros(t time.Time) int64 { return t.UnixMicro() } // the zero time gives noTime; floors, as views want it

func fromMicros(us int64) time.Time {
	if us == noTime {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// ceilMicros is the first whole microsecond not before t.
func ceilMicros(t time.Time) int64 {
	us := t.UnixMicro()
	if time.UnixMicro(us).Before(t) {
		us++
	}
	return us
}

// reading runs f with the pool of readers. In memory, writers wait meanwhile, so f must not call reading.
func (db *DB) reading(f func(*sql.DB) error) error {
	if db.memory != nil {
		db.memory.RLock()
		defer db.memory.RUnlock()
	}
	return f(db.read)
}

// scopeID finds the number of a scope; ok is false for a scope that was never written to.
func (db *DB) scopeID(ctx context.Context, sc store.Scope) (n int64, ok bool, err error) {
	if v, ok := db.scopes.Load(sc); ok {
		return v.(int64), true, nil
	}
	err = db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, "SELECT n FROM scopes WHERE tenant = ? AND user = ? AND agent = ?", sc.Tenant, sc.User, sc.Agent).Scan(&n)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, wrap("find scope", err)
	}
	db.scopes.Store(sc, n)
	return n, true, nil
}

// scope finds or makes the number of a scope.
func (t *tx) scope(sc store.Scope) (n int64, err error) {
	args := []any{sc.Tenant, sc.User, sc.Agent}
	err = t.get("SELECT n FROM scopes WHERE tenant = ? AND user = ? AND agent = ?", args, &n)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.get("INSERT INTO scopes (tenant, user, agent) VALUES (?, ?, ?) RETURNING n", args, &n)
	}
	return n, wrap("find scope", err)
}

const itemColumns = `id, kind, category, content, metadata, importance, confidence, uses, last_used, valid_from, valid_to, recorded_at,
closed_at, retracted_at, thread, session, position, speaker, role, provenance, content_key, supersedes, superseded_by, outcomes,
expires_at, summary, summarized_at, forgotten_at, purge_at, forgotten_by`

// itemRow is an item on its way from a row.
type itemRow struct {
	it                   store.Item
	kind, category       string
	metadata, provenance []byte
	outcomes             []byte
	times                [10]int64
}

func (r *itemRow) dest() []any {
	it, t := &r.it, &r.times
	return []any{&it.ID, &r.kind, &r.category, &it.Content, (*raw)(&r.metadata), &it.Importance, &it.Confidence, &it.Uses, &t[0], &t[1], &t[2],
		&t[3], &t[4], &t[5], &it.Turn.Thread, &it.Turn.Session, &it.Turn.Position, &it.Turn.Speaker, &it.Turn.Role, (*raw)(&r.provenance),
		&it.ContentKey, &it.Supersedes, &it.SupersededBy, (*raw)(&r.outcomes),
		&t[6], &it.Aside.Summary, &t[7], &t[8], &t[9], &it.Aside.ForgottenBy}
}

// raw scans text without keeping an empty one.
type raw []byte

// Scan takes a column's text.
func (r *raw) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*r = raw(v)
	case []byte:
		*r = append(raw(nil), v...)
	default:
		return fmt.Errorf("a column of text holds %T", src)
	}
	return nil
}

// item completes the item that was scanned.
func (r *itemRow) item() (store.Item, error) {
	it := r.it
	it.Kind, it.Category = store.Kind(r.kind), store.Category(r.category)
	it.LastUsed, it.ValidFrom, it.ValidTo = fromMicros(r.times[0]), fromMicros(r.times[1]), fromMicros(r.times[2])
	it.RecordedAt, it.ClosedAt, it.RetractedAt = fromMicros(r.times[3]), fromMicros(r.times[4]), fromMicros(r.times[5])
	it.ExpiresAt, it.Aside.SummarizedAt = fromMicros(r.times[6]), fromMicros(r.times[7])
	it.Aside.ForgottenAt, it.Aside.PurgeAt = fromMicros(r.times[8]), fromMicros(r.times[9])
	if len(r.metadata) > 0 {
		if err := json.Unmarshal(r.metadata, &it.Metadata); err != nil {
			return it, fmt.Errorf("%w: metadata of a stored item: %w", store.ErrCorrupt, err)
		}
	}
	if len(r.provenance) > 0 {
		if err := json.Unmarshal(r.provenance, &it.Provenance); err != nil {
			return it, fmt.Errorf("%w: provenance of a stored item: %w", store.ErrCorrupt, err)
		}
	}
	if len(r.outcomes) > 0 {
		if err := json.Unmarshal(r.outcomes, &it.Outcomes); err != nil {
			return it, fmt.Errorf("%w: outcomes of a stored item: %w", store.ErrCorrupt, err)
		}
	}
	return it, nil
}

// prepared is an item in stored form with all that is derived from it, made before the writer's turn.
type prepared struct {
	item       store.Item
	textKey    string
	doc        *scoring.Doc
	docBytes   []byte
	metadata   string
	provenance string
	outcomes   string
}

func prepare(it store.Item, l store.Limits) (*prepared, error) {
	if err := it.Prepare(l); err != nil {
		return nil, err
	}
	p := &prepared{item: it, textKey: it.TextKey(), doc: newDoc(&it)}
	var err error
	if p.docBytes, err = p.doc.MarshalBinary(); err != nil {
		return nil, fmt.Errorf("encode analysed text: %w", err)
	}
	if len(it.Metadata) > 0 {
		b, err := json.Marshal(it.Metadata)
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		p.metadata = string(b)
	}
	b, err := json.Marshal(it.Provenance)
	if err != nil {
		return nil, fmt.Errorf("encode provenance: %w", err)
	}
	if p.provenance = string(b); p.provenance == "{}" {
		p.provenance = ""
	}
	if it.Outcomes != (store.Outcomes{}) {
		b, err := json.Marshal(it.Outcomes)
		if err != nil {
			return nil, fmt.Errorf("encode outcomes: %w", err)
		}
		p.outcomes = string(b)
	}
	p.item = cloneItem(&p.item) // the index keeps it: the caller's maps must not change under it
	return p, nil
}

func newDoc(it *store.Item) *scoring.Doc {
	d := scoring.NewDoc(it.Turn.Speaker, it.Content, it.Local())
	return &d
}

// cloneItem copies what an item points to.
func cloneItem(it *store.Item) store.Item {
	c := *it
	c.Metadata = it.Metadata.Clone()
	if it.Provenance.Turns != nil {
		c.Provenance.Turns = append([]string(nil), it.Provenance.Turns...)
	}
	return c
}

// values are the columns of an item in the order of itemColumns, then text_key and doc.
func (p *prepared) values() []any {
	it := &p.item
	return []any{it.ID, string(it.Kind), string(it.Category), it.Content, p.metadata, it.Importance, it.Confidence, it.Uses,
		micros(it.LastUsed), micros(it.ValidFrom), micros(it.ValidTo), micros(it.RecordedAt), micros(it.ClosedAt), micros(it.RetractedAt),
		it.Turn.Thread, it.Turn.Session, it.Turn.Position, it.Turn.Speaker, it.Turn.Role, p.provenance,
		it.ContentKey, it.Supersedes, it.SupersededBy, p.outcomes,
		micros(it.ExpiresAt), it.Aside.Summary, micros(it.Aside.SummarizedAt), micros(it.Aside.ForgottenAt), micros(it.Aside.PurgeAt), it.Aside.ForgottenBy,
		p.textKey, p.docBytes}
}
