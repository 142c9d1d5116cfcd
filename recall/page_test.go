package recall

import (
	"testing"
	"time"
)

func TestNearDuplicatesOfAPage(t *testing.T) {
	f := newFake()
	day := 24 * time.Hour
	say := func(id, speaker, text string, age time.Duration) {
		it := item(id, speaker, text)
		it.ValidFrom = now.Add(-age)
		f.add(alice, it)
	}
	say("tea", "Ada", "I prefer green tea.", 0)
	say("tea again", "Ada", "i PREFER green tea!!", 90*day)
	say("tea, Bo", "Bo", "I prefer green tea.", 0)
	say("no tea", "Ada", "I do not prefer green tea.", 0)
	say("2 teas", "Ada", "I prefer 2 green tea.", 0)
	say("3 teas", "Ada", "I prefer 3 green tea.", 0)
	say("walk", "Ada", "Yesterday I had green tea on a walk.", 0)
	say("another walk", "Ada", "Yesterday I had green tea on a walk.", 30*day)
	e := engine(t, f, nil, Options{})
	res := recall(t, e, Request{Query: "green tea", Limit: 10, MinScore: ptr(0.0)})
	if len(res.Hits) != 7 || len(res.Duplicates) != 1 || res.Duplicates[0] != (Duplicate{ID: "tea again", Of: "tea"}) {
		t.Errorf("%v without %v", ids(res), res.Duplicates)
	}
	all := recall(t, engine(t, f, nil, Options{Duplicate: -1}), Request{Query: "green tea", Limit: 10, MinScore: ptr(0.0)})
	if len(all.Hits) != 8 || all.Duplicates != nil {
		t.Errorf("%v without %v", ids(all), all.Duplicates)
	}
}
