package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"evoke/cmd/internal/cli"
)

// Who re-embeds with the model that the vectors are of is told that there is nothing to do, and how to do it nevertheless.
func TestReembedWithTheSameModel(t *testing.T) {
	type row struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		rows := make([]row, len(in.Input))
		for i := range rows {
			rows[i] = row{i, []float32{1, 0, 0}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": rows})
	}))
	defer srv.Close()
	home := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cli.Process{
			Args: args, In: strings.NewReader(""), Out: &out, Err: &errs,
			Environ: []string{"HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "EVOKE_EMBED_URL=" + srv.URL, "EVOKE_EMBED_MODEL=m", "EVOKE_EMBED_DIMENSION=3"},
		})
		if code != 0 || errs.Len() > 0 {
			t.Fatalf("%v: exit %d, %s", args, code, errs.String())
		}
		return out.String()
	}
	run("remember", "I like tea")
	if got := run("reembed"); !strings.Contains(got, "nothing to do") || !strings.Contains(got, "--all") || strings.Contains(got, "conflict") {
		t.Errorf("%q", got)
	}
	var doc struct{ Operation, Note *string }
	if got := run("reembed", "--json"); json.Unmarshal([]byte(got), &doc) != nil || doc.Operation != nil || doc.Note == nil {
		t.Errorf("%q", got)
	}
	if got := run("reembed", "--all"); !strings.Contains(got, "done") {
		t.Errorf("%q", got)
	}
}
