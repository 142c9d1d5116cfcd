package evoke

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"evoke/extract"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// RestoreBackupOptions say where a backup goes. The zero value is for one of an embedded store.
type RestoreBackupOptions struct {
	// Items is the store that takes the items of a backup whose items were apart; it must hold none. Required for such a one,
	// nil for any other.
	Items store.Store
	// ErasedIn is the data directory of the installation that the backup is of, where it still exists: what was erased there
	// since the backup was made is not restored. "": nothing is known of it.
	ErasedIn string
	Limits   store.Limits
	Logger   *slog.Logger // nil: silent
}

// BackupRestored says what a restore brought back.
type BackupRestored struct {
	Backup BackupManifest `json:"backup"`
	Items  int            `json:"items"`
	Erased int            `json:"erased"` // that were in the backup, had been erased since and did not come back
}

// restoring is the directory, in the target, in which a restore works until it is complete.
const restoring = "restoring"

// RestoreBackup brings a backup back into a new data directory, and its items into an empty store where they were apart. It checks
// the backup first and fails with store.ErrConflict for a target that holds something. What it was interrupted in is begun anew
// by the next.
func RestoreBackup(ctx context.Context, from, dataDir string, opts *RestoreBackupOptions) (BackupRestored, error) {
	var o RestoreBackupOptions
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	res := BackupRestored{}
	b, err := CheckBackup(ctx, from)
	if err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	if res.Backup = b; b.Apart != (o.Items != nil) {
		return res, store.Invalid("restore", "into a store of the kind that the backup is of: its items were "+map[bool]string{true: "on a server (store.url)", false: "in the data directory (no store.url)"}[b.Apart], "")
	}
	work := filepath.Join(dataDir, restoring)
	_, cannot := os.Stat(work)
	interrupted := cannot == nil
	if err := emptyTarget(ctx, dataDir, &o, interrupted); err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	if err := os.RemoveAll(work); err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	if err := sqlitestore.PlaceFile(filepath.Join(from, backupDatabase), work); err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	if begun, err := res.fill(ctx, from, work, &o); err != nil {
		if !begun && !interrupted { // else it tells the next that the items in the store are a restore's
			err = errors.Join(err, os.RemoveAll(work))
		}
		return res, fmt.Errorf("restore: %w", err)
	}
	if err := sqlitestore.MoveDatabase(work, dataDir); err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	if err := os.RemoveAll(work); err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	return res, nil
}

// emptyTarget refuses one that holds something, but what an interrupted restore put there.
func emptyTarget(ctx context.Context, dataDir string, o *RestoreBackupOptions, interrupted bool) error {
	there, err := sqlitestore.HasDatabase(dataDir)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%w: %s holds a database: choose a new directory (--store), or move that one away", store.ErrConflict, dataDir)
	}
	if o.Items == nil || interrupted {
		return nil
	}
	tenants, err := o.Items.Tenants(ctx)
	if err != nil {
		return fmt.Errorf("look at the items' store: %w", err)
	}
	if len(tenants) > 0 {
		return fmt.Errorf("%w: the items' store holds memories: choose another collection (store.collection)", store.ErrConflict)
	}
	return nil
}

// fill makes the database in the working directory complete: brought to the schema of this program, without what was erased since
// and, where the items are apart, with all of them stored and waiting for their vectors. It tells whether items may have come into a
// store apart.
func (r *BackupRestored) fill(ctx context.Context, from, work string, o *RestoreBackupOptions) (begun bool, err error) {
	db, err := sqlitestore.Open(ctx, work, &sqlitestore.Options{Limits: o.Limits, Logger: o.Logger})
	if err != nil {
		return begun, err
	}
	if o.ErasedIn != "" {
		if err := db.Close(); err != nil {
			return begun, err
		}
		if _, err := sqlitestore.TakeErasures(ctx, o.ErasedIn, work); err != nil {
			return begun, err
		}
		if db, err = sqlitestore.Open(ctx, work, &sqlitestore.Options{Limits: o.Limits, Logger: o.Logger}); err != nil {
			return begun, err
		}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// An engine without anything that works by itself: conversations that wait go on when the store is opened.
	e := &engine{store: db, ledger: db, limits: o.Limits.WithDefaults(), clock: time.Now, events: &Events{}, locks: new(extract.Locks), log: o.Logger}
	if o.Items != nil {
		e.store, begun = o.Items, true
		if err := e.loadItems(ctx, filepath.Join(from, backupItems)); err != nil {
			return begun, err
		}
	}
	err = e.eachScope(ctx, func(sc store.Scope) error {
		m := &Memory{engine: e, tenant: sc.Tenant}
		erased, err := m.sweepErased(ctx, sc)
		if err != nil {
			return err
		}
		r.Erased += erased
		return e.eachItem(ctx, sc, func(*store.Item) error { r.Items++; return nil })
	})
	if err != nil || o.ErasedIn == "" {
		return begun, err
	}
	return begun, scrub(ctx, db, true) // the file of the backup held what was erased, and unused space would go on to
}

// loadItems stores the items of a backup, has them wait for their vectors and lets conversations go on behind their last turn:
// the items were copied after the ledger. Writes that the ledger tells to be done are done in them.
func (e *engine) loadItems(ctx context.Context, file string) error {
	var at store.Scope
	var batch []store.Item
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := e.store.Apply(ctx, at, store.Change{Put: batch}); err != nil {
			return fmt.Errorf("store items: %w", err)
		}
		w := e.newWrite(at)
		for i := range batch {
			if !batch[i].IsProfile() {
				w.Embed = append(w.Embed, batch[i].ID)
			}
		}
		if err := e.ledger.Record(ctx, w); err != nil {
			return fmt.Errorf("enter items: %w", err)
		}
		imp := &importer{m: &Memory{engine: e, tenant: at.Tenant}, ctx: ctx}
		err := imp.continueThreads(at, batch, false)
		batch, size = nil, 0
		return err
	}
	unapplied, err := e.ledger.Unapplied(ctx)
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	pending := map[store.Scope][]string{}
	for i := range unapplied {
		pending[unapplied[i].Scope] = append(pending[unapplied[i].Scope], unapplied[i].ID)
	}
	done := func(sc store.Scope) error {
		for _, id := range pending[sc] {
			if err := e.ledger.Applied(ctx, id); err != nil {
				return fmt.Errorf("close intent: %w", err)
			}
		}
		delete(pending, sc)
		return nil
	}
	err = backedUp(file, func(sc store.Scope, it store.Item) error {
		if err := done(sc); err != nil {
			return err
		}
		if sc != at || len(batch) >= importBatch || size >= importBytes {
			if err := flush(); err != nil {
				return err
			}
			at = sc
		}
		batch, size = append(batch, it), size+len(it.Content)
		return nil
	})
	return errors.Join(err, flush())
}

// sweepErased removes what was erased after the backup was made.
func (m *Memory) sweepErased(ctx context.Context, sc store.Scope) (n int, err error) {
	var gone, page []store.Item
	look := func() error {
		erased, err := m.erasedImports(ctx, sc, page, m.now())
		if err != nil {
			return err
		}
		for i := range page {
			if erased[i] {
				gone = append(gone, page[i])
			}
		}
		page = page[:0]
		return nil
	}
	err = m.eachItem(ctx, sc, func(it *store.Item) error {
		if page = append(page, *it); len(page) < pageItems {
			return nil
		}
		return look()
	})
	if err = errors.Join(err, look()); err != nil || len(gone) == 0 {
		return 0, err
	}
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return 0, err
	}
	defer unlock()
	r, err := m.planRemoval(ctx, sc, gone, removing{by: "restore", facts: true, strict: true})
	if err != nil {
		return 0, err
	}
	if _, err := m.remove(ctx, r); err != nil {
		return 0, err
	}
	return len(r.gone), nil
}
