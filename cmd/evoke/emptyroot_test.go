//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	emptyRoot    = "EVOKE_TEST_EMPTY_ROOT"
	unprivileged = 65532 // the user of the image
)

// TestEmptyRoot runs the static binary as a container would have it at its barest: nothing but the binary in a read-only root,
// one directory to write to, no network but the loopback, no /tmp, no users, certificates, time zones or devices, a user without
// privileges. It stores and recalls, from the command line and as a server, which stops when told to; what is wrong with a
// volume or a port is said.
func TestEmptyRoot(t *testing.T) {
	if testing.Short() {
		t.Skip("no binary is built under -short; it runs without")
	}
	if os.Getuid() != 0 {
		t.Skip("it takes a user that may make name spaces and mounts (root)")
	}
	root := t.TempDir()
	theBinary(t, filepath.Join(root, "evoke"))
	data := filepath.Join(root, "data")
	for _, err := range []error{os.Chmod(root, 0o755), os.Chmod(filepath.Join(root, "evoke"), 0o755), os.Mkdir(data, 0o700), os.Chown(data, unprivileged, unprivileged)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestInEmptyRoot$", "-test.v")
	cmd.Env = []string{emptyRoot + "=" + root}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "not allowed here:") {
		t.Skipf("the kernel does not let this process make name spaces and mounts: %v %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "all of it works") {
		t.Errorf("%v\n%s", err, out)
	}
}

// theBinary builds the program, or copies the one that EVOKE_TEST_BINARY names, such as a release.
func theBinary(t *testing.T, to string) {
	t.Helper()
	if made := os.Getenv("EVOKE_TEST_BINARY"); made != "" {
		text, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		return
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", to, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestInEmptyRoot is the inside of TestEmptyRoot.
func TestInEmptyRoot(t *testing.T) {
	root := os.Getenv(emptyRoot)
	if root == "" {
		t.Log("run by TestEmptyRoot only")
		return
	}
	enter(t, root)
	if err := os.WriteFile("/x", nil, 0o600); err == nil {
		t.Fatal("the root can be written to: the test proves nothing")
	}
	if entries, err := os.ReadDir("/"); err != nil || len(entries) != 2 {
		t.Fatalf("the root holds %v, %v", entries, err)
	}
	run(t, 0, "", "", "remember", "--user", "ada", "--valid-from", "2026-03-01T09:30:00+09:00", "The spare key is under the blue pot")
	run(t, 0, `[{"role":"user","content":"I live in Porto"},{"role":"assistant","content":"Noted"}]`, "2 turns kept", "ingest", "--user", "ada")
	run(t, 0, "", "", "flush", "--user", "ada")
	run(t, 0, "", "blue pot", "recall", "--user", "ada", "where is the spare key?")
	run(t, 0, "", "Porto", "context", "--user", "ada", "where does she live?")
	run(t, 0, "", "evoke.db", "backup", "/data/backup")
	run(t, 0, "", "items restored", "--store", "/data/new", "backup", "restore", "/data/backup")
	run(t, 0, "", "sha256", "export")
	if code, _, text := evoke("", "--store", "/other", "remember", "x"); code == 0 || !strings.Contains(text, "store.path: must be a directory that is there or can be made") {
		t.Errorf("a volume that is read-only: %d %s", code, text)
	}
	serve(t)
	run(t, 0, "", "harbour", "recall", "--user", "ada", "what closes at nine?")
	if !t.Failed() {
		fmt.Println("all of it works")
	}
}

// enter makes the directory the root, read-only but for data, and gives up all privileges.
func enter(t *testing.T, root string) {
	t.Helper()
	data := filepath.Join(root, "data")
	for _, err := range []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(root, root, "", unix.MS_BIND|unix.MS_REC, ""),
		unix.Mount(data, data, "", unix.MS_BIND, ""),
		unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""),
		loopbackUp(),
		unix.Chroot(root),
		os.Chdir("/"),
		syscall.Setgroups(nil),
		syscall.Setgid(unprivileged),
		syscall.Setuid(unprivileged),
	} {
		if err != nil {
			fmt.Println("not allowed here:", err)
			t.FailNow()
		}
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// evoke runs the binary with nothing in its environment but the data directory.
func evoke(in string, args ...string) (code int, out, errs string) {
	cmd := exec.CommandContext(context.Background(), "/evoke", args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &o, &e
	cmd.Env = []string{"EVOKE_STORE_PATH=/data/store"}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return -1, "", err.Error()
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

func run(t *testing.T, code int, in, says string, args ...string) {
	t.Helper()
	if got, out, errs := evoke(in, args...); got != code || !strings.Contains(out, says) {
		t.Errorf("evoke %s: exit %d, %s%s; want %d and %q", strings.Join(args, " "), got, out, errs, code, says)
	}
}

// serve starts the server, asks for its health, stores and recalls over HTTP, and stops it.
func serve(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "/evoke", "serve", "--listen", "127.0.0.1:8080")
	var log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(""), &log, &log
	cmd.Env = []string{"EVOKE_STORE_PATH=/data/store"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	healthy := false
	for range 200 {
		if code, _, _ := evoke("", "health"); code == 0 {
			healthy = true
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !healthy {
		t.Error("the server does not become ready")
	}
	post := func(path, body, says string) {
		resp, err := http.Post("http://127.0.0.1:8080"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode >= 300 || !strings.Contains(string(text), says) {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, text, err)
		}
	}
	post("/v1/memories", `{"user":"ada","content":"The harbour gate closes at nine"}`, "harbour")
	post("/v1/recall", `{"user":"ada","query":"what closes at nine?"}`, "harbour")
	if code, _, text := evoke("", "--store", "/data/second", "serve", "--listen", "127.0.0.1:8080"); code == 0 || !strings.Contains(text, "server.listen") || !strings.Contains(text, "address already in use") {
		t.Errorf("a port that is taken: %d %s", code, text)
	}
	if code, _, text := evoke("", "stats"); code == 0 || !strings.Contains(text, "in use by another process") {
		t.Errorf("a volume that another server holds: %d %s", code, text)
	}
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	stuck := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	stuck.Stop()
	if took := time.Since(began); err != nil || took > 10*time.Second {
		t.Errorf("told to stop: %v after %v\n%s", err, took, log.String())
	}
}
