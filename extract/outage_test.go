package extract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/store"
)

// An outage buries nothing, however long it is; the pauses grow.
func TestAnOutageBuriesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(_ extract.Batch, call int) ([]extract.Operation, error) {
			if call <= 20 {
				return nil, fmt.Errorf("model: %w", store.ErrUnavailable)
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{MaxAttempts: 3})
		r := say(t, g, "th", user("one"), assistant("1"))
		ev, err := w.Settle(context.Background(), ann.Tenant, r.Event)
		if err != nil || ev.State != store.EventNothing || len(x.at) != 21 {
			t.Fatalf("%+v %v after %d attempts", ev, err, len(x.at))
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second} {
			if d := x.at[i+1].Sub(x.at[i]); d < most/2 || d > most+200*time.Millisecond {
				t.Errorf("pause %d was %v, want half to all of %v", i, d, most)
			}
		}
	})
}

// A thread that fails while others are done is dead after so many attempts; its turns come along with its next ones.
func TestAThreadThatAloneFailsIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		failures := 0
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			if b.Thread == "th" && failures < 3 {
				failures++
				return nil, fmt.Errorf("model: %w", store.ErrUnavailable)
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{MaxAttempts: 3, Concurrency: 1, RetryMin: 2 * time.Minute})
		r := say(t, g, "th", user("one"), assistant("1"))
		for range 10 { // others speak more often than the thread is tried
			o := say(t, g, "other", user("x"), assistant("y"))
			if ev, err := w.Settle(context.Background(), ann.Tenant, o.Event); err != nil || ev.State != store.EventNothing {
				t.Fatalf("%+v %v", ev, err)
			}
			time.Sleep(20 * time.Second)
		}
		if ev := state(t, db, r); ev.State != store.EventDead || ev.Note != "unavailable" || failures != 3 {
			t.Fatalf("%+v after %d failures", ev, failures)
		}
		r = say(t, g, "th", user("two"), assistant("2"))
		if ev, err := w.Settle(context.Background(), ann.Tenant, r.Event); err != nil || ev.State != store.EventNothing {
			t.Errorf("%+v %v", ev, err)
		}
		if got := x.seen(); !slices.Equal(got[len(got)-1], []string{"one", "1", "two", "2"}) {
			t.Errorf("%q", got)
		}
	})
}

// asks is a failure whose service asks to be left alone for a while.
type asks struct {
	error
	wait time.Duration
}

func (a asks) RetryAfter() time.Duration { return a.wait }
func (a asks) Unwrap() error             { return a.error }

// A service that needs an operator is asked at the longest pause and buries nothing; one that asks for time gets it.
func TestThePauseOfAService(t *testing.T) {
	for _, c := range []struct {
		err         error
		least, most time.Duration
	}{
		{errors.Join(store.ErrInvalid, extract.ErrService), 5 * time.Minute, 5*time.Minute + time.Second},
		{asks{store.ErrUnavailable, 20 * time.Minute}, 20 * time.Minute, 20*time.Minute + time.Second},
		{asks{store.ErrUnavailable, 48 * time.Hour}, time.Hour, time.Hour + time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := open(t)
			x := &script{do: func(_ extract.Batch, call int) ([]extract.Operation, error) {
				if call <= 5 {
					return nil, c.err
				}
				return nil, nil
			}}
			g, w := line(t, db, x, extract.WorkerOptions{MaxAttempts: 2})
			r := say(t, g, "th", user("one"), assistant("1"))
			ev, err := w.Settle(context.Background(), ann.Tenant, r.Event)
			if err != nil || ev.State != store.EventNothing || len(x.at) != 6 {
				t.Fatalf("%+v %v after %d attempts", ev, err, len(x.at))
			}
			if d := x.at[1].Sub(x.at[0]); d < c.least || d > c.most {
				t.Errorf("%v: pause %v", c.err, d)
			}
		})
	}
}

// What a model's answer lacked is told apart.
func TestTheReasonOfAModel(t *testing.T) {
	for _, kind := range []error{extract.ErrUnreadable, extract.ErrRefused} {
		synctest.Test(t, func(t *testing.T) {
			db := open(t)
			x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) {
				return nil, errors.Join(store.ErrInvalid, kind)
			}}
			g, w := line(t, db, x, extract.WorkerOptions{})
			r := say(t, g, "th", user("one"), assistant("1"))
			ev, err := w.Settle(context.Background(), ann.Tenant, r.Event)
			if err != nil || ev.State != store.EventDead || ev.Note != kind.Error() {
				t.Errorf("%+v %v", ev, err)
			}
		})
	}
}

// sized takes so many bytes in one call.
type sized struct{ *script }

func (sized) BatchBytes() int { return 200 }

func TestBatchesFitOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, x := open(t), &script{}
		g, w := line(t, db, sized{x}, extract.WorkerOptions{})
		r := say(t, g, "th", user("one"), assistant("1"), user("two"), assistant("2"), user("three"))
		if ev, err := w.Settle(context.Background(), ann.Tenant, r.Event); err != nil || ev.State != store.EventNothing {
			t.Fatalf("%+v %v", ev, err)
		}
		if got := fmt.Sprint(x.seen()); got != "[[one 1] [two 2] [three]]" {
			t.Error(got)
		}
	})
}
