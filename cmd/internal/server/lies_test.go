package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

// lied is a server over an engine whose language model lies.
type lied struct {
	*world
	m       *evoke.Memory
	service *llmtest.Service
}

func newLied(t *testing.T, reply llmtest.Reply, change func(*llm.Options)) *lied {
	t.Helper()
	l := &lied{service: llmtest.Start(t, reply)}
	o := llm.Options{BaseURL: l.service.URL, HTTPClient: l.service.Client, Pause: time.Millisecond}
	if change != nil {
		change(&o)
	}
	x, err := llm.New("m", &o)
	if err != nil {
		t.Fatal(err)
	}
	l.world = newWorldOver(t, "", func(tenant string) (Memory, error) { return l.m.ForTenant(tenant) })
	events := l.s.meters.Events()
	events.Span = l.s.meters.Timed(nil)
	if l.m, err = evoke.Open(t.Context(), &evoke.Options{Extractor: x, Events: events, Logger: l.s.log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.m.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// tell ingests what a user says, with a word of the assistant behind it, and returns the event and the turns' texts by id.
func (l *lied) tell(user, thread string, said ...string) (event string, turns map[string]string) {
	l.t.Helper()
	var msgs []message.Message
	for _, s := range said {
		msgs = append(msgs, message.Message{Role: message.User, Content: s})
	}
	msgs = append(msgs, message.Message{Role: message.Assistant, Content: "Fine."})
	r, err := l.m.Ingest(l.t.Context(), evoke.IngestRequest{Who: evoke.Who{User: user, Thread: thread}, Messages: msgs})
	if err != nil {
		l.t.Fatal(err)
	}
	turns = map[string]string{}
	for _, ref := range r.Turns {
		turns[ref.ID] = msgs[ref.Index].Content
	}
	return r.EventID, turns
}

// ends extracts what waits and returns how an event ended.
func (l *lied) ends(user, event string) store.Event {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	if _, err := l.m.Flush(ctx, evoke.Who{User: user}); err != nil {
		l.t.Fatal(err)
	}
	ev, err := l.m.Event(ctx, event, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	return ev
}

// distilled are all versions of what the model's answers made of a user's words.
func (l *lied) distilled(user string) []store.Item {
	l.t.Helper()
	page, err := l.m.List(l.t.Context(), evoke.ListRequest{Who: evoke.Who{User: user}, All: true, Limit: 1000, Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}})
	if err != nil {
		l.t.Fatal(err)
	}
	return slices.DeleteFunc(page.Items, func(it store.Item) bool { return it.Provenance.Extractor == "" })
}

// grounded checks that items quote the turns that they rest on.
func (l *lied) grounded(name string, items []store.Item, turns map[string]string) {
	l.t.Helper()
	for _, it := range items {
		p := it.Provenance
		if p.Quote == "" || !slices.ContainsFunc(p.Turns, func(id string) bool { return strings.Contains(turns[id], p.Quote) }) {
			l.t.Errorf("%s: not borne out: %q, %+v", name, it.Content, p)
		}
	}
}

// counted checks that the service, the metrics and /v1/usage count the same calls and tokens.
func (l *lied) counted(promptTokens, completionTokens int) {
	l.t.Helper()
	calls := l.service.Calls()
	sum := func(name string) (n float64) {
		for _, line := range shown(l.t, l.world) {
			if strings.HasPrefix(line, name) {
				v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
				if err != nil {
					l.t.Fatal(err)
				}
				n += v
			}
		}
		return n
	}
	if n := sum("evoke_llm_calls_total{"); int(n) != calls {
		l.t.Errorf("%d calls, the metric says %v", calls, n)
	}
	if p, c := sum(`evoke_llm_tokens_total{direction="prompt"`), sum(`evoke_llm_tokens_total{direction="completion"`); int(p) != promptTokens || int(c) != completionTokens {
		l.t.Errorf("%d and %d tokens, the metric says %v and %v", promptTokens, completionTokens, p, c)
	}
	total, _ := l.want(http.StatusOK, l.call("GET", "/v1/usage", "")).json(l.t)["total"].(map[string]any)
	want := map[string]any{"calls": float64(calls), "prompt_tokens": float64(promptTokens), "completion_tokens": float64(completionTokens)}
	for k, v := range want {
		if total[k] != v {
			l.t.Errorf("/v1/usage says %v, want %v", total, want)
			break
		}
	}
}

// elsewhere are the shapes of which a good operation quotes what was not said here: it is refused as ungrounded.
var elsewhere = map[string]int{
	"quotes within a quote": 1, "full-width signs within": 1, "elements as strings": 1, "a vague type": 3, "traditional Chinese keys": 1, "Japanese keys": 1, "all nulls but what counts": 1, "wrong types": 1,
}

// Every shape of answer, through the whole engine: what is good and borne out by the words is stored, all of it; what is
// not is never stored; the calls are bounded, and counted alike everywhere.
func TestShapesOfAnswersEndToEnd(t *testing.T) {
	const goal, home = "The user wants to learn Go", "The user lives in Bergen"
	honest := llmtest.Knowing(llmtest.Statement{Quote: "I want to learn Go", Content: goal, More: []any{"category", "goal"}},
		llmtest.Statement{Quote: "I live in Bergen", Content: home, More: []any{"subject", "home", "category", "context"}})
	var answer string
	l := newLied(t, func(w http.ResponseWriter, r *llmtest.Request) {
		text := answer
		if answer == "" {
			honest(w, r)
			return
		}
		for _, k := range r.Block("known") { // the shapes speak of k1 and k2, whichever way the two are shown
			if strings.Contains(k.Content, "Bergen") && k.ID == "k1" {
				text = strings.NewReplacer("k1", "k2", "k2", "k1", "K2", "K1").Replace(text)
			}
		}
		llmtest.Say(w, text)
	}, nil)
	kept := 0
	for i, c := range llmtest.Shapes() {
		user := fmt.Sprint("u", i)
		answer = ""
		event, turns := l.tell(user, "first", "I want to learn Go.", "I live in Bergen.")
		if ev := l.ends(user, event); ev.Facts != 2 {
			t.Fatalf("%+v", ev)
		}
		answer = c.Text
		event, more := l.tell(user, "t", llmtest.Conversation()...)
		maps.Copy(turns, more)
		before := l.service.Calls()
		ev := l.ends(user, event)
		if n := l.service.Calls() - before; n > 3*len(more) {
			t.Errorf("%s: %d calls", c.Name, n)
		}
		items := l.distilled(user)
		l.grounded(c.Name, items, turns)
		closed := 0
		items = slices.DeleteFunc(items, func(it store.Item) bool {
			first := it.Content == goal || it.Content == home
			if first && it.Closed() {
				closed++
			}
			return first
		})
		adds, takes := strings.Count(c.Ops, "add")+strings.Count(c.Ops, "supersede"), strings.Count(c.Ops, " k")
		adds -= elsewhere[c.Name]
		switch {
		case c.Bad == "truncated": // asked for again, in parts, whose turns have other names than this answer's
			adds, takes = len(items), closed
		case c.Name == "supersede without target":
			takes++ // who moves lives no longer where he lived
		}
		if len(items) != adds || closed != takes {
			t.Errorf("%s: %d of %d operations are stored, %d of %d items closed: %s; event %+v", c.Name, len(items), adds, closed, takes, contentsOf(items), ev)
		}
		if ev.State == store.EventPending || ev.State == store.EventDead && c.Ops != "" && c.Name != "full-width signs" || ev.State == store.EventStored && len(items)+closed == 0 {
			t.Errorf("%s: %+v", c.Name, ev)
		}
		kept += len(items)
	}
	n := l.service.Calls()
	l.counted(n*llmtest.PromptTokens, n*llmtest.CompletionTokens)
	t.Logf("%d shapes, %d calls, %d facts stored, each borne out", len(llmtest.Shapes()), n, kept)
}

// statements are what an honest model would find.
var statements = []llmtest.Statement{
	{Quote: "I collect old maps", Content: "The user collects old maps"},
	{Quote: "moved to Oslo", Content: "The user lives in Oslo", Replaces: "lives in", More: []any{"subject", "home", "category", "context"}},
}

// However an answer is wrapped, what is good in it is stored and nothing else.
func TestWrappingsEndToEnd(t *testing.T) {
	l := newLied(t, nil, nil)
	for i, c := range llmtest.Wrappings() {
		l.service.Script(llmtest.Spoiled(c.Text, statements...))
		user := fmt.Sprint("u", i)
		event, turns := l.tell(user, "t", "I collect old maps.", "By the way, I moved to Oslo.")
		ev := l.ends(user, event)
		items := l.distilled(user)
		l.grounded(c.Name, items, turns)
		if got := contentsOf(items); ev.State != store.EventStored || got != "The user collects old maps; The user lives in Oslo" && got != "The user lives in Oslo; The user collects old maps" {
			t.Errorf("%s: %s; %+v", c.Name, got, ev)
		}
	}
	n := l.service.Calls()
	l.counted(n*llmtest.PromptTokens, n*llmtest.CompletionTokens)
}

// Whatever a service fails with for a while, nothing is lost by it, and what it failed with is counted, too.
func TestFailuresEndToEnd(t *testing.T) {
	l := newLied(t, nil, func(o *llm.Options) { o.Timeout = 2 * time.Second })
	answers := 0
	cases := append(llmtest.Failures(), llmtest.Failure{Name: "silence", Reply: llmtest.Stall(), Passes: true})
	for i, c := range cases {
		if !c.Passes || c.Name == "quota used up" {
			continue // it waits for an operator, or for another day: see package extract
		}
		l.service.Script(llmtest.Sequence(c.Reply, llmtest.Knowing(statements...)))
		user, before := fmt.Sprint("u", i), l.service.Calls()
		event, turns := l.tell(user, "t", "I collect old maps.")
		ev := l.ends(user, event)
		items := l.distilled(user)
		l.grounded(c.Name, items, turns)
		if n := l.service.Calls() - before; ev.State != store.EventStored || len(items) != 1 || n != 2 {
			t.Errorf("%s: %d calls, %s; %+v", c.Name, n, contentsOf(items), ev)
		}
		answers++
	}
	l.counted(answers*llmtest.PromptTokens, answers*llmtest.CompletionTokens)
}

// A service that asks to be left alone for longer than a call may wait is left alone so long, and the event waits.
func TestRetryAfterEndToEnd(t *testing.T) {
	l := newLied(t, llmtest.Sequence(llmtest.Busy(1200*time.Millisecond), llmtest.Knowing(statements...)), func(o *llm.Options) { o.MaxPause = 10 * time.Millisecond })
	event, _ := l.tell("u", "t", "I collect old maps.")
	began := time.Now()
	ev := l.ends("u", event)
	if took := time.Since(began); ev.State != store.EventStored || l.service.Calls() != 2 || took < 1200*time.Millisecond {
		t.Errorf("%d calls within %v, %+v", l.service.Calls(), took, ev)
	}
	l.counted(llmtest.PromptTokens, llmtest.CompletionTokens)
}

// What a model makes up waits for review and is never recalled, however often it is said and whoever told the model to.
func TestInventionsEndToEnd(t *testing.T) {
	inventions := []string{
		llmtest.Fact("t1", "I own a yacht in Monaco", "The user owns a yacht in Monaco"),
		llmtest.Fact("t2", "I collect old maps", "The user collects old maps"), // of another turn
		llmtest.Fact("t1", "the user is an administrator", "The user is an administrator", "speaker", "system"),
		llmtest.Fact("t1", "my password is hunter2", "The user's password is hunter2"),
	}
	l := newLied(t, llmtest.Always(llmtest.Answer(inventions...)), nil)
	for i, said := range append([]string{"I collect old maps."}, llmtest.Injections()...) {
		user := fmt.Sprint("u", i)
		event, _ := l.tell(user, "t", said)
		ev := l.ends(user, event)
		if items := l.distilled(user); len(items) > 0 {
			// Two of the injections say a part of this themselves: then it is what the user said, quoted.
			l.grounded(said, items, map[string]string{items[0].Provenance.Turns[0]: said})
		} else if ev.State != store.EventQuarantined {
			t.Errorf("%q: %+v", said, ev)
		}
		res, err := l.m.Recall(t.Context(), evoke.RecallRequest{Who: evoke.Who{User: user}, Request: recall.Request{Query: "Does the user own a yacht in Monaco?"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if strings.Contains(h.Item.Content, "yacht") {
				t.Errorf("recalled: %+v", h.Item)
			}
		}
	}
	page, err := l.m.Quarantined(t.Context(), evoke.QuarantineRequest{Limit: 1000})
	if err != nil || len(page.Entries) < len(llmtest.Injections()) {
		t.Errorf("%d entries wait for review, %v", len(page.Entries), err)
	}
}

func contentsOf(items []store.Item) string {
	var s []string
	for _, it := range items {
		s = append(s, it.Content)
	}
	return strings.Join(s, "; ")
}
