package scoring

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // named zones, on machines without a database of them
)

// meant is what a phrase of testdata/times means: see the head of en.txt.
type meant struct {
	none    bool
	inner   []DateRange
	outer   *DateRange // nil: the inner days exactly
	yearly  []string   // d05-07, m5
	written string
}

// timePhrase is one line of a table.
type timePhrase struct {
	at   time.Time
	text string
	want meant
}

func readTimes(t *testing.T, name string) []timePhrase {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "times", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []timePhrase
	var at time.Time
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			at = readMoment(t, strings.TrimSpace(line[1:]))
		default:
			text, want, ok := strings.Cut(line, " | ")
			if !ok {
				t.Fatalf("%s: %q has no meaning", name, line)
			}
			out = append(out, timePhrase{at, text, readMeant(t, want)})
		}
	}
	return out
}

// readMoment reads a moment, and the name of the zone whose offset it then has.
func readMoment(t *testing.T, s string) time.Time {
	t.Helper()
	moment, zone, named := strings.Cut(s, " ")
	at, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		t.Fatal(err)
	}
	if !named {
		return at
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	there := at.In(loc)
	if there.Format(time.RFC3339) != moment {
		t.Fatalf("in %s %s is %s", zone, moment, there.Format(time.RFC3339))
	}
	return there
}

func readMeant(t *testing.T, s string) meant {
	m := meant{written: s, none: s == "none"}
	if m.none {
		return m
	}
	inner, outer, vague := strings.Cut(s, " in ")
	for part := range strings.SplitSeq(inner, " + ") {
		if part[0] == 'd' || part[0] == 'm' {
			m.yearly = append(m.yearly, part)
		} else {
			m.inner = append(m.inner, readDays(t, part))
		}
	}
	m.inner = joined(m.inner)
	if vague {
		r := readDays(t, outer)
		m.outer = &r
	}
	return m
}

// readDays reads a day, a month, a year or two of them with "..".
func readDays(t *testing.T, s string) DateRange {
	t.Helper()
	a, b, ranged := strings.Cut(s, "..")
	if ranged {
		return DateRange{readDays(t, a).From, readDays(t, b).To}
	}
	var y, m, d int
	switch n, _ := fmt.Sscanf(s, "%d-%d-%d", &y, &m, &d); n {
	case 3:
		return DateRange{civil(y, m, d), civil(y, m, d)}
	case 2:
		return DateRange{civil(y, m, 1), civil(y, m+1, 1) - 1}
	case 1:
		return yearRange(y)
	}
	t.Fatalf("%q are no days", s)
	return DateRange{}
}

// joined sorts ranges and joins those that touch.
func joined(rs []DateRange) []DateRange {
	slices.SortFunc(rs, func(a, b DateRange) int { return int(a.From) - int(b.From) })
	var out []DateRange
	for _, r := range rs {
		if n := len(out); n > 0 && r.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

// holds reports whether windows say what is meant.
func (m meant) holds(ws []DateWindow) bool {
	if m.none {
		return len(ws) == 0
	}
	var found []DateRange
	var yearly []string
	for _, w := range ws {
		switch {
		case w.Year != 0 && w.Day != 0:
			found = append(found, DateRange{civil(w.Year, w.Month, w.Day), civil(w.Year, w.Month, w.Day)})
		case w.Year != 0 && w.Month != 0:
			found = append(found, DateRange{civil(w.Year, w.Month, 1), civil(w.Year, w.Month+1, 1) - 1})
		case w.Year != 0:
			found = append(found, yearRange(w.Year))
		case w.Day != 0:
			yearly = append(yearly, fmt.Sprintf("d%02d-%02d", w.Month, w.Day))
		case w.Month != 0:
			yearly = append(yearly, fmt.Sprintf("m%d", w.Month))
		default:
			found = append(found, w.Range)
		}
	}
	found = joined(found)
	if !slices.Equal(yearly, m.yearly) {
		return false
	}
	if m.outer == nil {
		return slices.Equal(found, m.inner)
	}
	for _, want := range m.inner {
		if !slices.ContainsFunc(found, func(r DateRange) bool { return r.From <= want.From && want.To <= r.To }) {
			return false
		}
	}
	return !slices.ContainsFunc(found, func(r DateRange) bool { return r.From < m.outer.From || r.To > m.outer.To })
}

// At least 95 % of the phrases of each table are understood, and of those that name no time at least 95 % are left alone.
func TestTimeTables(t *testing.T) {
	gradeTimes(t, []string{"en.txt", "zh.txt"}, 150, func(p *timePhrase) []DateWindow { return QueryDatesAt(p.text, p.at) })
}

// gradeTimes has each phrase of the tables read; least is how many that name a time each table has at the least.
func gradeTimes(t *testing.T, tables []string, least int, read func(*timePhrase) []DateWindow) {
	t.Helper()
	for _, name := range tables {
		t.Run(name, func(t *testing.T) {
			var right, all [2]int // of phrases that name a time, and that name none
			for _, p := range readTimes(t, name) {
				k := 0
				if p.want.none {
					k = 1
				}
				all[k]++
				if ws := read(&p); p.want.holds(ws) {
					right[k]++
				} else {
					t.Logf("%s: %q: got %q, want %s", p.at.Format(time.RFC3339), p.text, show(ws), p.want.written)
				}
			}
			t.Logf("times: %d of %d phrases right; without a time: %d of %d left alone", right[0], all[0], right[1], all[1])
			if all[0] < least || float64(right[0]) < 0.95*float64(all[0]) || float64(right[1]) < 0.95*float64(all[1]) {
				t.Error("under 95 %")
			}
		})
	}
}
