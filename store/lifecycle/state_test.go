package lifecycle

import (
	"testing"
	"time"

	"evoke/store"
)

func TestStateOf(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	for _, c := range []struct {
		want string
		it   store.Item
	}{
		{Current, store.Item{}},
		{Current, store.Item{ValidTo: after, SupersededBy: "next", ExpiresAt: after}},
		{Ended, store.Item{ValidTo: now}},
		{Replaced, store.Item{ValidTo: before, SupersededBy: "next", ExpiresAt: before}},
		{Retracted, store.Item{ValidTo: before, SupersededBy: "next", RetractedAt: before}},
		{string(Expired), store.Item{ExpiresAt: now}},
		{Summarized, store.Item{Aside: store.Aside{Summary: "s"}, ValidTo: before}},
		{Forgotten, store.Item{Aside: store.Aside{Summary: "s", ForgottenAt: before}, RetractedAt: before}},
	} {
		if got := StateOf(&c.it, now); got != c.want {
			t.Errorf("%+v: %s, want %s", c.it, got, c.want)
		}
	}
}
