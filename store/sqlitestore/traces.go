package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// renamed is a row of control data whose JSON names what was erased.
type renamed struct {
	key  []any
	body []byte
	text string // the column of plain text beside it
}

// traced is what was found.
type traced struct {
	scope                                  int64
	replies                                []string
	events, threads                        int
	quarantine, blocks, audits, operations []renamed
}

// TracedScopes lists every scope of the tenant that is known, ordered by Key.
func (db *DB) TracedScopes(ctx context.Context, tenant string) ([]store.Scope, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil {
		return nil, err
	}
	var out []store.Scope
	err := db.rows(ctx, "list scopes", "SELECT user, agent FROM scopes WHERE tenant = ?", []any{tenant}, func(rows *sql.Rows) error {
		sc := store.Scope{Tenant: tenant}
		err := rows.Scan(&sc.User, &sc.Agent)
		out = append(out, sc)
		return err //nolint:wrapcheck // db.rows names the operation
	})
	slices.SortFunc(out, func(a, b store.Scope) int { return strings.Compare(a.Key(), b.Key()) })
	return out, err
}

// Traces finds what EraseTraces would change.
func (db *DB) Traces(ctx context.Context, t store.Traced) (store.Traces, error) {
	if err := db.enter(ctx); err != nil {
		return store.Traces{}, err
	}
	defer db.leave()
	found, err := db.traces(ctx, &t)
	if err != nil {
		return store.Traces{}, err
	}
	res := store.Traces{Counts: map[string]int{}, Keys: found.replies}
	for place, n := range map[string]int{
		"replies": len(found.replies), "events": found.events, "threads": found.threads, "quarantine": len(found.quarantine),
		"blocks": len(found.blocks), "audit": len(found.audits), "operations": len(found.operations),
	} {
		if n > 0 {
			res.Counts[place] = n
		}
	}
	return res, nil
}

const (
	ofThreads     = "(?2 OR thread IN (SELECT value FROM json_each(?3)))"
	namedEvents   = "scope = ?1 AND thread <> '' AND " + ofThreads
	namedThreads  = "scope = ?1 AND " + ofThreads
	blocksOfNames = "SELECT hash, user, agent, thread, items FROM blocks WHERE tenant = ? AND (user = ? OR agent = ?)"
)

func (db *DB) traces(ctx context.Context, t *store.Traced) (found traced, err error) {
	if err := t.Scope.Validate(); err != nil {
		return found, err
	}
	var known bool
	if found.scope, known, err = db.scopeID(ctx, t.Scope); err != nil || !known {
		return found, err
	}
	threads, err := keysJSON(t.Threads)
	if err != nil {
		return found, err
	}
	count := func(into *int, op, query string) {
		if err == nil && (t.All || len(t.Threads) > 0) {
			err = db.rows(ctx, op, query, []any{found.scope, t.All, threads}, func(rows *sql.Rows) error { return rows.Scan(into) })
		}
	}
	var states, jobs int
	count(&found.events, "count events", "SELECT count(*) FROM events WHERE "+namedEvents)
	count(&states, "count threads", "SELECT count(*) FROM threads WHERE "+namedThreads)
	count(&jobs, "count jobs", "SELECT count(*) FROM jobs WHERE "+namedThreads)
	found.threads = states + jobs
	if err != nil {
		return found, err
	}
	err = db.rows(ctx, "read replies", "SELECT key, body FROM replies WHERE scope = ?", []any{found.scope}, func(rows *sql.Rows) error {
		var key string
		var body sql.RawBytes
		if err := rows.Scan(&key, &body); err != nil {
			return err //nolint:wrapcheck // db.rows names the operation
		}
		_, n, err := store.Rename(body, t.IDs)
		if n > 0 || t.All || err != nil { // one that cannot be read is of no use, and may name anything
			found.replies = append(found.replies, key)
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	if err := db.namedBeside(ctx, t, &found); err != nil {
		return found, err
	}
	return found, nil
}

// namedBeside finds the names in what is of the tenant, not of the memory alone.
func (db *DB) namedBeside(ctx context.Context, t *store.Traced, found *traced) (err error) {
	sc := t.Scope
	found.quarantine, err = db.renames(ctx, t, "read quarantine", "SELECT id, '', '', thread, operation FROM quarantine WHERE tenant = ? AND scope = ?", sc.Tenant, found.scope)
	if err != nil {
		return err
	}
	// What a user's own memory holds is shown under each of his agents, and an agent's own memory under each of its users.
	user, agent := sc.User, sc.Agent
	if user == "" {
		user = "\x00"
	}
	if agent == "" {
		agent = "\x00"
	}
	if found.blocks, err = db.renames(ctx, t, "read blocks", blocksOfNames, sc.Tenant, user, agent); err != nil {
		return err
	}
	found.audits, err = db.renames(ctx, t, "read the audit log", "SELECT n, '', '', '', entry FROM audit WHERE tenant = ?", sc.Tenant)
	if err != nil {
		return err
	}
	for _, column := range [...]string{"args", "checkpoint", "result"} {
		rows, err := db.renames(ctx, t, "read operations", "SELECT id, '"+column+"', '', '', "+column+
			" FROM operations WHERE tenant = ? AND state NOT IN ('queued', 'running')", sc.Tenant)
		if err != nil {
			return err
		}
		found.operations = append(found.operations, rows...)
	}
	return nil
}

// renames reads rows of three parts of a key, a thread and a JSON text, and returns those that name what was erased.
func (db *DB) renames(ctx context.Context, t *store.Traced, op, query string, args ...any) (found []renamed, err error) {
	names := make(map[string]string, len(t.IDs)+len(t.Threads))
	for _, m := range [...]map[string]string{t.IDs, t.Threads} {
		for name, to := range m {
			names[name] = to
		}
	}
	err = db.rows(ctx, op, query, args, func(rows *sql.Rows) error {
		var a, b, c, thread string
		var body sql.RawBytes
		if err := rows.Scan(&a, &b, &c, &thread, &body); err != nil {
			return err //nolint:wrapcheck // db.rows names the operation
		}
		text, n, err := store.Rename(body, names)
		if err != nil {
			return err
		}
		to, gone := t.Threads[thread]
		if t.All && thread != "" && !gone && !isPseudonym(thread) {
			to, gone = "", true
		}
		if n == 0 && !gone {
			return nil
		}
		r := renamed{key: []any{a, b, c}, text: thread, body: append([]byte{}, text...)}
		if gone {
			r.text = to
		}
		found = append(found, r)
		return nil
	})
	return found, err
}

func isPseudonym(name string) bool { return strings.HasPrefix(name, store.ErasedPrefix) }

// keysJSON is a JSON list of the names.
func keysJSON(m map[string]string) (string, error) {
	b, err := json.Marshal(slices.AppendSeq([]string{}, maps.Keys(m)))
	if err != nil {
		return "", fmt.Errorf("encode names: %w", err)
	}
	return string(b), nil
}

// EraseTraces removes the names.
func (db *DB) EraseTraces(ctx context.Context, t store.Traced) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	found, err := db.traces(ctx, &t)
	if err != nil || found.scope == 0 {
		return err
	}
	threads, err := keysJSON(t.Threads)
	if err != nil {
		return err
	}
	return db.w.do(ctx, func(x *tx) error {
		x.w.erased = true
		for _, key := range found.replies {
			if err := x.exec("DELETE FROM replies WHERE scope = ? AND key = ?", found.scope, key); err != nil {
				return wrap("drop replies", err)
			}
		}
		if t.All || len(t.Threads) > 0 {
			if err := x.dropThreads(found.scope, t.All, threads); err != nil {
				return err
			}
		}
		return x.rename(t.Scope.Tenant, &found)
	})
}

// dropThreads removes what is kept of conversations, and ends their events.
func (t *tx) dropThreads(scope int64, all bool, threads string) error {
	return errors.Join(
		wrap("drop threads", t.exec("DELETE FROM threads WHERE "+namedThreads, scope, all, threads)),
		wrap("drop jobs", t.exec("DELETE FROM jobs WHERE "+namedThreads, scope, all, threads)),
		wrap("end events", t.exec(`UPDATE events SET thread = '', note = CASE WHEN state IN ('pending', 'dead') THEN 'erased' ELSE note END,
done_at = CASE WHEN state = 'pending' THEN ?4 ELSE done_at END, state = CASE WHEN state IN ('pending', 'dead') THEN 'nothing' ELSE state END
WHERE `+namedEvents, scope, all, threads, micros(time.Now()))),
	)
}

func (t *tx) rename(tenant string, found *traced) error {
	for _, r := range found.quarantine {
		if err := t.exec("UPDATE quarantine SET thread = ?, operation = ? WHERE tenant = ? AND id = ?", r.text, r.body, tenant, r.key[0]); err != nil {
			return wrap("rename in quarantine", err)
		}
	}
	for _, r := range found.blocks {
		if err := t.exec("UPDATE blocks SET thread = ?, items = ? WHERE tenant = ? AND hash = ? AND user = ? AND agent = ?",
			append([]any{r.text, r.body, tenant}, r.key...)...); err != nil {
			return wrap("rename in blocks", err)
		}
	}
	for _, r := range found.audits {
		if err := t.exec("UPDATE audit SET entry = ? WHERE n = ?", r.body, r.key[0]); err != nil {
			return wrap("rename in the audit log", err)
		}
	}
	for _, r := range found.operations {
		query, ok := renameOperation[fmt.Sprint(r.key[1])]
		if !ok {
			continue
		}
		if err := t.exec(query, r.body, tenant, r.key[0]); err != nil {
			return wrap("rename in operations", err)
		}
	}
	return nil
}

var renameOperation = map[string]string{
	"args":       "UPDATE operations SET args = ? WHERE tenant = ? AND id = ?",
	"checkpoint": "UPDATE operations SET checkpoint = ? WHERE tenant = ? AND id = ?",
	"result":     "UPDATE operations SET result = ? WHERE tenant = ? AND id = ?",
}
