package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract/message"
	"evoke/store"
)

// chat is a chat service that answers every request with the same facts about the turn t1.
func chat(t *testing.T, calls *atomic.Int64, facts ...string) *httptest.Server {
	t.Helper()
	var ops []string
	for _, f := range facts {
		content, quote, _ := strings.Cut(f, "|")
		ops = append(ops, fmt.Sprintf(`{"action":"add","target":null,"kind":"semantic","category":"preference","content":%q,"quote":%q,"turn":"t1",
			"speaker":"user","modality":"asserted","durability":"user","time":null,"precision":null,"confidence":0.9,"importance":0.6,"subject":null,"about":null}`, content, quote))
	}
	answer := `{"operations":[` + strings.Join(ops, ",") + `]}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Header.Get("Authorization") != "Bearer the-key" || r.URL.Path != "/v1/chat/completions" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer}, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
		})
	}))
	t.Cleanup(srv.Close)
	return srv
}

// told ingests an exchange, extracts it, and lists the facts that came of it.
func told(t *testing.T, e *wire.Engine, said string) []store.Item {
	t.Helper()
	who := evoke.Who{User: "ada", Thread: "one"}
	_, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: who, Messages: []message.Message{
		{Role: message.User, Content: said}, {Role: message.Assistant, Content: "I see."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	page, err := e.List(t.Context(), evoke.ListRequest{Who: evoke.Who{User: "ada"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// A model's facts are kept where the turns bear them out, and for the tenant that has a model only.
func TestALanguageModelDistils(t *testing.T) {
	var calls atomic.Int64
	srv := chat(t, &calls, "The user collects old maps|old maps are my weakness", "The user owns a yacht|I own a yacht")
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("the-key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := "tenants: { acme: { llm: { model: m, url: '" + srv.URL + "/v1', api_key_file: " + key + ", zone: Europe/Berlin } } }"
	e := open(t, "{ tenant: acme, store: { path: "+t.TempDir()+" }, "+own+" }", &wire.Options{NoModel: true})
	items := told(t, e, "Well, old maps are my weakness, I must say.")
	if len(items) != 1 || items[0].Content != "The user collects old maps" || items[0].Provenance.Extractor != "llm/2/m" || calls.Load() == 0 {
		t.Errorf("%d calls, %+v", calls.Load(), items)
	}
	before := calls.Load()
	other := open(t, "{ tenant: other, store: { path: "+t.TempDir()+" }, "+own+" }", &wire.Options{NoModel: true})
	items = told(t, other, "I like green tea.")
	if len(items) != 1 || !strings.HasPrefix(items[0].Provenance.Extractor, "rules/") || calls.Load() != before {
		t.Errorf("without a model of its own: %d calls, %+v", calls.Load()-before, items)
	}
}

func TestAModelsSettingsAreChecked(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"llm: { model: m, url: 'not a url' }", "llm"},
		{"llm: { model: m, zone: Mars/Olympus }", "zone"},
		{"tenants: { acme: { llm: { model: m, zone: Mars/Olympus } } }", "tenants.acme.llm"},
	} {
		_, err := wire.TenantOptions(settings(t, c.yaml))
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.yaml, err)
		}
	}
}
