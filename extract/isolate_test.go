package extract_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"evoke/extract"
	"evoke/store"
)

// What is wrong with one event buries no other of the same conversation, at few calls more.
func TestPoisonInAConversation(t *testing.T) {
	for name, fail := range map[string]func() error{
		"panic":      func() error { panic("poison") },
		"unreadable": func() error { return extract.ErrUnreadable },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := open(t)
				x := &script{do: func(b extract.Batch, _ int) (ops []extract.Operation, _ error) {
					for _, turn := range b.Turns {
						if turn.Content == "poison" {
							return nil, fail()
						}
						if turn.Turn.Role == "user" {
							ops = append(ops, fact(turn, "The user said "+turn.Content, ""))
						}
					}
					return ops, nil
				}}
				g, w := line(t, db, x, extract.WorkerOptions{})
				var all []*extract.Result
				for i := range 40 {
					text := fmt.Sprint("word ", i)
					if i == 13 {
						text = "poison"
					}
					all = append(all, say(t, g, "th", user(text), assistant("ok")))
				}
				for i, r := range all {
					want := store.EventStored
					if i == 13 {
						want = store.EventDead
					}
					if ev, err := w.Settle(t.Context(), ann.Tenant, r.Event); err != nil || ev.State != want {
						t.Errorf("%d: %+v %v", i, ev, err)
					}
				}
				if facts := factsOf(t, db); len(facts) != 39 {
					t.Errorf("%d facts", len(facts))
				}
				if n := len(x.seen()); n > 14 {
					t.Errorf("%d calls", n)
				}
			})
		})
	}
}

// An extractor that can read nothing is not asked about every event.
func TestWhatCannotBeReadAtAllIsNotAskedAboutPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { return nil, extract.ErrUnreadable }}
		g, w := line(t, db, x, extract.WorkerOptions{})
		var all []*extract.Result
		for i := range 200 {
			all = append(all, say(t, g, "th", user(fmt.Sprint("word ", i)), assistant("ok")))
		}
		for _, r := range all {
			if ev, err := w.Settle(t.Context(), ann.Tenant, r.Event); err != nil || ev.State != store.EventDead {
				t.Fatalf("%+v %v", ev, err)
			}
		}
		if n := len(x.seen()); n > 40 {
			t.Errorf("%d calls", n)
		}
	})
}
