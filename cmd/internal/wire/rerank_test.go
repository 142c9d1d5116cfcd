package wire_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/recall"
)

// A service that is named in the settings has its say, with its key; one that stalls costs its time limit and no more, and
// the answer says that it had none.
func TestAHostedReranker(t *testing.T) {
	var key string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		var in struct{ Documents []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		type row struct {
			Index int     `json:"index"`
			Score float64 `json:"relevance_score"`
		}
		rows := make([]row, 0, len(in.Documents))
		for i, d := range in.Documents {
			if strings.Contains(d, "stall") {
				<-r.Context().Done()
				return
			}
			score := 0.0
			if strings.Contains(d, "oolong") {
				score = 1
			}
			rows = append(rows, row{i, score})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": rows})
	}))
	defer srv.Close()
	e, err := wire.Open(t.Context(), settings(t, "store: { path: "+t.TempDir()+" }\nrerank: { url: '"+srv.URL+"', model: m, api_key: k, timeout_ms: 200 }"), &wire.Options{NoModel: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	who := evoke.Who{User: "u"}
	ask := func(query string) evoke.RecallResult {
		t.Helper()
		res, err := e.Recall(t.Context(), evoke.RecallRequest{Who: who, Request: recall.Request{Query: query}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, text := range []string{"Tea in the morning, always tea.", "Once there was tea of the kind oolong, between two meetings."} {
		if _, err := e.Remember(t.Context(), evoke.RememberRequest{Who: who, Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	if res := ask("tea"); len(res.Hits) != 2 || !strings.Contains(res.Hits[0].Item.Content, "oolong") || key != "Bearer k" {
		t.Errorf("the service's favourite is not first (key %q): %+v", key, res.Hits)
	}
	if _, err := e.Remember(t.Context(), evoke.RememberRequest{Who: who, Content: "Tea makes this one stall."}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	res := ask("tea")
	if took := time.Since(began); len(res.Hits) != 3 || res.Degraded["rerank"] == "" || took > 10*time.Second {
		t.Errorf("after %v: %d hits, degraded %v", took, len(res.Hits), res.Degraded)
	}
}

func TestRerankSettingsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct{ yaml, names string }{
		{"rerank: { model: m }", "rerank.url"},
		{"rerank: { url: 'https://example.org/v1/rerank' }", "rerank.model"},
		{"rerank: { url: 'no address', model: m }", "rerank.url"},
	} {
		_, err := wire.Open(t.Context(), settings(t, "store: { path: "+t.TempDir()+" }\n"+c.yaml), &wire.Options{NoModel: true})
		if err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", c.yaml, err)
		}
	}
}
