// Package qdranttest gives tests a real Qdrant server: the one that EVOKE_TEST_QDRANT names, or one of their own where a
// program qdrant is on the PATH.
package qdranttest

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
)

// ServerEnv names a real server's gRPC port, host:port. Tests make and drop collections of their own there.
const ServerEnv = "EVOKE_TEST_QDRANT"

// Server is a real server, started when its address is first asked for. The zero value is ready; call Stop at the end,
// asked for or not.
type Server struct {
	once sync.Once
	addr string
	why  string // there is none
	cmd  *exec.Cmd
	dir  string
}

// Address is the server's gRPC port, host:port. The test is skipped where there is no server, and in a short run.
func (s *Server) Address(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("no real Qdrant under -short; it runs without")
	}
	s.once.Do(s.start)
	if s.why != "" {
		t.Skip("no real Qdrant: " + s.why)
	}
	return s.addr
}

func (s *Server) start() {
	if s.addr = os.Getenv(ServerEnv); s.addr != "" {
		return
	}
	program, err := exec.LookPath("qdrant")
	if err != nil {
		s.why = ServerEnv + " is not set and no program qdrant is on the PATH"
		return
	}
	if s.why = s.launch(program); s.why != "" {
		s.Stop()
	}
}

// launch starts a server on free loopback ports with its storage in a folder of its own; it returns what went wrong.
func (s *Server) launch(program string) string {
	var err error
	if s.dir, err = os.MkdirTemp("", "qdrant-test-"); err != nil {
		return err.Error()
	}
	rest, grpc := freePort(), freePort()
	s.cmd = exec.CommandContext(context.Background(), program, "--disable-telemetry")
	s.cmd.Dir = s.dir
	s.cmd.Env = append(os.Environ(), "QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__HTTP_PORT="+rest, "QDRANT__SERVICE__GRPC_PORT="+grpc,
		"QDRANT__STORAGE__STORAGE_PATH="+filepath.Join(s.dir, "storage"), "QDRANT__STORAGE__SNAPSHOTS_PATH="+filepath.Join(s.dir, "snapshots"),
		"QDRANT__TELEMETRY_DISABLED=true", "QDRANT__LOG_LEVEL=WARN")
	s.cmd.Stdout, s.cmd.Stderr = io.Discard, io.Discard
	if err := s.cmd.Start(); err != nil {
		return err.Error()
	}
	s.addr = "127.0.0.1:" + grpc
	for range 300 {
		if ready("http://127.0.0.1:" + rest + "/readyz") {
			http.DefaultClient.CloseIdleConnections()
			return ""
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "it did not become ready within 30 s"
}

func ready(url string) bool {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Stop ends a server that Address started and removes its storage.
func (s *Server) Stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		gone := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
		_ = s.cmd.Wait()
		gone.Stop()
		s.cmd = nil
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
		s.dir = ""
	}
}

func freePort() string {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// DropAfter drops the collection behind an alias when the test has ended, so that a server that outlives it keeps nothing.
func DropAfter(t testing.TB, addr, alias string) {
	t.Helper()
	t.Cleanup(func() {
		if err := drop(context.Background(), addr, alias); err != nil {
			t.Logf("a collection stays: %v", err)
		}
	})
}

func drop(ctx context.Context, addr, alias string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	client, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: n, SkipCompatibilityCheck: true})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	list, err := client.ListAliases(ctx)
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.GetAliasName() == alias {
			return client.DeleteCollection(ctx, a.GetCollectionName())
		}
	}
	return nil
}
