package store

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestOutcomesCount(t *testing.T) {
	var o Outcomes
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	o.Count(Succeeded, at)
	o.Count(Failed, at.Add(time.Hour))
	o.Count(Succeeded, at.Add(time.Minute)) // told late
	if want := (Outcomes{Succeeded: 2, Failed: 1, Last: Failed, LastAt: at.Add(time.Hour)}); o != want {
		t.Errorf("%+v, want %+v", o, want)
	}
	most := Outcomes{Failed: math.MaxInt}
	if most.Count(Failed, at); most.Failed <= 0 {
		t.Errorf("%d failures", most.Failed)
	}
}

func TestOutcomesPrepared(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 123, time.FixedZone("x", 3600))
	it := Item{ID: "a", Kind: Procedural, Content: "Run the tests first.", RecordedAt: at}
	it.Outcomes.Count(Failed, at)
	if err := it.Prepare(Limits{}); err != nil || !it.Outcomes.LastAt.Equal(at.Truncate(time.Microsecond)) || it.Outcomes.LastAt.Location() != time.UTC {
		t.Errorf("%v, %v", it.Outcomes, err)
	}
	if it.Kind = Semantic; !errors.Is(it.Prepare(Limits{}), ErrInvalid) {
		t.Error("a fact has outcomes")
	}
}
