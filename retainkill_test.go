package evoke

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"evoke/store"
)

const retainChild = "EVOKE_TEST_RETAIN_CHILD"

// TestRetainChild is the victim of TestKilledDuringRetention: it begins a retention unless one is under way, and lives
// until that has ended or it is killed.
func TestRetainChild(t *testing.T) {
	dir := os.Getenv(retainChild)
	if dir == "" {
		t.Log("run by TestKilledDuringRetention only")
		return
	}
	m := open(t, &Options{Path: dir, Retention: &RetentionPolicy{MaxItems: keptByRetention, Hard: os.Getenv(retainChild+"_HARD") != ""}})
	id := os.Getenv(retainChild + "_ID")
	if id == "" {
		op, err := m.Retain(t.Context(), RetainRequest{})
		if err != nil {
			t.Fatal(err)
		}
		id = op.ID
	}
	fmt.Println("begun " + id)
	if op, err := m.WaitOperation(t.Context(), id); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	fmt.Println("ended")
}

const keptByRetention = 20

// TestKilledDuringRetention kills a process at random moments while it retains, softly and for good by turns. Each
// retention ends after restarts with as many items left as it is to leave, and counts what it took once.
func TestKilledDuringRetention(t *testing.T) {
	skipKills(t)
	kills := 30
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	r := rand.New(rand.NewPCG(8, 20261130))
	done, runs := 0, 0
	const own, pair = 900, 500
	for ; done < kills; runs++ {
		dir, hard := t.TempDir(), runs%2 == 1
		m, err := Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		lines(t, m, Who{User: "ann"}, own)
		lines(t, m, Who{User: "ann", Agent: "helper"}, pair)
		lines(t, m, Who{User: "bob"}, 7)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		id, ended := "", false
		for lives := 1; !ended; lives++ {
			if id, ended = retainOnce(t, dir, id, hard, time.Duration(r.IntN(100*lives*lives))*time.Millisecond); !ended {
				done++
			}
		}
		checkRetained(t, dir, id, hard, own+pair-2*keptByRetention)
	}
	t.Logf("soak: kill -9 during retention | %d kills over %d runs, all ended, none taken twice or too much", done, runs)
}

func checkRetained(t *testing.T, dir, id string, hard bool, took int) {
	t.Helper()
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	op, err := m.WaitOperation(t.Context(), id)
	var s Swept
	if err == nil {
		err = json.Unmarshal(op.Result, &s)
	}
	if err != nil || op.State != store.OperationDone || s.Items != took || s.Memories != 3 || s.Reasons["max_items"] != took {
		t.Errorf("%s (%s), %+v, %v; want %d items", op.State, op.Note, s, err, took)
	}
	left, gone := 0, 0
	for _, w := range []Who{{User: "ann"}, {User: "ann", Agent: "helper"}} {
		st, err := m.Stats(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		left += st.Total
		page, err := m.Forgotten(t.Context(), ListRequest{Who: w, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			if page.Items[i].Aside.ForgottenBy == id {
				gone++
			}
		}
	}
	if want := map[bool]int{true: 0, false: took}[hard]; left != 2*keptByRetention || gone != want {
		t.Errorf("hard %t: %d items are left and %d out of sight, want %d and %d", hard, left, gone, 2*keptByRetention, want)
	}
}

// retainOnce lets a child live for so long after it began a retention, or took up the one of the id given, and tells
// whether that ended.
func retainOnce(t *testing.T, dir, known string, hard bool, after time.Duration) (id string, ended bool) {
	t.Helper()
	environ := []string{retainChild + "=" + dir, retainChild + "_ID=" + known}
	if hard {
		environ = append(environ, retainChild+"_HARD=1")
	}
	return oneLife(t, "TestRetainChild", after, environ...)
}
