package server

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"evoke"
	"evoke/extract"
)

// The log of a conversation's way has numbers and names, and nothing that was said.
func TestStagesAreLoggedWithoutContent(t *testing.T) {
	var log bytes.Buffer
	var seen []string
	m, err := evoke.Open(t.Context(), &evoke.Options{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Events: &evoke.Events{Stage: func(s extract.Stage) { seen = append(seen, s.Stage) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOver(t, "", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
	w.want(200, w.call("POST", "/v1/messages", `{"user":"xylophone-user","thread":"xylophone-thread","messages":[{"role":"user","content":"I like xylophone music."},{"role":"assistant","content":"Noted, xylophone."}]}`))
	w.want(200, w.call("POST", "/v1/flush", `{"user":"xylophone-user"}`))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stage=extract", "stage=reconcile", "stage=store", "state=stored", "tenant=", "extractor=rules/", "ms="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "xylophone") {
		t.Errorf("content in the log:\n%s", log.String())
	}
	if !slices.Contains(seen, extract.StageStore) {
		t.Errorf("stages seen: %v", seen)
	}
}
