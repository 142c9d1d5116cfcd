package cli_test

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"evoke"
	"evoke/cmd/internal/cli"
)

// names is the design's table: each verb of the façade with its commands and its routes.
var names = []struct {
	facade   string
	commands []string
	routes   []string
}{
	{"Ingest", []string{"ingest"}, []string{"POST /v1/messages"}},
	{"Flush", []string{"flush"}, []string{"POST /v1/flush"}},
	{"FlushAll", []string{"flush"}, []string{"POST /v1/flush"}},
	{"Event", nil, []string{"GET /v1/events/{id}"}},
	{"Events", []string{"events"}, []string{"GET /v1/admin/events"}},
	{"RetryEvents", []string{"events"}, []string{"POST /v1/admin/events/retry"}},
	{"QueueStats", []string{"events", "queue"}, []string{"GET /v1/admin/queue"}},
	{"Pause", []string{"queue"}, []string{"POST /v1/admin/queue/pause"}},
	{"Resume", []string{"queue"}, []string{"POST /v1/admin/queue/resume"}},
	{"Drain", []string{"queue"}, []string{"POST /v1/admin/queue/drain"}},
	{"Quarantined", []string{"review"}, []string{"GET /v1/admin/quarantine"}},
	{"Approve", []string{"review"}, []string{"POST /v1/admin/quarantine/approve"}},
	{"ApproveAll", []string{"review"}, []string{"POST /v1/admin/quarantine/approve"}},
	{"Reject", []string{"review"}, []string{"POST /v1/admin/quarantine/reject"}},
	{"RejectAll", []string{"review"}, []string{"POST /v1/admin/quarantine/reject"}},
	{"EditProposal", []string{"review"}, []string{"POST /v1/admin/quarantine/edit"}},
	{"Remember", []string{"remember"}, []string{"POST /v1/memories"}},
	{"Get", []string{"get"}, []string{"GET /v1/memories/{id}"}},
	{"Update", []string{"update"}, []string{"PATCH /v1/memories/{id}"}},
	{"List", []string{"list"}, []string{"GET /v1/memories"}},
	{"Recent", []string{"recent"}, []string{"GET /v1/memories"}},
	{"History", []string{"get"}, []string{"GET /v1/memories/{id}/history"}},
	{"Recall", []string{"recall"}, []string{"POST /v1/recall"}},
	{"Context", []string{"context"}, []string{"POST /v1/context"}},
	{"ShownBlock", []string{"block"}, []string{"GET /v1/blocks/{hash}"}},
	{"Feedback", []string{"feedback"}, []string{"POST /v1/feedback"}},
	{"Outcome", []string{"outcome"}, []string{"POST /v1/memories/{id}/outcome"}},
	{"Forget", []string{"forget"}, []string{"DELETE /v1/memories/{id}", "POST /v1/admin/forget"}},
	{"Restore", []string{"restore"}, []string{"POST /v1/admin/restore"}},
	{"RestoreBatch", []string{"restore"}, []string{"POST /v1/admin/restore/batch"}},
	{"Forgotten", []string{"restore"}, []string{"GET /v1/admin/forgotten"}},
	{"Retain", []string{"retain"}, []string{"POST /v1/admin/retain"}},
	{"RetentionPolicy", []string{"policy"}, []string{"GET /v1/admin/policy"}},
	{"Purge", nil, []string{"POST /v1/admin/purge"}}, // it runs of itself, on a schedule
	{"Holds", []string{"hold"}, []string{"GET /v1/admin/holds"}},
	{"AddHold", []string{"hold"}, []string{"POST /v1/admin/holds"}},
	{"ReleaseHold", []string{"hold"}, []string{"DELETE /v1/admin/holds/{id}"}},
	{"Schedules", []string{"schedule"}, []string{"GET /v1/admin/schedules"}},
	{"SetSchedule", []string{"schedule"}, []string{"PUT /v1/admin/schedules/{id}"}},
	{"DropSchedule", []string{"schedule"}, []string{"DELETE /v1/admin/schedules/{id}"}},
	{"Export", []string{"export"}, []string{"GET /v1/admin/export"}},
	{"Checksum", []string{"export"}, nil},   // the last line of an export tells as much
	{"ImportFile", []string{"import"}, nil}, // a server has no business with files of its machine
	{"Import", []string{"import"}, []string{"POST /v1/admin/import"}},
	{"ImportFrom", []string{"import"}, []string{"POST /v1/admin/import"}},
	{"Consolidate", []string{"consolidate"}, []string{"POST /v1/admin/consolidate"}},
	{"Sources", []string{"sources"}, []string{"GET /v1/memories/{id}/sources"}},
	{"Reembed", []string{"reembed"}, nil}, // of all tenants: the operator's business, not that of a tenant's key
	{"Backup", []string{"backup"}, nil},   // as above
	{"Profile", []string{"profile"}, []string{"GET /v1/profile"}},
	{"Erase", []string{"erase"}, []string{"POST /v1/admin/erase"}},
	{"CountErasable", []string{"erase"}, nil}, // the dry run of a person; a program has the lists of the memories
	{"Receipt", []string{"receipt"}, []string{"GET /v1/admin/erase/{operation}/receipt"}},
	{"VerifyReceipt", []string{"receipt"}, []string{"POST /v1/admin/erase/verify"}},
	{"ReceiptKey", []string{"receipt"}, nil},
	{"LiftErasure", []string{"erase"}, []string{"POST /v1/admin/erase/lift"}},
	{"Operations", []string{"operations"}, []string{"GET /v1/admin/operations"}},
	{"Operation", []string{"operations"}, []string{"GET /v1/admin/operations/{id}"}},
	{"WaitOperation", []string{"operations"}, []string{"GET /v1/admin/operations/{id}"}},
	{"CancelOperation", []string{"operations"}, []string{"POST /v1/admin/operations/{id}/cancel"}},
	{"RetryOperation", []string{"operations"}, []string{"POST /v1/admin/operations/{id}/retry"}},
	{"Undo", []string{"undo"}, []string{"POST /v1/admin/undo"}},
	{"Diff", []string{"diff"}, []string{"GET /v1/admin/diff"}},
	{"Changes", []string{"get"}, []string{"GET /v1/memories/{id}/history"}},
	{"StatsAt", []string{"stats"}, []string{"GET /v1/stats"}},
	{"Keys", []string{"keys"}, []string{"GET /v1/admin/keys"}},
	{"CreateKey", []string{"keys"}, []string{"POST /v1/admin/keys"}},
	{"RotateKey", []string{"keys"}, []string{"POST /v1/admin/keys/{id}/rotate"}},
	{"RevokeKey", []string{"keys"}, []string{"DELETE /v1/admin/keys/{id}"}},
	{"TenantPolicy", []string{"policy"}, []string{"GET /v1/admin/policy"}},
	{"SetPolicy", []string{"policy"}, []string{"PUT /v1/admin/policy"}},
	{"ResetPolicy", []string{"policy"}, []string{"DELETE /v1/admin/policy"}},
	{"PolicyHistory", []string{"policy"}, []string{"GET /v1/admin/policy/history"}},
	{"Installation", []string{"tenants"}, []string{
		"GET /v1/installation/tenants", "POST /v1/installation/tenants", "GET /v1/installation/tenants/{id}",
		"POST /v1/installation/tenants/{id}/disable", "POST /v1/installation/tenants/{id}/enable", "GET /v1/installation/tenants/{id}/keys",
		"POST /v1/installation/tenants/{id}/keys", "DELETE /v1/installation/tenants/{id}/keys/{key}",
		"POST /v1/installation/tenants/{id}/keys/{key}/rotate", "GET /v1/installation/audit",
	}},
	{"TenantStats", []string{"stats"}, []string{"GET /v1/admin/stats"}},
	{"Audit", []string{"audit"}, []string{"GET /v1/admin/audit"}},
	{"Usage", []string{"usage"}, []string{"GET /v1/usage"}},
	{"Stats", []string{"stats"}, []string{"GET /v1/stats"}},
}

// noVerbs are methods of the façade that hold an engine together and are no verbs of a surface.
var noVerbs = []string{"Close", "ForTenant", "Tenant", "Settle", "Authenticate", "Enabled", "BudgetPolicy", "ModelChanged", "Denied"}

// unverbed are commands about the program itself.
var unverbed = []string{"bench", "health", "model", "key", "serve", "config", "demo", "version", "completion", "help"}

func TestEveryVerbHasItsNames(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../server/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			routes[method+" "+path] = true
		}
	}
	commands := commandNames(t)
	known := map[string]bool{}
	facade := reflect.TypeFor[*evoke.Memory]()
	for _, n := range names {
		known[n.facade] = true
		if _, ok := facade.MethodByName(n.facade); !ok {
			t.Errorf("the façade has no %s", n.facade)
		}
		for _, c := range n.commands {
			known[c] = true
			if !slices.Contains(commands, c) {
				t.Errorf("%s has no command %s", n.facade, c)
			}
		}
		for _, r := range n.routes {
			known[r] = true
			if !routes[r] {
				t.Errorf("%s has no route %s", n.facade, r)
			}
		}
	}
	for i := range facade.NumMethod() {
		if m := facade.Method(i).Name; !known[m] && !slices.Contains(noVerbs, m) {
			t.Errorf("the façade's %s is not in the table", m)
		}
	}
	for _, c := range commands {
		if !known[c] && !slices.Contains(unverbed, c) {
			t.Errorf("the command %s is not in the table", c)
		}
	}
	for r := range routes {
		if !known[r] {
			t.Errorf("the route %s is not in the table", r)
		}
	}
}

// commandNames are the commands that the help lists.
func commandNames(t *testing.T) []string {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Main(t.Context(), cli.Process{Args: []string{"--help"}, In: strings.NewReader(""), Out: &out, Err: &out}); code != 0 {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	_, list, ok := strings.Cut(out.String(), "Available Commands:\n")
	if !ok {
		t.Fatalf("no commands in %s", out.String())
	}
	var commands []string
	for line := range strings.Lines(list) {
		if strings.TrimSpace(line) == "" {
			break
		}
		commands = append(commands, strings.Fields(line)[0])
	}
	return commands
}

// served is a running server.
type served struct {
	t       *testing.T
	log     *lockedBuffer
	address string
	stop    func()
	code    chan int
}

// serve runs a server until the test ends.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	s := &served{t: t, log: &lockedBuffer{wrote: make(chan struct{}, 100)}, stop: stop, code: make(chan int, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.code <- cli.Main(ctx, cli.Process{
			Args:    append([]string{"serve", "--listen", "127.0.0.1:0", "--no-model"}, args...),
			Environ: []string{"XDG_CONFIG_HOME=" + dir, "HOME=" + dir}, In: strings.NewReader(""), Out: s.log, Err: s.log,
		})
	}()
	t.Cleanup(func() { stop(); <-ended })
	deadline := time.After(20 * time.Second)
	for !strings.Contains(s.log.String(), "listening") {
		select {
		case <-s.log.wrote:
		case code := <-s.code:
			t.Fatalf("exit %d: %s", code, s.log.String())
		case <-deadline:
			t.Fatalf("not listening: %s", s.log.String())
		}
	}
	_, rest, _ := strings.Cut(s.log.String(), "address=")
	s.address = strings.Fields(rest)[0]
	return s
}

// A server takes requests on the address it logs, and ends with 0 when it is told to stop.
func TestServeUntilToldToStop(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--store", dir)
	if body := fetch(t, "http://"+s.address+"/readyz"); !strings.Contains(body, "ready") {
		t.Errorf("readyz: %s", body)
	}
	s.logged("token encoding built") // unasked: the first block need not wait for it
	metrics := fetch(t, "http://"+s.address+"/metrics")
	for _, name := range []string{`evoke_items{kind="episodic"} 0`, "evoke_pending_vectors 0", "evoke_pending_threads 0", `evoke_events{state="dead"} 0`} {
		if !strings.Contains(metrics, name) {
			t.Errorf("no metric %s", name)
		}
	}
	// A second process on the same directory is told who holds it.
	var second bytes.Buffer
	code := cli.Main(t.Context(), cli.Process{
		Args: []string{"stats", "--store", dir}, Environ: os.Environ(), In: strings.NewReader(""), Out: &second, Err: &second,
	})
	if code != 9 {
		t.Errorf("a second process: exit %d: %s", code, second.String())
	}
	s.stop()
	if code := <-s.code; code != 0 {
		t.Errorf("exit %d: %s", code, s.log.String())
	}
}
