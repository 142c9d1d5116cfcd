package page_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server"
	"evoke/cmd/internal/wire"
	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys of the tests, by what they grant.
var secrets = map[string]string{
	"read": "reader-key", "write": "writer-key", "admin": "admin-key", "ada": "ada-key", "other": "other-key", "above": "above-key",
}

// world is a server with the page over a real engine in memory.
type world struct {
	t   *testing.T
	m   *evoke.Memory
	url string
}

func keyed() string {
	var b strings.Builder
	b.WriteString("keys:\n")
	for name, grant := range map[string]string{
		"read": "tenant: default, role: read, agents: ['*']", "write": "tenant: default, role: write, agents: ['*']", "admin": "tenant: default, role: admin, agents: ['*']",
		"above": "role: installation", "ada": "tenant: default, role: admin, users: [ada]", "other": "tenant: acme, role: admin, agents: ['*']",
	} {
		fmt.Fprintf(&b, "  %s: {name: %s, %s}\n", server.HashKey(secrets[name]), name, grant)
	}
	return b.String()
}

func newWorld(t *testing.T, yaml string) *world {
	t.Helper()
	return newWorldWith(t, yaml, nil)
}

// newWorldWith lets another extractor distil the conversations; nil: the rules.
func newWorldWith(t *testing.T, yaml string, x extract.Extractor) *world {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evoke.yaml")
	if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := config.Load(config.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	perTenant, err := wire.TenantOptions(set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := evoke.Open(t.Context(), &evoke.Options{TenantOptions: func(tenant string) evoke.TenantOptions {
		o := perTenant(tenant)
		if x != nil {
			o.Extractor = x
		}
		return o
	}})
	if err != nil {
		t.Fatal(err)
	}
	tenants := func(tenant string) (server.Memory, error) { return m.ForTenant(tenant) }
	log := &lockedBuffer{}
	s, err := server.New(tenants, set, &server.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		hs.Close()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if log.Len() > 0 {
			t.Errorf("the server logged errors: %s", log)
		}
	})
	return &world{t, m, hs.URL}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// remember stores an item and returns its id.
func (w *world) remember(user, content string) string {
	w.t.Helper()
	res, err := w.m.Remember(context.Background(), evoke.RememberRequest{Who: evoke.Who{User: user}, Content: content, Category: store.Knowledge})
	if err != nil {
		w.t.Fatal(err)
	}
	return res.Item.ID
}

// story fills the memory: items, a conversation with what was taken of it, and some work.
func (w *world) story() {
	w.t.Helper()
	ctx := context.Background()
	for _, text := range []string{"Ada keeps bees on the roof", "Ada prefers tea to coffee", "我住在上海浦东，最近在学滑雪"} {
		w.remember("", text)
	}
	w.say("Hello! By the way, I live in Oslo. I prefer trains to planes.")
	if _, err := w.m.CreateKey(ctx, evoke.KeyRequest{Name: "night shift", Role: "read", Agents: []string{"*"}}); err != nil {
		w.t.Fatal(err)
	}
	op, err := w.m.Erase(ctx, evoke.EraseRequest{User: "nobody"})
	if err == nil {
		_, err = w.m.WaitOperation(ctx, op.ID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// converse imports a conversation of one day.
func (w *world) converse(user string) {
	w.t.Helper()
	var lines strings.Builder
	for i, turn := range []string{
		"Ada: I signed up for a sailing course in Bergen yesterday!", "Tom: That sounds lovely. Who teaches it?",
		"Ada: Captain Ines Duarte teaches it, she sailed around Iceland twice.", "Tom: I bought 12 metres of blue rope last week for my boat.",
		"Ada: The course takes place every Thursday evening until June.", "Tom: My boat is called Plover and lies in the northern harbour.",
	} {
		speaker, text, _ := strings.Cut(turn, ": ")
		fmt.Fprintf(&lines, `{"id": "s-%d", "text": %q, "speaker": %q, "type": "episodic", "time": "2026-02-01T10:00:00Z", "meta": {"session": "s", "seq": %d}}`+"\n", i, text, speaker, i)
	}
	if res, err := w.m.Import(context.Background(), evoke.Who{User: user}, strings.NewReader(lines.String()), nil); err != nil || res.Imported != 6 {
		w.t.Fatalf("%+v, %v", res, err)
	}
}

// say takes a sentence in and waits until it was extracted from.
func (w *world) say(text string) store.Event {
	w.t.Helper()
	ctx := context.Background()
	who := evoke.Who{Thread: "first"}
	in, err := w.m.Ingest(ctx, evoke.IngestRequest{Who: who, Messages: []message.Message{{Role: "user", Content: text}, {Role: "assistant", Content: "Noted."}}})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.m.Flush(ctx, who); err != nil {
		w.t.Fatal(err)
	}
	ev, err := w.m.Event(ctx, in.EventID, 10*time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
	return ev
}

// dreamer proposes what nobody said.
type dreamer struct{}

func (dreamer) Name() string { return "dreamer/1" }

func (dreamer) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	return []extract.Operation{{
		Action: extract.Add, Kind: store.Semantic, Category: store.Knowledge, Content: "Owns a boat.", Turn: b.Turns[0].ID, Quote: "my boat",
		Speaker: "user", Confidence: 0.9, Importance: 0.5,
	}}, nil
}

// broken fails for good until it is mended.
type broken struct {
	extract.Extractor
	mended atomic.Bool
}

func (x *broken) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	if !x.mended.Load() {
		return nil, errors.New("not today")
	}
	return x.Extractor.Extract(ctx, b)
}

// browser keeps cookies, as one does, and follows no redirects, so that a test sees them.
type browser struct {
	t      *testing.T
	world  *world
	client *http.Client
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	transport := &http.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{w.t, w, &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *browser) do(r *http.Request, header ...string) answer {
	b.t.Helper()
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if strings.Contains(string(body), "%!") {
		b.t.Errorf("%s: a message has no place for its value", r.URL.Path)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

func (b *browser) get(path string, header ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.world.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r, header...)
}

// post sends a form as the page's own would be.
func (b *browser) post(path string, form url.Values, header ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.world.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.world.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(r, header...)
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// token is the token of the forms of a view.
func (b *browser) token(path string) string {
	b.t.Helper()
	m := tokenField.FindStringSubmatch(b.get(path).body)
	if m == nil {
		b.t.Fatalf("%s has no form with a token", path)
	}
	return m[1]
}

// login logs in with one of the keys of the tests.
func (w *world) login(name string) *browser {
	w.t.Helper()
	b := w.browser()
	a := b.post("/ui/login", url.Values{"token": {b.token("/ui/login")}, "key": {secrets[name]}})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/ui/" {
		w.t.Fatalf("log-in as %s: status %d to %q: %.300s", name, a.status, a.header.Get("Location"), a.body)
	}
	return b
}

// form posts with the token of the session.
func (b *browser) form(path string, pairs ...string) answer {
	b.t.Helper()
	v := url.Values{"token": {b.token("/ui/search")}}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return b.post(path, v)
}

func (b *browser) want(status int, a answer) answer {
	b.t.Helper()
	if a.status != status {
		b.t.Fatalf("status %d, want %d: %.600s", a.status, status, a.body)
	}
	return a
}

func wantIn(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(body, p) {
			t.Errorf("the view does not hold %q", p)
		}
	}
}

func wantNotIn(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(body, p) {
			t.Errorf("the view holds %q", p)
		}
	}
}
