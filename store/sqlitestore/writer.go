package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// maxBatch is how many writes one transaction takes at most.
const maxBatch = 128

// request is one write that waits for its turn.
type request struct {
	run   func(*tx) error
	alone func(*sql.Conn) error // instead of run: outside of any transaction
	state atomic.Int32          // waiting → running or withdrawn
	done  chan error
}

const (
	waiting int32 = iota
	running
	withdrawn
)

// writer owns the only connection that writes. Requests that arrive while it commits share its next transaction.
type writer struct {
	conn   *sql.Conn
	memory *sync.RWMutex
	stmts  map[string]*sql.Stmt
	queue  chan *request
	ended  chan struct{}
	erased bool // items were deleted whose text the log may still hold; used by the loop alone
}

// scrubAfter is how long after a deletion the log is emptied: deletions that follow each other share it.
const scrubAfter = time.Second

func newWriter(conn *sql.Conn, memory *sync.RWMutex) *writer {
	w := &writer{conn: conn, memory: memory, stmts: map[string]*sql.Stmt{}, queue: make(chan *request, maxBatch), ended: make(chan struct{})}
	go w.loop()
	return w
}

// do runs a write and returns after it was committed, and after what tx.after asked for was done. With a done context
// it returns early only when the write had not begun and never will.
func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	return w.ask(ctx, &request{run: run, done: make(chan error, 1)})
}

// alone is do for what cannot be done within a transaction.
func (w *writer) alone(ctx context.Context, run func(*sql.Conn) error) error {
	return w.ask(ctx, &request{alone: run, done: make(chan error, 1)})
}

func (w *writer) ask(ctx context.Context, r *request) error {
	select {
	case w.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		return <-r.done
	}
}

// close ends the loop. No call of do may be under way or follow.
func (w *writer) close() error {
	close(w.queue)
	<-w.ended
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) loop() {
	defer close(w.ended)
	for {
		first, ok := w.next()
		if !ok {
			return
		}
		batch := w.runAlone(w.collect(first))
		if len(batch) > 0 && !w.commit(batch) {
			// The shared transaction broke: each write tries alone, so that only the guilty one fails.
			for _, r := range batch {
				w.commit([]*request{r})
			}
		}
	}
}

// runAlone does what cannot be done within a transaction, and returns the rest of a batch.
func (w *writer) runAlone(batch []*request) []*request {
	return slices.DeleteFunc(batch, func(r *request) bool {
		if r.alone != nil {
			r.done <- r.alone(w.conn)
		}
		return r.alone != nil
	})
}

// next waits for a request, and empties the log meanwhile when deleted text may be in it.
func (w *writer) next() (*request, bool) {
	for w.erased && w.memory == nil {
		pause := time.NewTimer(scrubAfter)
		select {
		case r, ok := <-w.queue:
			pause.Stop()
			return r, ok
		case <-pause.C:
			w.scrub()
		}
	}
	r, ok := <-w.queue
	return r, ok
}

// scrub moves the log into the database, where secure_delete has overwritten what was deleted, and cuts it to nothing.
// While a reader still needs the log it does not wait: it is tried again.
func (w *writer) scrub() {
	var busy, frames, moved int
	ctx := context.Background()
	_, _ = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	err := w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	_, _ = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 10000")
	w.erased = err != nil || busy != 0
}

// collect takes the requests that wait now.
func (w *writer) collect(first *request) []*request {
	var batch []*request
	take := func(r *request) {
		if r.state.CompareAndSwap(waiting, running) {
			batch = append(batch, r)
		}
	}
	take(first)
	for len(batch) < maxBatch {
		select {
		case r, ok := <-w.queue:
			if !ok {
				return batch
			}
			take(r)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction and answers its requests. It returns false, and answers nobody, when a batch
// of several failed as a whole.
func (w *writer) commit(batch []*request) bool {
	t := &tx{w: w, ctx: context.Background()}
	errs, err := w.transact(t, batch)
	if err != nil && len(batch) > 1 {
		return false
	}
	if err == nil {
		for _, f := range t.afters {
			f()
		}
	}
	for i, r := range batch {
		if err != nil {
			r.done <- err
			continue
		}
		r.done <- errs[i]
	}
	return true
}

// transact returns each request's error, or the error that undid all of them.
func (w *writer) transact(t *tx, batch []*request) (_ []error, err error) {
	if w.memory != nil {
		w.memory.Lock()
		defer w.memory.Unlock()
	}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, wrap("begin", err)
	}
	defer func() {
		if err != nil {
			// Fails when SQLite has rolled back by itself, which is as good.
			_ = t.exec("ROLLBACK")
		}
	}()
	errs := make([]error, len(batch))
	for i, r := range batch {
		if errs[i], err = t.savepoint(r.run); err != nil {
			return nil, err
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		return nil, wrap("commit", err)
	}
	return errs, nil
}

// tx is the transaction that a write runs in.
type tx struct {
	w      *writer
	ctx    context.Context // never done: a write that has begun is finished
	afters []func()
}

// savepoint runs one write so that its failure undoes nothing else. broken is set when the transaction is lost.
func (t *tx) savepoint(run func(*tx) error) (failed, broken error) {
	if err := t.exec("SAVEPOINT one"); err != nil {
		return nil, wrap("begin", err)
	}
	n := len(t.afters)
	if failed = run(t); failed == nil {
		return nil, wrap("end", t.exec("RELEASE one"))
	}
	t.afters = t.afters[:n]
	if code := primary(failed); code != 0 && code != sqlite3.SQLITE_CONSTRAINT {
		return nil, wrap("write", failed) // of the file, not of this write: SQLite may have given up the transaction
	}
	if err := t.exec("ROLLBACK TO one"); err != nil {
		return nil, wrap("undo", errors.Join(failed, err))
	}
	return failed, wrap("undo", t.exec("RELEASE one"))
}

// after has f called when the transaction has been committed, before the write is acknowledged.
func (t *tx) after(f func()) { t.afters = append(t.afters, f) }

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[query]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	t.w.stmts[query] = s
	return s, nil
}

// exec runs a statement. Queries are constants of this package: their number is bounded.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.execN(query, args...)
	return err
}

// execN runs a statement and returns how many rows it changed.
func (t *tx) execN(query string, args ...any) (int, error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps it and closes it
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("run: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("rows affected: %w", err)
	}
	return int(n), nil
}

// get reads one row into dest; sql.ErrNoRows when there is none.
func (t *tx) get(query string, args []any, dest ...any) error {
	s, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps it and closes it
	if err != nil {
		return err
	}
	if err := s.QueryRowContext(t.ctx, args...).Scan(dest...); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}
