package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"evoke/cmd/internal/cli"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// An operation that waits is listed, approved or rejected at the command line; what cannot be stored is said to be refused.
func TestQuarantineAtTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (code int, out, problem string) {
		t.Helper()
		var o, e bytes.Buffer
		code = cli.Main(context.Background(), cli.Process{Args: append(args, "--store", dir, "--no-model"), In: strings.NewReader(""), Out: &o, Err: &e})
		return code, o.String(), e.String()
	}
	if code, _, problem := run("remember", "--user", "ada", "I", "like", "tea"); code != 0 {
		t.Fatal(problem)
	}
	db, err := sqlitestore.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	sc := store.Scope{Tenant: "default", User: "ada"}
	turn := store.Item{
		ID: "turn", Kind: store.Episodic, Content: "I dream of a boat.", Importance: 0.5, Confidence: 1, RecordedAt: time.Now(),
		Turn: store.Turn{Thread: "t", Session: "t", Role: "user"},
	}
	w := store.Write{ID: "w", Scope: sc, Change: store.Change{Put: []store.Item{turn}}}
	for id, op := range map[string]string{
		"good": `{"Action":"add","Kind":"semantic","Content":"Has a\u001b[2J boat.","Quote":"my boat","Confidence":0.9}`,
		"bad":  `{"Action":"retract","Target":"none","Confidence":0.9}`, "wrong": `{"Action":"add","Content":"Has a plane."}`,
	} {
		w.Quarantine = append(w.Quarantine, store.Quarantined{
			ID: id, Scope: sc, Event: "e", Turn: "turn", Extractor: "llm/1", Reason: "ungrounded", Operation: []byte(op), At: time.Now(),
		})
	}
	if err := store.Commit(context.Background(), db, db, w); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out, problem := run("quarantine", "list"); code != 0 || !strings.Contains(out, "Has a [2J boat.") || strings.Contains(out, "\x1b") || !strings.Contains(out, "ungrounded") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("quarantine", "list", "--limit", "1"); code != 0 || !strings.Contains(problem, "more with --cursor") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("quarantine", "approve", "good", "bad"); code != 2 || out != "1 entry approved\n" || !strings.Contains(problem, "bad: ") || !strings.Contains(problem, "unknown target") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("list", "--user", "ada", "--kind", "semantic"); code != 0 || !strings.Contains(out, "boat") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("review", "edit", "wrong", "Has", "a", "kite", "--category", "knowledge"); code != 0 || !strings.Contains(out, "Has a kite") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("review", "list", "--category", "knowledge", "--before", "2999-01-01"); code != 0 || !strings.Contains(out, "Has a kite") || strings.Contains(out, "bad") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("review", "edit", "none", "x"); code != 3 || !strings.Contains(problem, "none of what waits") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("review", "approve"); code != 2 || !strings.Contains(problem, "filter") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("review", "reject", "--before", "7d"); code != 0 || out != "0 entries rejected\n" {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("quarantine", "reject", "wrong", "bad", "good"); code != 3 || out != "2 entries rejected\n" || !strings.Contains(problem, "waits in this tenant: good") {
		t.Errorf("%d %q %q", code, out, problem)
	}
	if code, out, problem := run("quarantine", "list"); code != 0 || out != "nothing waits for review\n" {
		t.Errorf("%d %q %q", code, out, problem)
	}
}
