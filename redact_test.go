package evoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke/extract/llm"
	"evoke/extract/redact"
	"evoke/recall"
	"evoke/store"
)

// leak is everything that left the engine for a service.
type leak struct {
	mu   sync.Mutex
	sent bytes.Buffer
}

func (l *leak) note(b ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range b {
		l.sent.WriteString(s + "\n")
	}
}

func (l *leak) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent.String()
}

// listened is an embedding service that remembers what it was sent.
type listened struct {
	bagEmbedder
	leak *leak
}

func (l *listened) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	l.leak.note(texts...)
	return l.bagEmbedder.EmbedPassages(ctx, texts)
}

func (l *listened) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	l.leak.note(text)
	return l.bagEmbedder.EmbedQuery(ctx, text)
}

// canaries are made-up secrets and personal data, put together here so that no scanner takes this file for a leak.
func canaries() []string {
	const r = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA2cD4fG6hJ8kL0nP3"
	return []string{
		"bob.canary@example.com", "li.lei_77@example.cn", "+1 415 555 2671", "13800138000", "020 7946 0018", "4111 1111 1111 1111", "5555555555554444",
		"11010519491231002X", "219-09-9999", "DE89 3704 0044 0532 0130 00", "203.0.113.77", "2001:db8:85a3::8a2e:370:7334",
		"AKIA" + "IOSFODNN7EXAMPLE", "ghp" + "_" + r[:36], "sk" + "-proj-" + r, "xox" + "b-123456789012-" + r[:20], "sk" + "_live_" + r[:24], "AI" + "za" + r[:35],
		"eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxIn0." + r[:30], r[4:44],
	}
}

func masks(t *testing.T, mode redact.Mode) *redact.Redactor {
	t.Helper()
	r, err := redact.New(&redact.Options{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// No byte of a secret reaches a file, a service, a log or a hook, whatever verb brings it.
func TestMaskedEverywhere(t *testing.T) {
	t.Parallel()
	sent, dir := &leak{}, t.TempDir()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent.note(string(b))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"operations\":[]}"}}]}`)
	}))
	defer service.Close()
	x, err := llm.New("model", &llm.Options{BaseURL: service.URL})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	var counted sync.Map
	m, err := Open(t.Context(), &Options{
		Path: dir, Embedder: &listened{leak: sent}, Extractor: x, Redactor: masks(t, redact.Mask),
		Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Events: &Events{Redacted: func(kind string, _ int) { counted.Store(kind, true) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	who := Who{User: "u", Thread: "t"}
	answers := tellAll(t, m, who)
	if _, err := m.Flush(t.Context(), Who{User: "u"}); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), Who{User: "u"}, &out); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	files := readAll(t, dir)
	if !strings.Contains(sent.text(), "[email]") || !strings.Contains(sent.text(), "messages") || !strings.Contains(files, "[card]") {
		t.Error("nothing masked was sent or stored: the test proves nothing")
	}
	for _, secret := range canaries() {
		for place, text := range map[string]string{"file": files, "request": sent.text(), "log": logged.String(), "export": out.String(), "answer": answers} {
			if strings.Contains(text, secret) {
				t.Errorf("a secret (%.4s…) is in a %s", secret, place)
			}
		}
	}
	if _, ok := counted.Load("card"); !ok {
		t.Error("the hook was not told of a card")
	}
}

// tellAll brings every canary in by every verb and returns the answers.
func tellAll(t *testing.T, m *Memory, who Who) string {
	t.Helper()
	var answers strings.Builder
	note := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(b)
	}
	for i, secret := range canaries() {
		msgs := chat("我的是"+secret+"，记住了吗", "You said "+secret+" is yours.")
		msgs[0].Name = secret
		res, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: msgs, IdempotencyKey: string(rune('a' + i))})
		note(res, err)
		if len(res.Redacted) == 0 {
			t.Errorf("canary %d was not counted", i)
		}
		md := store.Metadata{"a": store.String("x " + secret), "b": store.List("y", secret), "n": store.Number(13800138000)}
		kept, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "keep " + secret, Metadata: md, Speaker: secret, Subject: "my:" + secret, IdempotencyKey: string(rune('A' + i))})
		note(kept, err)
		content := "now " + secret + " and " + string(rune('a'+i))
		it, err := m.Update(t.Context(), UpdateRequest{Who: who, ID: kept.Item.ID, Content: &content, Metadata: md})
		note(it, err)
		line, err := json.Marshal(map[string]any{"text": "import " + secret, "speaker": secret, "meta": map[string]any{"k": secret, "n": 13800138000}})
		if err != nil {
			t.Fatal(err)
		}
		imported, err := m.Import(t.Context(), who, bytes.NewReader(line), nil)
		note(imported, err)
		if imported.Imported != 1 {
			t.Errorf("import: %+v", imported)
		}
		hits, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "what of " + secret}})
		note(hits, err)
		block, err := m.Context(t.Context(), ContextRequest{Who: who, Request: recall.Request{Query: "why " + secret}})
		note(block, err)
	}
	return answers.String()
}

func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestRejected(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{Redactor: masks(t, redact.Reject)})
	who := Who{User: "u", Thread: "t"}
	check := func(verb string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrInvalid) || !errors.Is(err, redact.ErrFound) || !strings.Contains(err.Error(), "email") || strings.Contains(err.Error(), "bob") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	_, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I am bob@example.com", "Hi")})
	check("ingest", err)
	_, err = m.Remember(t.Context(), RememberRequest{Who: who, Content: "bob@example.com"})
	check("remember", err)
	kept, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Update(t.Context(), UpdateRequest{Who: who, ID: kept.Item.ID, Metadata: store.Metadata{"a": store.String("bob@example.com")}})
	check("update", err)
	res, err := m.Import(t.Context(), who, strings.NewReader(`{"text":"bob@example.com"}`), nil)
	if err != nil || res.FailedN != 1 || strings.Contains(res.Failed[0].Error, "bob") || !strings.Contains(res.Failed[0].Error, "email") {
		t.Errorf("import: %+v, %v", res, err)
	}
	if _, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "bob@example.com"}}); err != nil {
		t.Errorf("a question was refused: %v", err)
	}
	if st, err := m.Stats(t.Context(), Who{User: "u"}); err != nil || st.Total != 1 {
		t.Errorf("%+v, %v: want the one plain item", st, err)
	}
}

// A retry under an idempotency key is the same request although what is compared is masked; modes may differ by tenant.
func TestRedactionOfTenants(t *testing.T) {
	t.Parallel()
	x := masks(t, redact.Mask)
	m := open(t, &Options{Clock: time.Now, TenantOptions: func(tenant string) TenantOptions {
		if tenant == "careful" {
			return TenantOptions{Redactor: x}
		}
		return TenantOptions{}
	}})
	careful, err := m.ForTenant("careful")
	if err != nil {
		t.Fatal(err)
	}
	r := IngestRequest{Who: Who{User: "u", Thread: "t"}, Messages: chat("I am bob@example.com", "Hi"), IdempotencyKey: "k"}
	first, err := careful.Ingest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := careful.Ingest(t.Context(), r)
	if err != nil || again.EventID != first.EventID || again.Redacted["email"] != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	free, err := m.Ingest(t.Context(), r)
	if err != nil || free.Redacted != nil {
		t.Errorf("another tenant: %+v, %v", free, err)
	}
}
