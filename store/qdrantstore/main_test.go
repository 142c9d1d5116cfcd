package qdrantstore

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/store"
	"evoke/store/qdrantstore/internal/standin"
	"evoke/store/sqlitestore"
	"evoke/store/storetest"
)

// serverEnv names a real server's gRPC port, host:port. The tests make and drop collections of their own there.
const serverEnv = "EVOKE_TEST_QDRANT"

func TestMain(m *testing.M) {
	code := m.Run()
	live.stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// live is the real server of this run, started when first asked for.
var live realServer

type realServer struct {
	once sync.Once
	addr string
	why  string // there is none
	cmd  *exec.Cmd
	dir  string
}

func (r *realServer) address(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("no real Qdrant in a short run")
	}
	r.once.Do(r.start)
	if r.why != "" {
		t.Skip("no real Qdrant: " + r.why)
	}
	return r.addr
}

func (r *realServer) start() {
	if r.addr = os.Getenv(serverEnv); r.addr != "" {
		return
	}
	program, err := exec.LookPath("qdrant")
	if err != nil {
		r.why = serverEnv + " is not set and no program qdrant is on the PATH"
		return
	}
	if r.why = r.launch(program); r.why != "" {
		r.stop()
	}
}

// launch starts a server on free loopback ports with its storage in a folder of its own; it returns what went wrong.
func (r *realServer) launch(program string) string {
	var err error
	if r.dir, err = os.MkdirTemp("", "qdrant-test-"); err != nil {
		return err.Error()
	}
	rest, grpc := freePort(), freePort()
	r.cmd = exec.Command(program, "--disable-telemetry")
	r.cmd.Dir = r.dir
	r.cmd.Env = append(os.Environ(), "QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__HTTP_PORT="+rest, "QDRANT__SERVICE__GRPC_PORT="+grpc,
		"QDRANT__STORAGE__STORAGE_PATH="+filepath.Join(r.dir, "storage"), "QDRANT__STORAGE__SNAPSHOTS_PATH="+filepath.Join(r.dir, "snapshots"),
		"QDRANT__TELEMETRY_DISABLED=true", "QDRANT__LOG_LEVEL=WARN")
	r.cmd.Stdout, r.cmd.Stderr = io.Discard, io.Discard
	if err := r.cmd.Start(); err != nil {
		return err.Error()
	}
	r.addr = "127.0.0.1:" + grpc
	for range 300 {
		if resp, err := http.Get("http://127.0.0.1:" + rest + "/readyz"); err == nil {
			ok := resp.StatusCode == http.StatusOK
			_ = resp.Body.Close()
			if ok {
				http.DefaultClient.CloseIdleConnections()
				return ""
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "it did not become ready within 30 s"
}

func (r *realServer) stop() {
	if r.cmd != nil && r.cmd.Process != nil {
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		gone := time.AfterFunc(10*time.Second, func() { _ = r.cmd.Process.Kill() })
		_ = r.cmd.Wait()
		gone.Stop()
		r.cmd = nil
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
		r.dir = ""
	}
}

func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func startStandin(t *testing.T) *standin.Server {
	t.Helper()
	s, err := standin.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// names makes collections that no two tests share.
var names atomic.Int64

func openAt(t *testing.T, addr string, change func(*Options)) *DB {
	t.Helper()
	o := &Options{URL: "qdrant://" + addr, Collection: fmt.Sprintf("test_%d_%d", os.Getpid(), names.Add(1)), Timeout: 30 * time.Second}
	if change != nil {
		change(o)
	}
	db, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discard(t, o) })
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// discard drops the collection behind an alias, so that a server that outlives the tests keeps nothing of them.
func discard(t *testing.T, o *Options) {
	t.Helper()
	set, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, set)
	ctx := context.Background()
	list, err := client.ListAliases(ctx)
	if err != nil {
		t.Logf("collections stay: %v", err)
		return
	}
	for _, a := range list {
		if a.GetAliasName() == set.Collection {
			if err := client.DeleteCollection(ctx, a.GetCollectionName()); err != nil {
				t.Logf("a collection stays: %v", err)
			}
		}
	}
}

// servers are where the suites run.
func servers(t *testing.T, f func(*testing.T, string)) {
	t.Run("standin", func(t *testing.T) { f(t, startStandin(t).Addr()) })
	t.Run("real", func(t *testing.T) { f(t, live.address(t)) })
}

func TestStore(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		storetest.RunStore(t, func(t *testing.T) store.Store { return openAt(t, addr, nil) })
	})
}

// TestCommit: with the ledger in SQLite, as a node has it.
func TestCommit(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		storetest.RunCommit(t, func(t *testing.T) (store.Store, store.Ledger) {
			l, err := sqlitestore.Open(context.Background(), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return openAt(t, addr, nil), l
		})
	})
}
