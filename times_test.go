package evoke

import (
	"errors"
	"strings"
	"testing"
	"time"

	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

func moment(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// "Yesterday", said half past midnight on the first of March in Tokyo, is the leap day, for facts, blocks and questions,
// although in London it is the day before still.
func TestDaysAreThoseOfTheSpeaker(t *testing.T) {
	said := moment(t, "2024-03-01T00:30:00+09:00")
	m := open(t, &Options{Clock: func() time.Time { return said.Add(time.Hour) }})
	w := Who{User: "ada", Thread: "t1"}
	_, err := m.Ingest(t.Context(), IngestRequest{Who: w, Messages: []message.Message{
		{ID: "m1", Role: message.User, Content: "I moved to Oslo yesterday.", Time: said}, {ID: "m2", Role: message.Assistant, Content: "How is it there?", Time: said.Add(time.Minute)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	w.Thread = ""
	found := false
	page, err := m.List(t.Context(), ListRequest{Who: w})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range page.Items {
		switch it.Kind {
		case store.Semantic:
			found = true
			if it.Date() != "2024-02-29" || it.Provenance.Precision != "day" || it.Provenance.Zone != "+09:00" || !it.ValidFrom.Equal(moment(t, "2024-02-28T15:00:00Z")) {
				t.Errorf("%s from %s, %+v", it.Content, it.ValidFrom, it.Provenance)
			}
		default:
			if it.Date() != "2024-03-01" || !it.ValidFrom.Equal(it.ValidFrom.UTC()) {
				t.Errorf("%s from %s", it.Content, it.ValidFrom)
			}
		}
	}
	if !found {
		t.Fatalf("no fact among %d items", len(page.Items))
	}
	date := func(query, zone string) float64 {
		t.Helper()
		res, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: query, Zone: zone, Explain: true, Kinds: []store.Kind{store.Episodic}, MinScore: new(float64)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if strings.Contains(h.Item.Content, "Oslo") {
				return h.Explain.Terms["date"]
			}
		}
		t.Fatalf("%q finds nothing", query)
		return 0
	}
	if got := date("Where did I move on 29 February 2024?", ""); got != 1 {
		t.Errorf("the leap day: %g", got)
	}
	if got := date("Where did I move today?", "Asia/Tokyo"); got != 1 {
		t.Errorf("today in Tokyo: %g", got)
	}
	if got := date("What did I say on 28 February 2024?", ""); got == 1 {
		t.Errorf("the day before: %g", got)
	}
	c, err := m.Context(t.Context(), ContextRequest{Who: w, Request: recall.Request{Query: "Who lives in Oslo?"}})
	if err != nil || !strings.Contains(c.Text, "- [2024-03-01 episodic] user: I moved to Oslo yesterday.") || !strings.Contains(c.Text, "[2024-02-29 semantic/context]") {
		t.Errorf("%v\n%s", err, c.Text)
	}
}

// "As of" is about an instant, whatever offset it is written in.
func TestAsOfHoldsInEveryOffset(t *testing.T) {
	at := moment(t, "2024-02-29T12:00:00Z")
	clock := clockAt(at)
	m := open(t, &Options{Clock: clock.now})
	w := Who{User: "ada"}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "The spare key is under the flower pot"}); err != nil {
		t.Fatal(err)
	}
	clock.set(at.AddDate(0, 1, 0))
	for minutes := -11 * 60; minutes <= 14*60; minutes += 45 {
		zone := time.FixedZone("", minutes*60)
		for _, c := range []struct {
			asOf time.Time
			hits int
		}{{at.Add(-time.Second).In(zone), 0}, {at.Add(time.Second).In(zone), 1}} {
			res, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: "Where is the spare key?", AsOf: c.asOf}})
			if err != nil || len(res.Hits) != c.hits {
				t.Errorf("as of %s: %d hits, %v", c.asOf.Format(time.RFC3339), len(res.Hits), err)
			}
		}
	}
}

// Extreme offsets and moments are no window, or are refused with the field's name; nothing fails.
func TestExtremeTimes(t *testing.T) {
	m := open(t, &Options{})
	w := Who{User: "ada"}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "The spare key is under the flower pot"}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"the spare key 999999999999 years ago", "the spare key 99999999999999999999999 days ago", "spare key in 1e308 weeks", "spare key -5 days ago",
		"spare key 999999 months from now", "99999999年前的钥匙 spare key", "the spare key on 31 February 9999", "spare key in the year 0000", "4096 tokens of spare key",
	} {
		for _, asOf := range []time.Time{{}, time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)} {
			if res, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: q, AsOf: asOf}}); err != nil || len(res.Hits) != 1 {
				t.Errorf("%q as of %s: %d hits, %v", q, asOf, len(res.Hits), err)
			}
		}
	}
	for field, r := range map[string]recall.Request{
		"as_of": {Query: "key", AsOf: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"zone":  {Query: "key", Zone: "Mars/Olympus"},
	} {
		var fe *store.FieldError
		if _, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: r}); !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
