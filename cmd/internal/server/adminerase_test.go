package server

import (
	"strings"
	"testing"
)

// A receipt verifies, and a changed one does not; what was erased comes back once the erasure is lifted.
func TestReceiptsOfAnErasure(t *testing.T) {
	w := newWorld(t, "")
	const said = "zebraquartz"
	w.want(200, w.call("POST", "/v1/messages", `{"user":"ann","thread":"`+said+` thread","messages":[{"id":"`+said+`-1","name":"`+said+`","role":"user","content":"I live in `+said+` city."},{"role":"assistant","content":"`+said+`!"}]}`))
	w.want(200, w.call("POST", "/v1/flush", `{"user":"ann"}`))
	w.want(201, w.call("POST", "/v1/memories", `{"user":"ann","id":"`+said+`-2","content":"My boat is `+said+`","metadata":{"`+said+`":"`+said+`"}}`, "Idempotency-Key", said))
	w.want(200, w.call("POST", "/v1/context", `{"user":"ann","query":"`+said+`","min_score":0}`))
	shown := w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ann","query":"`+said+`","dry_run":true}`))
	if items, ok := shown.json(t)["items"].([]any); !ok || len(items) == 0 {
		t.Errorf("the query shows nothing: %s", shown.body)
	}
	id, _ := w.done(w.call("POST", "/v1/admin/erase", `{"user":"ann"}`))
	receipt := w.want(200, w.call("GET", "/v1/admin/erase/"+id+"/receipt", "")).body
	if !strings.Contains(receipt, `"clean":true`) {
		t.Error(receipt)
	}
	w.want(200, w.call("POST", "/v1/admin/erase/verify", receipt))
	w.want(400, w.call("POST", "/v1/admin/erase/verify", strings.Replace(receipt, `"clean":true`, `"clean":false`, 1)))
	w.want(404, w.call("GET", "/v1/admin/erase/no-such/receipt", ""))
	again := w.want(200, w.call("POST", "/v1/messages", `{"user":"ann","thread":"`+said+` thread","messages":[{"id":"`+said+`-1","name":"`+said+`","role":"user","content":"I live in `+said+` city."}]}`))
	if w.str(again, "skipped") != "erased" {
		t.Error(again.body)
	}
	if a := w.want(200, w.call("POST", "/v1/admin/erase/lift", `{"operation":"`+id+`"}`)); a.json(t)["tombstones"].(float64) == 0 {
		t.Error(a.body)
	}
	if a := w.want(200, w.call("POST", "/v1/admin/erase/lift", `{"operation":"`+id+`"}`)); a.json(t)["tombstones"].(float64) != 0 {
		t.Errorf("lifted twice: %s", a.body)
	}
	if a := w.want(404, w.call("POST", "/v1/admin/erase/lift", `{"operation":"no-such"}`)); !strings.Contains(a.body, "that of an erasure's operation") {
		t.Errorf("does not say which ids it takes: %s", a.body)
	}
}
