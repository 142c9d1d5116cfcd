package evoke

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

const killChild = "EVOKE_TEST_KILL_CHILD"

// TestKillChild is the victim of TestKilledDuringIngest: it ingests until it dies, and prints what was acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killChild)
	if dir == "" {
		t.Log("run by TestKilledDuringIngest only")
		return
	}
	m, err := Open(t.Context(), &Options{Path: dir, Embedder: &bagEmbedder{}, Memory: MemoryOptions{Debounce: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	run := os.Getenv(killChild + "_RUN")
	for i := 0; ; i++ {
		key := fmt.Sprintf("%s-%d", run, i)
		res, err := m.Ingest(t.Context(), IngestRequest{
			Who: Who{User: "u", Thread: fmt.Sprint("t", i%5)}, IdempotencyKey: key,
			Messages: []message.Message{
				{Role: message.User, Content: fmt.Sprintf("I like dish%s very much.", strings.ReplaceAll(key, "-", "x"))},
				{Role: message.Assistant, Content: "Noted " + key},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "acked %s %s %s %s\n", key, res.EventID, res.Turns[0].ID, res.Turns[1].ID)
		out.Flush()
	}
}

// acked is an event that the child was told to be durable.
type acked struct{ key, event, user, assistant string }

// TestKilledDuringIngest kills a process at random moments while it ingests. Every acknowledged turn is there after the
// restart, once; a retry under its key stores nothing; its vector and its extraction still come.
func TestKilledDuringIngest(t *testing.T) {
	skipKills(t)
	kills := 20
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 200
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 20261130))
	var all []acked
	for i := range kills {
		all = append(all, killOnce(t, dir, i, time.Duration(r.IntN(120))*time.Millisecond)...)
	}
	if len(all) < kills {
		t.Fatalf("only %d events were acknowledged over %d kills", len(all), kills)
	}
	m := open(t, &Options{Path: dir, Embedder: &bagEmbedder{}, Memory: MemoryOptions{Debounce: time.Second}})
	checkAcked(t, m, all)
	checkRetries(t, m, all)
	for i := range 5 {
		if _, err := m.Flush(t.Context(), Who{User: "u", Thread: fmt.Sprint("t", i)}); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, m)
	st, err := m.Stats(t.Context(), Who{User: "u"})
	if err != nil || st.Pending != (Pending{}) {
		t.Fatalf("work is left: %+v, %v", st, err)
	}
	for _, a := range all {
		ev, err := m.Event(t.Context(), a.event, 0)
		if err != nil || ev.State != store.EventStored {
			t.Fatalf("event of %s: %+v, %v", a.key, ev, err)
		}
	}
	t.Logf("soak: kill -9 during ingest | %d kills, %d acknowledged events, 0 lost, 0 doubled", kills, len(all))
}

func killOnce(t *testing.T, dir string, run int, after time.Duration) []acked {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	c.Env = append(os.Environ(), killChild+"="+dir, fmt.Sprintf("%s_RUN=%d", killChild, run))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var got []acked
	var all strings.Builder
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer timer.Stop()
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		var a acked
		if n, _ := fmt.Sscanf(line, "acked %s %s %s %s\n", &a.key, &a.event, &a.user, &a.assistant); n == 4 && strings.HasSuffix(line, "\n") {
			if got = append(got, a); len(got) == 1 {
				time.AfterFunc(after, func() { c.Process.Kill() })
			}
		}
		if err != nil {
			if err != io.EOF && len(got) == 0 {
				t.Fatal(err)
			}
			break
		}
	}
	err = c.Wait()
	if len(got) == 0 {
		t.Fatalf("run %d acknowledged nothing (%v): %s", run, err, all.String())
	}
	return got
}

func checkAcked(t *testing.T, m *Memory, all []acked) {
	t.Helper()
	seen := map[string]int{}
	q := ListRequest{Who: Who{User: "u"}, Filter: store.Filter{Kinds: []store.Kind{store.Episodic}}, All: true, Limit: 1000}
	for {
		page, err := m.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			seen[it.Content]++
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	for _, a := range all {
		user := fmt.Sprintf("I like dish%s very much.", strings.ReplaceAll(a.key, "-", "x"))
		if seen[user] != 1 || seen["Noted "+a.key] != 1 {
			t.Fatalf("%s was acknowledged and is there %d and %d times", a.key, seen[user], seen["Noted "+a.key])
		}
	}
	for content, n := range seen {
		if n != 1 {
			t.Fatalf("%q is stored %d times", content, n)
		}
	}
}

// checkRetries sends some acknowledged events again, as a client would whose connection broke.
func checkRetries(t *testing.T, m *Memory, all []acked) {
	t.Helper()
	for i := 0; i < len(all); i += max(1, len(all)/50) {
		a := all[i]
		_, n, _ := strings.Cut(a.key, "-")
		var k int
		fmt.Sscan(n, &k)
		res, err := m.Ingest(context.WithoutCancel(t.Context()), IngestRequest{
			Who: Who{User: "u", Thread: fmt.Sprint("t", k%5)}, IdempotencyKey: a.key,
			Messages: []message.Message{
				{Role: message.User, Content: fmt.Sprintf("I like dish%s very much.", strings.ReplaceAll(a.key, "-", "x"))},
				{Role: message.Assistant, Content: "Noted " + a.key},
			},
		})
		if err != nil || res.EventID != a.event {
			t.Fatalf("retry of %s: %+v, %v", a.key, res, err)
		}
	}
	checkAcked(t, m, all)
}
