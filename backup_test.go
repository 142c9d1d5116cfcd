package evoke

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/store"
)

// A restored backup is the store as it was: items, vectors, what waits, events, keys, the audit log; only its owner may read
// either.
func TestBackupAndRestore(t *testing.T) {
	dir := t.TempDir()
	o := &Options{Path: filepath.Join(dir, "data"), Embedder: &bagEmbedder{}}
	m := open(t, o)
	everySort(t, m)
	settle(t, m)
	who := Who{User: "zoe", Thread: "t"}
	said, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I live in Porto", "Noted"), IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.CreateKey(t.Context(), KeyRequest{Name: "ci", Role: "read"}); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	want, err := m.Checksum(t.Context(), Who{})
	if err != nil {
		t.Fatal(err)
	}
	items, with := embedded(t, m)
	b, err := m.Backup(t.Context(), filepath.Join(dir, "backup"))
	if err != nil || b.Apart || len(b.Files) != 1 || b.Engine != Version {
		t.Fatalf("%+v, %v", b, err)
	}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "came later"}); err != nil {
		t.Fatal(err)
	}
	if _, err := BackupDir(t.Context(), o.Path, filepath.Join(dir, "backup2")); err != nil { // by another process, as it were
		t.Fatal(err)
	}
	res, err := RestoreBackup(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "new"), nil)
	if err != nil || res.Items != want.Items || res.Erased != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	onlyOwners(t, filepath.Join(dir, "backup"), filepath.Join(dir, "new"))
	re := open(t, &Options{Path: filepath.Join(dir, "new"), Embedder: &bagEmbedder{}})
	if got, err := re.Checksum(t.Context(), Who{}); err != nil || got != want {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	if n, k := embedded(t, re); n != items || k != with {
		t.Errorf("%d of %d with vectors, were %d of %d", k, n, with, items)
	}
	if ev, err := re.Event(t.Context(), said.EventID, 0); err != nil || ev.State != store.EventPending {
		t.Errorf("%+v, %v", ev, err)
	}
	again, err := re.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I live in Porto", "Noted"), IdempotencyKey: "k"})
	if err != nil || again.EventID != said.EventID {
		t.Errorf("sent again: %+v, %v", again, err)
	}
	if keys, err := re.Keys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("keys: %+v, %v", keys, err)
	}
	if log, err := m.Audit(t.Context(), AuditRequest{Verb: "backup"}); err != nil || len(log.Entries) != 1 {
		t.Errorf("audit: %+v, %v", log, err)
	}
}

// onlyOwners looks at the modes of all files and directories.
func onlyOwners(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A backup that is not as it was made is refused before anything is written, and so is a place that holds something.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	m := open(t, &Options{Path: filepath.Join(dir, "data")})
	if _, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u"}, Content: "a thing"}); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(dir, "backup")
	if _, err := m.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Backup(t.Context(), backup); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over another backup: %v", err)
	}
	if _, err := RestoreBackup(t.Context(), backup, filepath.Join(dir, "data"), nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over a store: %v", err)
	}
	change := func(file string, f func([]byte) []byte) func(dir string) error {
		return func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, file), f(text), 0o600)
		}
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  error
	}{
		"one bit":      {change("evoke.db", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), store.ErrCorrupt},
		"cut":          {change("evoke.db", func(b []byte) []byte { return b[:len(b)-4096] }), store.ErrCorrupt},
		"no database":  {func(dir string) error { return os.Remove(filepath.Join(dir, "evoke.db")) }, store.ErrCorrupt},
		"no manifest":  {func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) }, store.ErrInvalid},
		"bad manifest": {change("manifest.json", func([]byte) []byte { return []byte("{") }), store.ErrCorrupt},
		"another file": {change("manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), "evoke.db", "../evoke.db", 1)) }), store.ErrCorrupt},
		"newer": {change("manifest.json", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"evoke_backup": 1`, `"evoke_backup": 2`, 1))
		}), store.ErrInvalid},
	} {
		copied, target := filepath.Join(dir, "copy"), filepath.Join(dir, "target")
		if err := errors.Join(os.RemoveAll(copied), os.CopyFS(copied, os.DirFS(backup)), c.spoil(copied)); err != nil {
			t.Fatal(err)
		}
		if _, err := RestoreBackup(t.Context(), copied, target, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was written", name)
		}
	}
	if _, err := BackupDir(t.Context(), filepath.Join(dir, "nothing"), filepath.Join(dir, "b")); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("of no store: %v", err)
	}
}

// What was erased after the backup does not come back with it, where the store in which it was erased is still there; neither
// does what rested on it.
func TestErasedThingsDoNotReturnFromABackup(t *testing.T) {
	oneByOne(t)
	dir := t.TempDir()
	m := open(t, &Options{Path: filepath.Join(dir, "data")})
	for _, user := range []string{"ann", "bob"} {
		w := Who{User: user, Thread: "t"}
		if _, err := m.Ingest(t.Context(), IngestRequest{Who: w, Messages: chat("I live in "+user+"ville and keep bees", "Noted")}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	backup := filepath.Join(dir, "backup")
	if _, err := m.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	kept, err := m.Checksum(t.Context(), Who{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := RestoreBackup(t.Context(), backup, filepath.Join(dir, "new"), &RestoreBackupOptions{ErasedIn: filepath.Join(dir, "data")})
	if err != nil || res.Erased < 2 || res.Items != kept.Items {
		t.Fatalf("%+v, %v; %d are kept", res, err, kept.Items)
	}
	re := open(t, &Options{Path: filepath.Join(dir, "new")})
	if got, err := re.Checksum(t.Context(), Who{}); err != nil || got != kept {
		t.Errorf("%+v, want %+v, %v", got, kept, err)
	}
	if _, err := RestoreBackup(t.Context(), backup, filepath.Join(dir, "new2"), &RestoreBackupOptions{ErasedIn: filepath.Join(dir, "nowhere")}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("with no store in which something was erased: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new2", restoring)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused restore left something: %v", err)
	}
}

// The files of a restored store hold nothing of what was erased since the backup.
func TestRestoredFilesHoldNothingErased(t *testing.T) {
	oneByOne(t)
	dir := t.TempDir()
	m := open(t, &Options{Path: filepath.Join(dir, "data")})
	for i := range 40 {
		for _, user := range []string{"ann", "bob"} {
			if _, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: user, Thread: "t"}, Content: fmt.Sprintf("%s keeps the giraffe%s number %d by the river", user, user, i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := m.Backup(t.Context(), filepath.Join(dir, "backup")); err != nil {
		t.Fatal(err)
	}
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err == nil {
		op, err = m.WaitOperation(t.Context(), op.ID)
	}
	if err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	res, err := RestoreBackup(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "new"), &RestoreBackupOptions{ErasedIn: filepath.Join(dir, "data")})
	if err != nil || res.Erased != 40 {
		t.Fatalf("%+v, %v", res, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "new", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	bobs := false
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bobs = bobs || strings.Contains(string(text), "giraffebob")
		if strings.Contains(string(text), "giraffeann") {
			t.Errorf("%s holds what was erased", name)
		}
	}
	if !bobs {
		t.Error("what was not erased is not found in the files either")
	}
}

// A backup takes away nothing that no backup made, and is not put into a data directory.
func TestBackupKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	open(t, &Options{Path: data})
	to, own := filepath.Join(dir, "backup"), filepath.Join(dir, "backup.part", "own.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(own), 0o700), os.WriteFile(own, []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := BackupDir(t.Context(), data, to); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over somebody's directory: %v", err)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(own), backupBegun), nil, 0o600); err != nil { // as an interrupted one leaves
		t.Fatal(err)
	}
	if _, err := BackupDir(t.Context(), data, to); err != nil {
		t.Error(err)
	}
	for _, inside := range []string{"backup", "a/b"} {
		if _, err := BackupDir(t.Context(), data, filepath.Join(data, inside)); !errors.Is(err, store.ErrConflict) {
			t.Errorf("in the data directory: %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(to, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("the backup holds %v, %v", left, err)
	}
}

const backupChild = "EVOKE_TEST_BACKUP_CHILD"

// TestBackupChild writes until it is killed, or makes one backup.
func TestBackupChild(t *testing.T) {
	dir := os.Getenv(backupChild)
	if dir == "" {
		t.Log("run by TestBackupOfALiveStore only")
		return
	}
	if to := os.Getenv(backupChild + "_TO"); to != "" {
		say("begins\n")
		if _, err := BackupDir(t.Context(), dir, to); err != nil {
			t.Fatal(err)
		}
		return
	}
	run, _ := strconv.Atoi(os.Getenv(backupChild + "_RUN"))
	m, err := Open(t.Context(), &Options{Path: dir, Embedder: &bagEmbedder{}})
	if err != nil {
		t.Fatal(err)
	}
	say("opened\n")
	var writing sync.WaitGroup
	for thread := range 3 {
		writing.Go(func() {
			for i := 0; ; i++ {
				res, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: fmt.Sprint("u", thread), Thread: "t"},
					Messages: chat(fmt.Sprintf("I like dish%d-%d-%d %s", run, thread, i, strings.Repeat("very ", 200)), "Noted")})
				if err != nil {
					say("FAIL %v\n", err)
					return
				}
				say("acked %d %s\n", thread, res.Turns[0].ID)
			}
		})
	}
	writing.Wait()
}

// TestBackupOfALiveStore makes backups while another process writes, and kills the writer, or the backup, in the middle. Every
// complete backup is sound and holds all that was acknowledged before it began; a killed one leaves none.
func TestBackupOfALiveStore(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	if os.Getenv("EVOKE_SOAK") != "" {
		rounds = 100
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	acked, checked, cut := map[string]string{}, 0, 0
	var mu sync.Mutex
	for run := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBackupChild$", "-test.v")
		cmd.Env = append(os.Environ(), backupChild+"="+data, fmt.Sprintf("%s_RUN=%d", backupChild, run))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var thread int
				var id string
				if strings.Contains(lines.Text(), "FAIL") {
					t.Error(lines.Text())
				}
				if n, _ := fmt.Sscanf(lines.Text(), "acked %d %s", &thread, &id); n == 2 {
					mu.Lock()
					acked[id] = fmt.Sprint("u", thread)
					mu.Unlock()
				}
			}
		}()
		before := func() int { mu.Lock(); defer mu.Unlock(); return len(acked) }
		for start := before(); before() < start+20; {
			select {
			case <-heard:
				t.Fatal("the writer ended")
			case <-time.After(5 * time.Millisecond):
			}
		}
		mu.Lock()
		known := make(map[string]string, len(acked))
		for id, user := range acked {
			known[id] = user
		}
		mu.Unlock()
		to := filepath.Join(dir, fmt.Sprint("backup", run))
		if run%3 == 2 { // the backup itself is killed
			if !killBackup(t, data, to, time.Duration(run%7)*2*time.Millisecond) {
				cut++
				if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a killed backup left %s", to)
				}
			}
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
		}
		if run%2 == 1 { // the writer dies in the middle
			time.AfterFunc(time.Duration(run%5)*3*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		if _, err := BackupDir(t.Context(), data, to); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Kill()
		<-heard
		_ = cmd.Wait()
		checked += len(known)
		holdsAll(t, to, filepath.Join(dir, fmt.Sprint("new", run)), known)
	}
	t.Logf("soak: backup of a live store | %d backups while three writers wrote and were killed, %d backups killed, %d acknowledged turns looked for, none missing", rounds, cut, checked)
}

// killBackup begins a backup and kills it; it tells whether it was complete before.
func killBackup(t *testing.T, data, to string, after time.Duration) (complete bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBackupChild$", "-test.v")
	cmd.Env = append(os.Environ(), backupChild+"="+data, backupChild+"_TO="+to)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "begins") {
			break
		}
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_, err = os.Stat(filepath.Join(to, backupManifest))
	return err == nil
}
