package evoke

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// oneLife runs a test of this program as a child that begins an operation, or takes one up, kills it so long after it said
// which ("begun ID"), and tells whether it ended before ("ended").
func oneLife(t *testing.T, child string, after time.Duration, environ ...string) (id string, ended bool) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+child+"$")
	c.Env = append(os.Environ(), environ...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer timer.Stop()
	said := ""
	for s := bufio.NewScanner(out); s.Scan(); {
		said += s.Text() + "\n"
		if n, _ := fmt.Sscanf(s.Text(), "begun %s", &id); n == 1 {
			time.AfterFunc(after, func() { c.Process.Kill() })
		}
		ended = ended || s.Text() == "ended"
	}
	err = c.Wait()
	if id == "" || err != nil && c.ProcessState.Exited() && !ended {
		t.Fatalf("the child failed: %v: %s", err, said)
	}
	return id, ended
}

// skipKills leaves a test of kills out under -short, which is how the race detector runs: what is killed reports no race, and
// its start takes most of its life there. Without the detector it runs.
func skipKills(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills run without -short")
	}
}

// oneByOne leaves a long test of calls one after another out under -short, which is how the race detector runs: it has nothing
// to see there. Without the detector it runs.
func oneByOne(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("calls one after another: they run without -short")
	}
}
