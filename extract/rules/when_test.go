package rules_test

import (
	"context"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

func TestEventTimes(t *testing.T) {
	said := time.Date(2024, 6, 12, 15, 30, 0, 0, time.UTC) // a Wednesday
	for _, c := range []struct {
		text, want string
		precision  extract.Precision
	}{
		{"I just moved to Toronto last month!", "2024-05-01", extract.Month},
		{"I moved to Porto in March 2022.", "2022-03-01", extract.Month},
		{"I moved to Porto in March.", "2024-03-01", extract.Month},
		{"I live in Porto since 2019.", "2019-01-01", extract.Year},
		{"I moved to Oslo yesterday.", "2024-06-11", extract.Day},
		{"I moved to Oslo last year.", "2023-01-01", extract.Year},
		{"我上个月搬到成都了。", "2024-05-01", extract.Month},
		{"I live in Oslo.", "", ""},
		{"I live in Oslo now.", "", ""},
		{"I like long walks since 2019.", "", ""},
		{"I want to run a marathon next year.", "", ""},
		{"My birthday is 3 May 1990.", "", ""},
	} {
		it := turn(c.text)
		it.ValidFrom = said
		ops := run(t, it)
		if len(ops) != 1 {
			t.Errorf("%s: %q", c.text, contents(ops))
			continue
		}
		got := ""
		if !ops[0].At.IsZero() {
			got = ops[0].At.Format(time.DateOnly)
		}
		if got != c.want || ops[0].Precision != c.precision {
			t.Errorf("%s: from %q, %q; want %q, %q", c.text, got, ops[0].Precision, c.want, c.precision)
		}
	}
}

func TestNamesStandForPronouns(t *testing.T) {
	it := turn("I love my garden. Strong smells make me dizzy.")
	it.Turn.Speaker = "Mara"
	ops, err := rules.New(nil).Extract(context.Background(), extract.Batch{Turns: []store.Item{it}})
	if err != nil || len(ops) != 2 || ops[0].Content != "Mara likes their garden" || ops[1].Content != "Strong smells make Mara dizzy" {
		t.Errorf("%q, %v", contents(ops), err)
	}
}
