package server

import (
	"net/http"
	"testing"
)

// A running server takes other keys, and refuses broken ones whole.
func TestKeysChangeWhileRunning(t *testing.T) {
	section := func(key string) string {
		return "keys: { " + HashKey(key) + ": { tenant: acme, role: write } }"
	}
	w := newWorld(t, section("old"))
	stats := func(key string) int {
		return w.call(http.MethodGet, "/v1/stats", "", "Authorization", "Bearer "+key).status
	}
	if stats("old") != 200 || stats("new") != 401 {
		t.Fatal("the first keys are not in force")
	}
	commit, err := w.s.Prepare(settings(t, section("new")))
	if err != nil {
		t.Fatal(err)
	}
	if stats("old") != 200 {
		t.Error("prepared keys are in force before they are committed")
	}
	commit()
	if stats("old") != 401 || stats("new") != 200 {
		t.Error("the new keys are not in force")
	}
}
