package benchmarks

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestBacklogRun(t *testing.T) {
	var said []string
	r, err := RunBacklog(t.Context(), kept{bag{cached: true}}, smallSet(), &BacklogOptions{
		Items: 60, Turns: 40, Recalls: 50, Block: 600 * time.Millisecond, Pairs: 2, Dir: t.TempDir(), Progress: func(s string) { said = append(said, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != 2 || r.Quiet.N != 60 || r.Busy.N != 60 || r.Quiet.P95 <= 0 || r.Ratio.Low > r.Ratio.Value || r.Ratio.High < r.Ratio.Value || !r.Bounded() || len(said) == 0 {
		t.Errorf("%+v", r)
	}
	for _, p := range r.Pairs {
		if p.Ingested < 10 || p.Ingested > 30 {
			t.Errorf("%d turns in 0.6 s at 40/s", p.Ingested)
		}
	}
	var md, js bytes.Buffer
	if err := r.WriteMarkdown(&md); err != nil || !strings.Contains(md.String(), "stays bounded") || !strings.Contains(md.String(), "| busy | 60 |") {
		t.Errorf("%v: %s", err, md.String())
	}
	var back BacklogReport
	if err := r.WriteJSON(&js); err != nil || json.Unmarshal(js.Bytes(), &back) != nil || back.Ratio != r.Ratio || len(back.Pairs) != 2 {
		t.Errorf("%v: %s", err, js.String())
	}
	r.Pairs[1].EndVectors = 1000
	md.Reset()
	if err := r.WriteMarkdown(&md); err != nil || !strings.Contains(md.String(), "backlog grows") {
		t.Error(md.String())
	}
}
