package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/wire"
	"evoke/embed/modelstore"
	"evoke/recall"
	"evoke/store"
)

func settings(t *testing.T, yaml string) *config.Config {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evoke.yaml")
	if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// none is a machine without models.
func none(t *testing.T) []string { return []string{modelstore.EnvDir + "=" + t.TempDir()} }

func open(t *testing.T, yaml string, o *wire.Options) *wire.Engine {
	t.Helper()
	e, err := wire.Open(t.Context(), settings(t, yaml), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestWithoutAModelTheReasonIsShown(t *testing.T) {
	for _, c := range []struct {
		o    wire.Options
		want string
	}{{wire.Options{Environ: none(t)}, "evoke model pull"}, {wire.Options{NoModel: true}, "--no-model"}} {
		e := open(t, "store: { path: "+t.TempDir()+" }", &c.o)
		st, err := e.Stats(t.Context(), evoke.Who{})
		if err != nil || st.Embedder != "none" || !strings.Contains(st.Note, c.want) {
			t.Errorf("%+v %v", st, err)
		}
	}
	_, err := wire.Open(t.Context(), settings(t, "{ store: { path: "+t.TempDir()+" }, embed: { model: e5-small-v2-q8 } }"), &wire.Options{Environ: none(t)})
	if !errors.Is(err, modelstore.ErrNotInstalled) {
		t.Errorf("a model that was named and is not there: %v", err)
	}
}

func TestTheDataDirectory(t *testing.T) {
	home := t.TempDir()
	o := &wire.Options{NoModel: true, Environ: []string{"XDG_DATA_HOME=" + home}}
	open(t, "", o)
	if _, err := os.Stat(filepath.Join(home, "evoke")); err != nil {
		t.Error(err)
	}
	_, err := wire.Open(t.Context(), settings(t, ""), o)
	if !errors.Is(err, store.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
}

// The settings of the tenant that a command works for are the engine's.
func TestATenantsSectionReachesTheEngine(t *testing.T) {
	yaml := "{ tenant: acme, store: { path: " + t.TempDir() + " }, tenants: { acme: { policy: { preset: experts }, recall: { limit: 1 }, memory: { injection_enabled: false } } } }"
	e := open(t, yaml, &wire.Options{NoModel: true})
	ctx := t.Context()
	res, err := e.Remember(ctx, evoke.RememberRequest{Who: evoke.Who{Agent: "oracle"}, Content: "x"})
	if err != nil || res.Skipped != "namespace_policy" {
		t.Errorf("policy: %+v %v", res, err)
	}
	for _, s := range []string{"green tea", "black tea"} {
		if _, err := e.Remember(ctx, evoke.RememberRequest{Content: s}); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := e.Recall(ctx, evoke.RecallRequest{Request: recall.Request{Query: "tea"}})
	if err != nil || len(hits.Hits) != 1 {
		t.Errorf("limit: %d hits, %v", len(hits.Hits), err)
	}
	block, err := e.Context(ctx, evoke.ContextRequest{Request: recall.Request{Query: "tea"}})
	if err != nil || block.Skipped != "disabled" {
		t.Errorf("injection: %+v %v", block, err)
	}
	l, err := e.Load(ctx)
	if err != nil || l.Items[store.Semantic] != 2 || l.Items[store.Episodic] != 0 || l.PendingVectors != 2 {
		t.Errorf("load: %+v %v", l, err)
	}
}

func TestAHostedEmbedder(t *testing.T) {
	var key string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		type row struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var rows []row
		for i := range in.Input {
			rows = append(rows, row{i, []float32{1, 0, 0}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": rows})
	}))
	defer srv.Close()
	c := settings(t, "embed: { url: "+srv.URL+", model: m, dimension: 3, api_key: k }")
	e, reason, err := wire.Embedder(context.Background(), c, &wire.Options{})
	if err != nil || reason != "" {
		t.Fatal(reason, err)
	}
	v, err := e.EmbedQuery(t.Context(), "tea")
	if err != nil || len(v) != 3 || key != "Bearer k" || e.Model().Dim != 3 {
		t.Errorf("%v %v, key %q", v, err, key)
	}
	if _, _, err := wire.Embedder(context.Background(), settings(t, "embed: { url: "+srv.URL+" }"), &wire.Options{}); err == nil {
		t.Error("no model was named and none asked for")
	}
}

func TestAQdrantThatIsNotThere(t *testing.T) {
	_, err := wire.Open(t.Context(), settings(t, "store: { path: "+t.TempDir()+", url: 'http://127.0.0.1:1' }"), &wire.Options{NoModel: true})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "store.url") {
		t.Errorf("%v", err)
	}
}
