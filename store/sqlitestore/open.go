package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // the database driver

	"evoke/store"
)

// DB is an open data directory. Its methods may be called from several goroutines.
type DB struct {
	opts  Options
	log   *slog.Logger
	dir   string   // "" in memory
	lock  *os.File // nil in memory
	read  *sql.DB
	write *sql.DB
	w     *writer
	// memory is the lock of an in-memory database, whose readers and writer share pages; nil for a file.
	memory *sync.RWMutex
	cache  *indexCache
	scopes sync.Map // store.Scope → int64, committed ones only

	closing sync.Mutex // guards closed against inUse.Add
	closed  bool
	inUse   sync.WaitGroup
}

// DB is both ports and the joint one.
var (
	_ store.Store  = (*DB)(nil)
	_ store.Ledger = (*DB)(nil)
	_ store.Joint  = (*DB)(nil)
)

// Memory as the directory of Open means a database that lives in memory and ends with Close.
const Memory = ":memory:"

// Open opens or creates the database of a data directory. It fails with store.ErrLocked while another process holds the
// directory, store.ErrCorrupt for a damaged database and store.ErrInvalid for one that a newer program or something
// else wrote; none of these is changed.
func Open(ctx context.Context, dir string, opts *Options) (*DB, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	if dir == Memory {
		return openMemory(ctx, o, ms)
	}
	return openDir(ctx, dir, o, ms)
}

// OpenMemory opens a new, empty database in memory: the same code without a file.
func OpenMemory(ctx context.Context, opts *Options) (*DB, error) { return Open(ctx, Memory, opts) }

func openMemory(ctx context.Context, o Options, ms []migration) (*DB, error) {
	db := &DB{opts: o, log: o.Logger, memory: new(sync.RWMutex)}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("name the database: %w", err)
	}
	name := "file:/evoke-" + id.String() + "?vfs=memdb"
	if err := db.connect(ctx, name, ms); err != nil {
		return nil, err
	}
	return db, nil
}

func openDir(ctx context.Context, dir string, o Options, ms []migration) (_ *DB, err error) {
	if dir == "" {
		return nil, store.Invalid("store.path", "a directory, or "+Memory, "nothing")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: store.path: must be a directory that is there or can be made: %w", store.ErrInvalid, err)
	}
	db := &DB{opts: o, log: o.Logger, dir: dir}
	if db.lock, err = lockDir(ctx, dir, o.LockWait); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			db.lock.Close()
		}
	}()
	exists, err := inspectHeader(dir)
	if err != nil {
		return nil, err
	}
	if exists {
		err = inspectPages(ctx, dir, len(ms))
	} else {
		err = create(ctx, dir, ms)
	}
	if err != nil {
		return nil, err
	}
	if err := db.connect(ctx, dsn(filepath.Join(dir, dbName)), ms); err != nil {
		return nil, err
	}
	return db, nil
}

// create makes a complete database under another name and renames it, so that a file called evoke.db was always
// complete once and an empty one is known for damaged.
func create(ctx context.Context, dir string, ms []migration) error {
	file := filepath.Join(dir, newName)
	for _, leftover := range []string{file, file + "-journal", file + "-wal", file + "-shm"} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove an unfinished database: %w", err)
		}
	}
	if err := build(ctx, file, ms); err != nil {
		return err
	}
	if err := os.Rename(file, filepath.Join(dir, dbName)); err != nil {
		return fmt.Errorf("name the new database: %w", err)
	}
	return syncDir(dir)
}

func build(ctx context.Context, file string, ms []migration) (err error) {
	db, err := sql.Open("sqlite", dsn(file, "_pragma=synchronous(FULL)"))
	if err != nil {
		return wrap("create database", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return wrap("create database", err)
	}
	defer conn.Close()
	if err := migrate(ctx, conn, ms); err != nil {
		return err
	}
	return os.Chmod(file, 0o600)
}

// connect opens the connections of a database that is known to be sound, and starts the writer.
func (db *DB) connect(ctx context.Context, name string, ms []migration) (err error) {
	sep := "&"
	if name[len(name)-1] == '?' {
		sep = ""
	}
	level := "FULL"
	if db.opts.Durability == Normal {
		level = "NORMAL"
	}
	name += sep + "_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=secure_delete(ON)&_pragma=synchronous(" + level + ")&_txlock=immediate&_dqs=0"
	if db.memory == nil {
		name += "&_pragma=journal_mode(WAL)"
	}
	// The writer's own journals of statements stay in memory: there may be no directory for temporary files.
	if db.write, err = sql.Open("sqlite", name+"&_pragma=cache_size(-16000)&_pragma=temp_store(MEMORY)"); err != nil {
		return wrap("open database", err)
	}
	if db.read, err = sql.Open("sqlite", name+"&_pragma=query_only(1)&_pragma=cache_size(-8000)"); err != nil {
		return wrap("open database", err)
	}
	defer func() {
		if err != nil {
			db.read.Close()
			db.write.Close()
		}
	}()
	db.write.SetMaxOpenConns(1)
	db.read.SetMaxOpenConns(db.opts.Readers)
	db.read.SetMaxIdleConns(db.opts.Readers)
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return wrap("open database", err)
	}
	if err = migrate(ctx, conn, ms); err == nil {
		err = freeLeases(ctx, conn)
	}
	if err != nil {
		conn.Close()
		return err
	}
	db.cache = newIndexCache(db.opts.IndexBytes)
	db.w = newWriter(conn, db.memory) //nolint:contextcheck // the writer outlives Open; Close ends it
	return nil
}

// freeLeases gives back jobs that a process held when it ended: the directory's lock says that it did end.
func freeLeases(ctx context.Context, conn *sql.Conn) error {
	var held bool
	if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM jobs WHERE lease <> '')").Scan(&held); err != nil {
		return wrap("read leases", err)
	}
	if !held {
		return nil
	}
	_, err := conn.ExecContext(ctx, "UPDATE jobs SET lease = '', leased = 0, lease_until = ?", noTime)
	return wrap("free leases", err)
}

// enter begins a call: it fails when the context is done or the store is closed. leave ends it.
func (db *DB) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.closing.Lock()
	defer db.closing.Unlock()
	if db.closed {
		return store.ErrClosed
	}
	db.inUse.Add(1)
	return nil
}

func (db *DB) leave() { db.inUse.Done() }

// Close waits for calls that are under way, ends the writer and gives the directory back. Further calls, also of Close,
// are harmless.
func (db *DB) Close() error {
	db.closing.Lock()
	if db.closed {
		db.closing.Unlock()
		return nil
	}
	db.closed = true
	db.closing.Unlock()
	db.inUse.Wait()
	db.cache.wait()
	err := errors.Join(db.w.close(), db.read.Close(), db.write.Close())
	if db.lock != nil {
		err = errors.Join(err, db.lock.Close())
	}
	return wrap("close", err)
}
