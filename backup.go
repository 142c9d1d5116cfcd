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
	"os"
	"path/filepath"
	"time"

	"evoke/store"
	"evoke/store/sqlitestore"
)

// BackupFormat is the version of the form of backups that Backup makes.
const BackupFormat = 1

// Files of a backup.
const (
	backupManifest = "manifest.json"
	backupDatabase = "evoke.db"    // the ledger and, with the embedded store, the items
	backupItems    = "items.jsonl" // the items of a store apart
	backupBegun    = "unfinished"  // in a directory that a backup is being made in
)

// BackupManifest says what a backup holds.
type BackupManifest struct {
	Format int          `json:"evoke_backup"`
	Engine string       `json:"engine"` // version of the program that made it
	At     time.Time    `json:"at"`     // all that was acknowledged before is in it
	Apart  bool         `json:"apart"`  // the items were on a server of their own and stand in a file beside the database
	Files  []BackupFile `json:"files"`
}

// BackupFile is a file of a backup.
type BackupFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// BackupDir makes a backup of a data directory with the embedded store into a new directory, whatever process has it open: one
// consistent copy of items, vectors, queue, events, settings and keys. What is acknowledged before the call is in it.
func BackupDir(ctx context.Context, dataDir, to string) (BackupManifest, error) {
	return makeBackup(to, false, func(dir string) error {
		return sqlitestore.SnapshotDir(ctx, dataDir, filepath.Join(dir, backupDatabase))
	})
}

// Backup makes a backup of everything that the engine keeps, of all tenants, into a new directory, while it works. With items in
// a store apart each memory is held while it is copied, its writers wait for so long; vectors are computed anew by a restore.
func (m *Memory) Backup(ctx context.Context, to string) (_ BackupManifest, err error) {
	defer func() { m.audit(ctx, deed("backup", Who{}, err, nil)) }()
	ledger, ok := m.ledger.(interface {
		Snapshot(ctx context.Context, file string) error
	})
	if !ok {
		return BackupManifest{}, store.Invalid("backup", "of a store that can make a copy of itself", "")
	}
	apart := any(m.store) != any(m.ledger)
	return makeBackup(to, apart, func(dir string) error {
		if err := ledger.Snapshot(ctx, filepath.Join(dir, backupDatabase)); err != nil || !apart {
			return err
		}
		return m.backupItems(ctx, filepath.Join(dir, backupItems))
	})
}

// makeBackup has the files made in a directory of another name, which gets its own when all of it is on disk.
func makeBackup(to string, apart bool, fill func(dir string) error) (b BackupManifest, err error) {
	b = BackupManifest{Format: BackupFormat, Engine: Version, At: time.Now().UTC(), Apart: apart}
	if err := emptyOrMissing(to); err != nil {
		return b, err
	}
	if err := outsideOfData(to); err != nil {
		return b, err
	}
	part := filepath.Clean(to) + ".part"
	if err := beginPart(part); err != nil {
		return b, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	if err := fill(part); err != nil {
		return b, fmt.Errorf("backup: %w", err)
	}
	names := []string{backupDatabase}
	if apart {
		names = append(names, backupItems)
	}
	for _, name := range names {
		f, err := sumFile(part, name)
		if err != nil {
			return b, err
		}
		b.Files = append(b.Files, f)
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return b, fmt.Errorf("backup: %w", err)
	}
	if err := writeSynced(filepath.Join(part, backupManifest), append(text, '\n')); err != nil {
		return b, err
	}
	if err := os.Remove(filepath.Join(part, backupBegun)); err != nil {
		return b, fmt.Errorf("backup: %w", err)
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return b, fmt.Errorf("backup: %w", err)
	}
	if err := os.Rename(part, to); err != nil {
		return b, fmt.Errorf("backup: %w", err)
	}
	return b, nil
}

// outsideOfData refuses a place within a data directory, whose files are the store's own.
func outsideOfData(to string) error {
	dir, err := filepath.Abs(to)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if there, err := sqlitestore.HasDatabase(dir); err == nil && there {
			return fmt.Errorf("%w: %s is within the data directory %s: choose a directory outside of it", store.ErrConflict, to, dir)
		}
	}
	return nil
}

// beginPart makes the directory in which a backup is made. One that an interrupted backup left is begun anew; any other that is
// there is somebody's.
func beginPart(part string) error {
	if entries, err := os.ReadDir(part); err == nil && len(entries) > 0 {
		if _, err := os.Lstat(filepath.Join(part, backupBegun)); err != nil {
			return fmt.Errorf("%w: %s, in which the backup would be made, holds something that no backup left: move it away, or choose another directory", store.ErrConflict, part)
		}
		if err := os.RemoveAll(part); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
	}
	if err := os.MkdirAll(part, 0o700); err != nil {
		return fmt.Errorf("%w: backup: %w", store.ErrInvalid, err)
	}
	return writeSynced(filepath.Join(part, backupBegun), nil)
}

// emptyOrMissing refuses a place that holds something.
func emptyOrMissing(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: backup: must be a directory that is not there yet: %w", store.ErrInvalid, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s holds something already: choose another directory", store.ErrConflict, dir)
	}
	return nil
}

func writeSynced(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func sumFile(dir, name string) (BackupFile, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return BackupFile{}, fmt.Errorf("backup: %w", err)
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return BackupFile{}, fmt.Errorf("backup: %w", err)
	}
	return BackupFile{Name: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// CheckBackup reads a backup and fails with store.ErrCorrupt when it is not as it was made.
func CheckBackup(ctx context.Context, dir string) (BackupManifest, error) {
	var b BackupManifest
	text, err := os.ReadFile(filepath.Join(dir, backupManifest))
	if err != nil {
		return b, fmt.Errorf("%w: %s is no complete backup: %w", store.ErrInvalid, dir, err)
	}
	if json.Unmarshal(text, &b) != nil || b.Format < 1 || len(b.Files) == 0 {
		return b, fmt.Errorf("%w: %s is not as it was made", store.ErrCorrupt, filepath.Join(dir, backupManifest))
	}
	if b.Format > BackupFormat {
		return b, fmt.Errorf("%w: the backup is of form %d and this program knows forms up to %d: use the Evoke that made it", store.ErrInvalid, b.Format, BackupFormat)
	}
	there := map[string]bool{}
	for _, want := range b.Files {
		if want.Name != backupDatabase && want.Name != backupItems {
			return b, fmt.Errorf("%w: %s names a file that no backup has", store.ErrCorrupt, filepath.Join(dir, backupManifest))
		}
		got, err := sumFile(dir, want.Name)
		if errors.Is(err, os.ErrNotExist) {
			return b, fmt.Errorf("%w: %s lacks %s", store.ErrCorrupt, dir, want.Name)
		}
		if err != nil {
			return b, err
		}
		if got != want {
			return b, fmt.Errorf("%w: %s is not as it was made: another checksum than in %s", store.ErrCorrupt, filepath.Join(dir, want.Name), backupManifest)
		}
		there[want.Name] = true
	}
	if !there[backupDatabase] || there[backupItems] != b.Apart {
		return b, fmt.Errorf("%w: %s lacks a file", store.ErrCorrupt, dir)
	}
	return b, sqlitestore.CheckFile(ctx, filepath.Join(dir, backupDatabase))
}

// tenantRecord is a line of the items of a backup.
type tenantRecord struct {
	Tenant string `json:"tenant"`
	record
}

// backupItems writes every item of every tenant, memory by memory, in the form of an export. The ledger was copied before: what
// it tells to be done is done in what is written here.
func (m *Memory) backupItems(ctx context.Context, file string) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write items: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	e := newExporter(f)
	if err := e.frame(exportHead{Format: ExportFormat, Engine: Version}); err != nil {
		return err
	}
	err = m.eachScope(ctx, func(sc store.Scope) error {
		unlock, err := m.hold(ctx, sc)
		if err != nil {
			return err
		}
		defer unlock()
		return m.eachItem(ctx, sc, func(it *store.Item) error { return e.item(tenantRecord{sc.Tenant, record{*it, sc.User, sc.Agent}}) })
	})
	if err != nil {
		return err
	}
	s := e.summary()
	if err := e.frame(exportEnd{Format: ExportFormat, Items: s.Items, SHA256: s.SHA256}); err != nil {
		return err
	}
	if err := errors.Join(e.out.Flush(), f.Sync()); err != nil {
		return fmt.Errorf("write items: %w", err)
	}
	return nil
}

// eachScope hands over every memory of every tenant.
func (e *engine) eachScope(ctx context.Context, f func(sc store.Scope) error) error {
	tenants, err := e.store.Tenants(ctx)
	if err != nil {
		return fmt.Errorf("list tenants: %w", err)
	}
	for _, tenant := range tenants {
		scopes, err := e.store.Scopes(ctx, tenant)
		if err != nil {
			return fmt.Errorf("list memories: %w", err)
		}
		for _, sc := range scopes {
			if err := f(sc); err != nil {
				return err
			}
		}
	}
	return nil
}

// backedUp hands over the items of a file that backupItems wrote.
func backedUp(file string, f func(sc store.Scope, it store.Item) error) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read items: %w", err)
	}
	defer in.Close()
	var check exportCheck
	buf := bufio.NewReaderSize(in, 64<<10)
	for line := 1; ; line++ {
		b, _, err := readLine(buf)
		if end := errors.Is(err, io.EOF); end && len(b) == 0 {
			return check.end()
		} else if err != nil && !end {
			return fmt.Errorf("read items: line %d: %w", line, err)
		}
		skip, err := check.line(b)
		if err != nil {
			return fmt.Errorf("read items: line %d: %w", line, err)
		}
		if skip {
			continue
		}
		var r struct {
			tenantRecord
			Sum string `json:"sum"`
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return fmt.Errorf("read items: line %d: %w", line, store.ErrCorrupt)
		}
		if err := f(store.Scope{Tenant: r.Tenant, User: r.User, Agent: r.Agent}, r.Item); err != nil {
			return err
		}
	}
}
