package evoke

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

// Files as the other systems write them, each with one entry that is broken.
var foreignFiles = map[foreign.Format]string{
	foreign.DeerFlow: `{
  "version": "1.0",
  "lastUpdated": "2026-03-01T10:00:00Z",
  "user": {
    "workContext": {"summary": "Designs footbridges for a county office.", "updatedAt": "2026-03-01T10:00:00Z"},
    "personalContext": {"summary": "", "updatedAt": ""},
    "topOfMind": {"summary": "", "updatedAt": ""}
  },
  "history": {
    "recentMonths": {"summary": "", "updatedAt": ""},
    "earlierContext": {"summary": "", "updatedAt": ""},
    "longTermBackground": {"summary": "在成都长大。", "updatedAt": "2026-02-01T00:00:00Z"}
  },
  "facts": [
    {"id": "fact_a1", "content": "User prefers green tea over coffee", "category": "preference", "confidence": 0.9, "createdAt": "2026-01-02T03:04:05Z", "source": "thread-7"},
    {"id": "fact_a2", "content": ["not", "a", "text"], "category": "knowledge", "confidence": 0.9, "createdAt": "2026-01-03T03:04:05Z", "source": "thread-7"},
    {"id": "fact_a3", "content": "用户周末在山里徒步", "category": "behavior", "confidence": 0.7, "createdAt": "2026-01-04T03:04:05Z", "source": "thread-8"}
  ]
}`,
	foreign.Registry: `{"id":"5f1c","type":"semantic","content":"The deploy window is Tuesday evening","metadata":{"source":"handbook","tags":["ops","deploy"]},"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-05T03:04:05Z","access_count":12,"importance":0.8}
{"id":"5f1d","type":"episodic","content":"Halved the queue's batch size after an outage","metadata":{},"created_at":"2026-01-06T08:00:00Z","updated_at":"2026-01-06T08:00:00Z","access_count":0,"importance":0.3}
{"id":"5f1e","type":"procedural","content":"Run the migrations
{"id":"5f1f","type":"procedural","content":"发布之前先备份数据库","metadata":{},"created_at":"2026-01-07T08:00:00Z","updated_at":"2026-01-07T08:00:00Z","access_count":3,"importance":1}
`,
	foreign.Mem0: `{"results": [
  {"id": "0f3a", "memory": "Is allergic to peanuts", "hash": "9d2e", "metadata": {"topic": "health"}, "score": null, "created_at": "2026-01-02T03:04:05.678901-08:00", "updated_at": null, "user_id": "alice", "categories": ["health"]},
  {"id": "0f3b", "memory": {"text": "of another shape"}, "hash": "aa", "created_at": "2026-01-02T03:04:05-08:00", "user_id": "alice"},
  {"id": "0f3c", "memory": "每周三学习陶艺", "hash": "b1", "metadata": null, "created_at": "2026-01-03T03:04:05-08:00", "updated_at": "2026-02-03T03:04:05-08:00", "user_id": "alice", "run_id": "r-9"}
]}`,
	foreign.ChatGPT: `[
  {"title": "Knots", "create_time": 1767323045.1, "update_time": 1767323099.2, "conversation_id": "67a1", "current_node": "n3", "mapping": {
    "root": {"id": "root", "message": null, "parent": null, "children": ["n1"]},
    "n1": {"id": "n1", "message": {"id": "n1", "author": {"role": "system"}, "create_time": null, "content": {"content_type": "text", "parts": [""]}, "metadata": {"is_visually_hidden_from_conversation": true}}, "parent": "root", "children": ["n2"]},
    "n2": {"id": "n2", "message": {"id": "n2", "author": {"role": "user"}, "create_time": 1767323046.5, "content": {"content_type": "text", "parts": ["Which knot holds a hammock?"]}, "metadata": {}}, "parent": "n1", "children": ["n3"]},
    "n3": {"id": "n3", "message": {"id": "n3", "author": {"role": "assistant"}, "create_time": 1767323050, "content": {"content_type": "text", "parts": ["A bowline holds it, 称人结也可以。"]}, "metadata": {}}, "parent": "n2", "children": []}}},
  {"title": "Without messages", "create_time": 1767323045, "conversation_id": "67a2", "current_node": "x", "mapping": null}
]`,
	foreign.Claude: `[
  {"uuid": "c-1", "name": "Ferry", "created_at": "2026-01-02T03:04:05.000000Z", "updated_at": "2026-01-02T03:10:00.000000Z", "account": {"uuid": "acc"}, "chat_messages": [
    {"uuid": "m-1", "text": "When does the island ferry leave?", "content": [{"type": "text", "text": "When does the island ferry leave?"}], "sender": "human", "created_at": "2026-01-02T03:04:06.000000Z", "attachments": [], "files": []},
    {"uuid": "m-2", "text": "", "content": [{"type": "thinking", "thinking": "A timetable."}, {"type": "text", "text": "渡轮早上八点出发。"}], "sender": "assistant", "created_at": "2026-01-02T03:04:09.000000Z", "attachments": [], "files": []}]},
  {"uuid": "", "name": "Without an id", "created_at": "2026-01-02T03:04:05.000000Z", "chat_messages": []}
]`,
}

// A file of each kind comes in with what it says of kinds, times, uses and importance, is found by its words, and changes
// nothing when it is imported again; its broken entry is named, and all others are there.
func TestFilesOfEachKindAreImported(t *testing.T) {
	t.Parallel()
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 1, d, h, m, s, 0, time.UTC) }
	for format, c := range map[foreign.Format]struct {
		bad      int               // the broken entry
		count    int               // sections of the profile
		sections string            // their texts
		items    []string          // as it is below, by id
		asked    map[string]string // id by query
	}{
		foreign.DeerFlow: {8, 2, "Designs footbridges for a county office.在成都长大。", []string{
			"deer-flow:fact_a1 semantic preference 2026-01-02T03:04:05Z 2026-01-02T03:04:05Z uses 0 importance 0.5 confidence 0.9 User prefers green tea over coffee",
			"deer-flow:fact_a3 semantic behavior 2026-01-04T03:04:05Z 2026-01-04T03:04:05Z uses 0 importance 0.5 confidence 0.7 用户周末在山里徒步",
		}, map[string]string{"green tea": "deer-flow:fact_a1", "在山里徒步": "deer-flow:fact_a3"}},
		foreign.Registry: {3, 0, "", []string{
			"memory-registry:5f1c semantic  2026-01-05T03:04:05Z 2026-01-02T03:04:05Z uses 12 importance 0.8 confidence 1 The deploy window is Tuesday evening",
			"memory-registry:5f1d episodic  2026-01-06T08:00:00Z 2026-01-06T08:00:00Z uses 0 importance 0.3 confidence 1 Halved the queue's batch size after an outage",
			"memory-registry:5f1f procedural  2026-01-07T08:00:00Z 2026-01-07T08:00:00Z uses 3 importance 1 confidence 1 发布之前先备份数据库",
		}, map[string]string{"deploy window": "memory-registry:5f1c", "outage of the queue": "memory-registry:5f1d", "备份数据库": "memory-registry:5f1f"}},
		foreign.Mem0: {2, 0, "", []string{
			"mem0:0f3a semantic  2026-01-02T11:04:05Z 2026-01-02T11:04:05Z uses 0 importance 0.5 confidence 1 Is allergic to peanuts",
			"mem0:0f3c semantic  2026-02-03T11:04:05Z 2026-01-03T11:04:05Z uses 0 importance 0.5 confidence 1 每周三学习陶艺",
		}, map[string]string{"peanuts": "mem0:0f3a", "学习陶艺": "mem0:0f3c"}},
		foreign.ChatGPT: {2, 0, "", []string{
			"chatgpt:67a1:n2 episodic  2026-01-02T03:04:06Z 2026-01-02T03:04:06Z uses 0 importance 0.5 confidence 1 Which knot holds a hammock?",
			"chatgpt:67a1:n3 episodic  2026-01-02T03:04:10Z 2026-01-02T03:04:10Z uses 0 importance 0.5 confidence 1 A bowline holds it, 称人结也可以。",
		}, map[string]string{"hammock": "chatgpt:67a1:n2", "称人结": "chatgpt:67a1:n3"}},
		foreign.Claude: {2, 0, "", []string{
			"claude:c-1:m-1 episodic  2026-01-02T03:04:06Z 2026-01-02T03:04:06Z uses 0 importance 0.5 confidence 1 When does the island ferry leave?",
			"claude:c-1:m-2 episodic  2026-01-02T03:04:09Z 2026-01-02T03:04:09Z uses 0 importance 0.5 confidence 1 渡轮早上八点出发。",
		}, map[string]string{"island ferry": "claude:c-1:m-1", "渡轮": "claude:c-1:m-2"}},
	} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			m := open(t, &Options{Clock: clockAt(day(31, 12, 0, 0).AddDate(0, 3, 0)).now})
			who := Who{User: "alice"}
			good := len(c.items) + c.count
			for round, want := range []ImportResult{{Imported: good, FailedN: 1}, {Same: good, FailedN: 1}} {
				res, err := m.ImportFrom(t.Context(), who, format, strings.NewReader(foreignFiles[format]), nil)
				if err != nil || res.Imported != want.Imported || res.Same != want.Same || res.FailedN != 1 || len(res.Failed) != 1 || res.Failed[0].Line != c.bad || res.Failed[0].Error == "" {
					t.Errorf("import %d: %+v, %v, want %+v and entry %d named", round+1, res, err, want, c.bad)
				}
				page, err := m.List(t.Context(), ListRequest{Who: who, Order: store.ByID, Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, it := range page.Items {
					got = append(got, fmt.Sprintf("%s %s %s %s %s uses %d importance %v confidence %v %s", it.ID, it.Kind, it.Category,
						it.ValidFrom.Format("2006-01-02T15:04:05Z07:00"), it.RecordedAt.Format("2006-01-02T15:04:05Z07:00"), it.Uses, it.Importance, it.Confidence, it.Content))
				}
				slices.Sort(got)
				if d := cmp.Diff(c.items, got); d != "" {
					t.Errorf("import %d (-want +got):\n%s", round+1, d)
				}
			}
			p, err := m.Profile(t.Context(), ProfileRequest{Who: who})
			if err != nil {
				t.Fatal(err)
			}
			sections := ""
			for _, s := range p.Sections {
				sections += s.Content
			}
			if sections != c.sections {
				t.Errorf("sections %q, want %q", sections, c.sections)
			}
			for query, id := range c.asked {
				res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: query}})
				if err != nil || len(res.Hits) == 0 || res.Hits[0].Item.ID != id {
					t.Errorf("%q finds %s, want %s first, %v", query, contents(res.Hits), id, err)
				}
			}
		})
	}
}
