package scoring

import (
	"strings"
	"testing"
	"time"
)

func TestWindowsAreNamed(t *testing.T) {
	asked := time.Date(2023, 6, 14, 12, 0, 0, 0, time.UTC)
	for query, want := range map[string]string{
		"on 7 May 2023":                          "2023-05-07",
		"in May 2023":                            "2023-05",
		"in 2021":                                "2021",
		"on 7 May":                               "--05-07",
		"in March":                               "--03",
		"yesterday":                              "2023-06-13",
		"last week":                              "2023-06-05..2023-06-11",
		"before May 2022":                        "..2022-04-30",
		"上周五和昨天":                                 "2023-06-09 2023-06-13",
		"what does she like":                     "",
		"between May and July 2021, and in 2019": "2021-05-01..2021-07-31 2019",
	} {
		var got []string
		for _, w := range QueryDatesAt(query, asked) {
			got = append(got, w.String())
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", query, s, want)
		}
	}
	if got := (DateRange{minDay, maxDay}).String(); got != ".." {
		t.Error(got)
	}
}
