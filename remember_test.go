package evoke

import (
	"fmt"
	"sync"
	"testing"

	"evoke/store"
)

// Two hundred callers say the same in three wordings: one item, and none of what they brought is lost.
func TestRememberedByManyAtOnceIsOneItem(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u"}
	for _, kind := range []store.Kind{store.Semantic, store.Procedural} {
		wordings := []string{"The user lives in Rome " + string(kind), "the user LIVES in Rome, " + string(kind) + "!", "I currently reside in Rome " + string(kind)}
		callers := 200
		if testing.Short() {
			callers = 60
		}
		var wg sync.WaitGroup
		ids := make([]string, callers)
		for i := range callers {
			wg.Go(func() {
				r, err := m.Remember(t.Context(), RememberRequest{Who: who, Kind: kind, Content: wordings[i%len(wordings)],
					Importance: ptr(float64(i) / float64(callers)), Confidence: ptr(1 - float64(i)/float64(callers)), IdempotencyKey: fmt.Sprint(kind, i)})
				if err != nil {
					t.Error(err)
				}
				ids[i] = r.Item.ID
			})
		}
		wg.Wait()
		page, err := m.List(t.Context(), ListRequest{Who: who, Limit: 1000, Filter: store.Filter{Kinds: []store.Kind{kind}}})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%s: %d items, %v", kind, len(page.Items), err)
		}
		it := page.Items[0]
		if it.Provenance.Evidence != callers-1 || it.Confidence != 1 || it.Importance < float64(callers-1)/float64(callers) || it.Importance > 1 {
			t.Errorf("%s: an update is lost: evidence %d, confidence %v, importance %v", kind, it.Provenance.Evidence, it.Confidence, it.Importance)
		}
		for i, id := range ids {
			if id != it.ID {
				t.Errorf("%s: caller %d got %q, the item is %q", kind, i, id, it.ID)
			}
		}
	}
}

func TestRememberTellsOtherWordsFromOtherStatements(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u"}
	first, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "The user likes tea", Category: store.Preference})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    RememberRequest
		same bool
	}{
		{RememberRequest{Content: "The user enjoys tea"}, true},
		{RememberRequest{Content: "I like tea", Category: store.Preference}, true},
		{RememberRequest{Content: "The user does not like tea"}, false},
		{RememberRequest{Content: "The user likes green tea"}, false},
		{RememberRequest{Content: "Mia likes tea"}, false},
		{RememberRequest{Content: "I like tea", Speaker: "Ben"}, false},
		{RememberRequest{Content: "The user is fond of tea", Kind: store.Procedural}, false},
		{RememberRequest{Content: "The user is fond of tea", Category: store.Goal}, false},
		{RememberRequest{Content: "The user really likes tea", Metadata: store.Metadata{"from": store.String("form")}}, false},
		{RememberRequest{Content: "User is fond of tea", ID: "mine"}, false},
		{RememberRequest{Content: "The user likes tea", Kind: store.Episodic}, false},
	} {
		c.r.Who = who
		got, err := m.Remember(t.Context(), c.r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Existing != c.same || (got.Item.ID == first.Item.ID) != c.same || c.same && got.Item.Content != "The user likes tea" {
			t.Errorf("%q: %+v", c.r.Content, got)
		}
	}
}
