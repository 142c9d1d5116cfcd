package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/store"
)

// A day of five hundred turns in twenty-five conversations: one call each, within a stated number of tokens. When the
// budget of the day is spent the rules go on, and it can be seen who did what.
func TestADayOfFiveHundredTurns(t *testing.T) {
	const conversations, exchanges, allowed = 25, 10, 10
	var bytes atomic.Int64
	srv := llmtest.Start(t, func(w http.ResponseWriter, r *llmtest.Request) {
		for _, m := range r.Messages {
			bytes.Add(int64(len(m.Content)))
		}
		llmtest.Knowing(llmtest.Statement{Quote: "I like dish", Content: "The user likes a dish"})(w, r)
	})
	day := func(user, limits string) map[string]int {
		e := open(t, fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { llm: { model: m, url: '%s' %s } } } }", t.TempDir(), srv.URL, limits), &wire.Options{NoModel: true})
		by := map[string]int{}
		for c := range conversations {
			who := evoke.Who{User: user, Thread: fmt.Sprint("t", c)}
			for i := range exchanges {
				said := fmt.Sprintf("Today we talked about matter %d, which went on for quite a while before we had lunch.", i)
				if i == exchanges/2 {
					said = fmt.Sprintf("I like dish%d very much.", c)
				}
				if _, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: who, Messages: []message.Message{
					{Role: message.User, Content: said}, {Role: message.Assistant, Content: "I see, tell me more about it."},
				}}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := e.Flush(t.Context(), who); err != nil {
				t.Fatal(err)
			}
		}
		page, err := e.Events(t.Context(), evoke.EventsRequest{Limit: 1000})
		if err != nil || page.Counts[store.EventPending]+page.Counts[store.EventDead] != 0 {
			t.Fatalf("%+v, %v", page.Counts, err)
		}
		for _, ev := range page.Events {
			name, _, _ := strings.Cut(ev.Extractor, "/")
			if ev.Note != "" && ev.State == store.EventStored {
				name += ": " + ev.Note
			}
			by[name]++
		}
		u, err := e.Usage(t.Context(), evoke.UsageRequest{})
		if err != nil || u.Total.Calls != int64(min(conversations, by["llm"]/exchanges)) {
			t.Errorf("usage %+v, %v, %v", u, by, err)
		}
		if u.Budget != nil && u.Budget.Spent != (limits != "") {
			t.Errorf("budget %+v", u.Budget)
		}
		return by
	}

	if by := day("u", ""); by["llm"] != conversations*exchanges || srv.Calls() != conversations {
		t.Errorf("%d calls for %d conversations; %v", srv.Calls(), conversations, by)
	}
	tokens := bytes.Load() / 4
	const most = 80_000 // of prompts, for the day
	if tokens > most {
		t.Errorf("%d tokens of prompts, more than %d", tokens, most)
	}
	t.Logf("a day of %d turns: %d calls, about %d tokens of prompts", 2*conversations*exchanges, srv.Calls(), tokens)

	before := srv.Calls()
	by := day("v", fmt.Sprintf(", calls_per_day: %d", allowed))
	if got := srv.Calls() - before; got != allowed || by["llm"] != allowed*exchanges || by["rules: budget spent: rules"] != (conversations-allowed)*exchanges {
		t.Errorf("%d calls of %d; %v", got, allowed, by)
	}
}
