package sqlitestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"evoke/store"
)

// The environment that turns the test program into a child of a test.
const (
	roleEnv = "EVOKE_TEST_ROLE"
	dirEnv  = "EVOKE_TEST_DIR"
)

// child plays a role in a process of its own and returns its exit code.
func child(role string) int {
	ctx := context.Background()
	db, err := Open(ctx, os.Getenv(dirEnv), nil)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("open")
	switch role {
	case "hold":
		bufio.NewReader(os.Stdin).ReadByte() // returns when the parent closes the pipe
		db.Close()
	case "write":
		// Acknowledged writes are told to the parent one by one, until it kills this process.
		next, err := db.Thread(ctx, benchScope, "count")
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		for i := next.Next; ; i++ {
			if err := db.CommitBoth(ctx, killWrite(i)); err != nil {
				fmt.Println("error", err)
				return 1
			}
			fmt.Println("ack", i)
		}
	}
	return 0
}

// killWrite is the i-th write of the kill test.
func killWrite(i int) store.Write {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id := fmt.Sprintf("turn %06d", i)
	it := store.Item{ID: id, Kind: store.Episodic, Content: fmt.Sprint("message number ", i), RecordedAt: at, ValidFrom: at, Confidence: 1,
		Turn: store.Turn{Thread: "count", Session: "count", Position: i, Role: "user"}}
	return store.Write{ID: id, Scope: benchScope, Change: store.Change{Put: []store.Item{it}}, Embed: []string{id},
		Thread: &store.ThreadState{Thread: "count", Next: i + 1},
		Arm:    &store.Arming{Thread: "count", Now: at, Quiet: time.Second, MaxWait: time.Minute},
		Event:  &store.Event{ID: id, Thread: "count", UpTo: i + 1, CreatedAt: at}}
}

func start(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Scanner, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, dirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child says %q", lines.Text())
	}
	return cmd, lines, func() { in.Close() }
}

// TestLock: another process is refused with the directory's name and the mend, and let in when the first has ended.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	cmd, _, release := start(t, "hold", dir)
	_, err := Open(context.Background(), dir, nil)
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "stop it") {
		t.Errorf("a directory in use: %v", err)
	}
	waited := make(chan error, 1)
	go func() {
		db, err := Open(context.Background(), dir, &Options{LockWait: time.Minute})
		if err == nil {
			err = db.Close()
		}
		waited <- err
	}()
	release()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
	if err := <-waited; err != nil {
		t.Errorf("waiting for the lock: %v", err)
	}
	openT(t, dir, nil)
	if _, err := Open(context.Background(), dir, nil); !errors.Is(err, store.ErrLocked) {
		t.Errorf("the same process a second time: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, dir, &Options{LockWait: time.Minute}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting with a context that ends: %v", err)
	}
}

// TestKill ends a writing process at random moments. Every write that it acknowledged is there afterwards, whole and
// once, and what was promised with it still waits.
func TestKill(t *testing.T) {
	kills := 20
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 200
	} else if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(9, 9))
	acked := -1
	for range kills {
		cmd, lines, _ := start(t, "write", dir)
		kill := time.AfterFunc(time.Duration(r.IntN(60))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			if n, err := fmt.Sscanf(lines.Text(), "ack %d", &acked); n != 1 || err != nil {
				if !strings.HasPrefix("ack ", lines.Text()[:min(4, len(lines.Text()))]) {
					t.Fatalf("the child says %q", lines.Text())
				}
			}
		}
		kill.Stop()
		cmd.Wait() // with an error: it was killed
		// What is there now has to stay, acknowledged or not.
		acked = checkKilled(t, dir, acked) - 1
	}
	t.Logf("soak: %d kills during writes, %d made, none lost or doubled", kills, acked+1)
}

// checkKilled returns how many writes are there.
func checkKilled(t *testing.T, dir string, acked int) int {
	t.Helper()
	ctx := context.Background()
	db, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	defer db.Close()
	st, err := db.Stats(ctx, benchScope, store.View{All: true})
	if err != nil {
		t.Fatal(err)
	}
	thread, err := db.Thread(ctx, benchScope, "count")
	if err != nil {
		t.Fatal(err)
	}
	embeds, err := db.CountEmbeds(ctx, benchScope)
	if err != nil {
		t.Fatal(err)
	}
	events, err := db.CountEvents(ctx, benchScope.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	// The last write may have been committed without its acknowledgement.
	if st.Total != thread.Next || st.Total <= acked || st.Total > acked+2 {
		t.Fatalf("%d items, thread at %d, %d acknowledged", st.Total, thread.Next, acked+1)
	}
	if embeds != st.Total || events[store.EventPending] != st.Total {
		t.Fatalf("%d items, %d pending vectors, %v events", st.Total, embeds, events)
	}
	if _, ok, err := db.NextDue(ctx, store.Tenants{}); err != nil || ok != (st.Total > 0) {
		t.Fatalf("the extraction of %d turns does not wait (%v)", st.Total, err)
	}
	if st.Total == 0 {
		return 0
	}
	last := fmt.Sprintf("turn %06d", st.Total-1)
	got, err := db.Get(ctx, benchScope, []string{last})
	if err != nil || len(got) != 1 || got[0].Turn.Position != st.Total-1 {
		t.Fatalf("the last turn: %+v, %v", got, err)
	}
	if err := db.Check(ctx); err != nil {
		t.Fatal(err)
	}
	return st.Total
}
