package evoke

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/extract/llm/llmtest"
	"evoke/store"
	"evoke/store/qdrantstore/qdranttest"
)

// qdrantServer is a real server, for the tests that want one.
var qdrantServer qdranttest.Server

// deaths are the kills of one run of TestKilledOnTheWholePath.
type deaths struct {
	dir        string
	qdrant     string // address; "": the items are in SQLite, too
	collection string
	model      string // URL of the language model that some of the children ask
	rnd        *rand.Rand

	acked  []acked
	stages map[string]int // how many died where
}

// TestKilledOnTheWholePath kills a process 500 times on the way of a conversation: accept, debounce, claim, extract by
// rules or by a model, reconcile, store, embed; half of the times at a random moment, half at the n-th step. Every event
// that was acknowledged ends in one terminal state, its turns are there once, and so is its fact.
func TestKilledOnTheWholePath(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { killOnTheWholePath(t, "", "") })
	t.Run("qdrant", func(t *testing.T) {
		addr, name := qdrantServer.Address(t), fmt.Sprintf("kills_%d", os.Getpid())
		qdranttest.DropAfter(t, addr, name)
		killOnTheWholePath(t, addr, name)
	})
}

func killOnTheWholePath(t *testing.T, qdrant, collection string) {
	skipKills(t)
	kills := 50
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 500
	}
	service := llmtest.Start(t, unsteadyModel)
	d := &deaths{dir: t.TempDir(), qdrant: qdrant, collection: collection, model: service.URL, rnd: rand.New(rand.NewPCG(4, 20261130)), stages: map[string]int{}}
	for run := range kills {
		d.kill(t, run)
	}
	if len(d.acked) < kills {
		t.Fatalf("only %d events were acknowledged over %d kills", len(d.acked), kills)
	}
	states, waiting := d.check(t, kills)
	var where []string
	for _, s := range slices.Sorted(maps.Keys(d.stages)) {
		where = append(where, fmt.Sprintf("%s %d", s, d.stages[s]))
	}
	backend := "SQLite"
	if qdrant != "" {
		backend = "Qdrant"
	}
	t.Logf("soak: kill -9 on the whole path, items in %s | %d kills (%s), %d model calls, %d acknowledged events, each in one terminal state (%v), 0 lost, no turn and no fact twice; %d inventions wait for review, none stored and none twice",
		backend, kills, strings.Join(where, ", "), service.Calls(), len(d.acked), states, waiting)
}

var likedDish = regexp.MustCompile(`I like (dish\w+) very much`)

// unsteadyModel finds what the rules find, in the same words, and makes something up about every dish. It fails every
// seventh request, and of every forty the last ten: then the rules stand in.
func unsteadyModel(w http.ResponseWriter, r *llmtest.Request) {
	if r.Try%7 == 0 || r.Try%40 >= 30 {
		llmtest.Fail(w, r, http.StatusServiceUnavailable, nil)
		return
	}
	var ops []string
	for _, l := range r.Block("conversation") {
		if m := likedDish.FindStringSubmatch(l.Text); m != nil {
			ops = append(ops, llmtest.Fact(l.Turn, "I like "+m[1], "The user likes "+m[1], "subject", "likes:"+m[1]),
				llmtest.Fact(l.Turn, "I own a yacht", "The user owns the yacht "+m[1]))
		}
		if strings.Contains(l.Text, "My name is Ada") {
			ops = append(ops, llmtest.Fact(l.Turn, "My name is Ada", "The user's name is Ada", "subject", "name", "category", "context"))
		}
	}
	llmtest.Say(w, llmtest.Answer(ops...))
}

// kill starts a child, reads what it says until it dies, and keeps what it acknowledged.
func (d *deaths) kill(t *testing.T, run int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestPathChild$")
	c.Env = append(os.Environ(), pathChild+"="+d.dir, pathChild+"_QDRANT="+d.qdrant, pathChild+"_COLLECTION="+d.collection, fmt.Sprintf("%s_RUN=%d", pathChild, run))
	if run%3 == 2 {
		c.Env = append(c.Env, pathChild+"_MODEL="+d.model)
	}
	after, stage := time.Duration(d.rnd.IntN(200))*time.Millisecond, "at a moment"
	if run%2 == 0 {
		c.Env = append(c.Env, fmt.Sprintf("%s_STEPS=%d", pathChild, 1+d.rnd.IntN(120)))
		after, stage = 5*time.Second, "no step"
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer limit.Stop()
	var timer *time.Timer
	var said strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		var a acked
		switch {
		case !strings.HasSuffix(line, "\n"):
		case strings.HasPrefix(line, "opened") && timer == nil:
			timer = time.AfterFunc(after, func() { c.Process.Kill() })
		case strings.HasPrefix(line, "dies "):
			stage = strings.TrimSpace(strings.TrimPrefix(line, "dies "))
		default:
			if n, _ := fmt.Sscanf(line, "acked %s %s %s %s\n", &a.key, &a.event, &a.user, &a.assistant); n == 4 {
				d.acked = append(d.acked, a)
			}
		}
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
	}
	werr := c.Wait()
	if timer != nil {
		timer.Stop()
	}
	if strings.Contains(said.String(), "FAIL") || werr == nil || timer == nil && !strings.HasPrefix(stage, "at ") && stage == "no step" {
		t.Fatalf("run %d did not die as it should (%v): %s", run, werr, said.String())
	}
	d.stages[stage]++
}

// check lets the work end and looks at what there is.
func (d *deaths) check(t *testing.T, kills int) (states map[store.EventState]int, quarantined int) {
	t.Helper()
	o := pathOptions(t.Context(), t, d.dir, d.qdrant, d.collection, kills+1, nil)
	m := open(t, o)
	users := map[string]bool{}
	for _, a := range d.acked {
		users[userOf(a.key)] = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if n, err := m.FlushAll(ctx); err != nil {
		t.Fatalf("the work left does not end (%d threads): %v", n, err)
	}
	settle(t, m)
	for user := range users {
		d.checkUser(t, m, user)
	}
	if ws, err := m.ledger.Unapplied(t.Context()); err != nil || len(ws) > 0 {
		t.Errorf("%d writes are not applied: %v", len(ws), err)
	}
	if st, err := m.QueueStats(t.Context()); err != nil || st.Waiting+st.Due+st.Leased != 0 {
		t.Errorf("the queue is not empty: %+v, %v", st, err)
	}
	return d.checkEvents(t, m), checkQuarantine(t, m)
}

// checkQuarantine: what the model made up waits for review, once.
func checkQuarantine(t *testing.T, m *Memory) int {
	t.Helper()
	seen := map[string]bool{}
	q := QuarantineRequest{Limit: 1000}
	for {
		page, err := m.Quarantined(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if seen[e.Operation.Content] || e.Reason != "ungrounded" {
				t.Errorf("%q waits for review again, or for another reason: %s", e.Operation.Content, e.Reason)
			}
			seen[e.Operation.Content] = true
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return len(seen)
		}
	}
}

// checkEvents: each is listed once, in a terminal state; the acknowledged ones are among them, stored.
func (d *deaths) checkEvents(t *testing.T, m *Memory) map[store.EventState]int {
	t.Helper()
	seen, states := map[string]store.EventState{}, map[store.EventState]int{}
	q := EventsRequest{Limit: 1000}
	for {
		page, err := m.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if was := seen[e.ID]; was != "" || e.State == store.EventPending {
				t.Errorf("event %s: %s, %s", e.ID, was, e.State)
			}
			seen[e.ID] = e.State
			states[e.State]++
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			for s, n := range page.Counts {
				if n != states[s] {
					t.Errorf("%d events %s are counted and %d listed", n, s, states[s])
				}
			}
			break
		}
	}
	for _, a := range d.acked {
		if seen[a.event] != store.EventStored {
			t.Errorf("event of %s: %q", a.key, seen[a.event])
		}
	}
	return states
}

// checkUser: every turn and every fact is there once, over all versions, and has its vector.
func (d *deaths) checkUser(t *testing.T, m *Memory, user string) {
	t.Helper()
	turns, facts := map[string]int{}, map[string]int{}
	q := ListRequest{Who: Who{User: user}, All: true, Limit: 1000}
	for {
		page, err := m.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			if it.Kind == store.Episodic {
				turns[it.Content]++
			} else {
				facts[it.Content]++
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	for _, a := range d.acked {
		if userOf(a.key) != user {
			continue
		}
		if u, n := said(a.key), "Noted "+a.key; turns[u] != 1 || turns[n] != 1 || facts["The user likes "+dishOf(a.key)] != 1 {
			t.Errorf("%s was acknowledged: its turns are there %d and %d times, its fact %d times", a.key, turns[u], turns[n], facts["The user likes "+dishOf(a.key)])
		}
	}
	for content, n := range facts {
		if n != 1 || strings.Contains(content, "yacht") {
			t.Errorf("%q is there %d times", content, n)
		}
	}
	if facts["The user's name is Ada"] != 1 {
		t.Errorf("%s has no name: %v", user, facts)
	}
	if st, err := m.Stats(t.Context(), Who{User: user}); err != nil || st.Pending != (Pending{}) {
		t.Errorf("%s: work is left: %+v, %v", user, st, err)
	}
}

// A key is run-thread-number; four runs share a user.
func dishOf(key string) string { return "dish" + strings.ReplaceAll(key, "-", "x") }

func userOf(key string) string {
	run, _, _ := strings.Cut(key, "-")
	n, _ := strconv.Atoi(run)
	return fmt.Sprint("u", n/4)
}

// said is what the user says in an event.
func said(key string) string {
	s := "I like " + dishOf(key) + " very much."
	if strings.HasSuffix(key, "0") {
		s = "My name is Ada. " + s
	}
	return s
}

// saying keeps lines of several goroutines apart.
var saying sync.Mutex

func say(format string, args ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprintf(os.Stdout, format, args...)
}
