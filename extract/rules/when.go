package rules

import (
	"regexp"
	"strings"
	"time"

	"evoke/extract"
	"evoke/scoring"
)

// when returns the moment from which a statement about its speaker's circumstances holds, when the words behind its value
// name one: "I moved to Porto last month". Only what lies behind the speaker is taken, and only from a turn whose time
// is known; the answer is the beginning of the day, month or year named.
func when(subject, words string, at time.Time) (time.Time, extract.Precision) {
	if !dated(subject) || at.IsZero() || !timeWords.MatchString(words) {
		return time.Time{}, ""
	}
	ws := scoring.QueryDatesAt(sinceWord.ReplaceAllLiteralString(words, "in"), at) // "since May" began in May
	if len(ws) != 1 {
		return time.Time{}, "" // none, or not clear which
	}
	w := ws[0]
	from, precision := w.Range.From, extract.Day
	switch days := w.Range.To - w.Range.From; {
	case w.Year != 0 && w.Month == 0:
		return before(w.Year, 1, 1, extract.Year, at)
	case w.Year != 0 && w.Day == 0:
		return before(w.Year, w.Month, 1, extract.Month, at)
	case w.Year != 0:
		return before(w.Year, w.Month, w.Day, extract.Day, at)
	case w.Month != 0 && w.Range == (scoring.DateRange{}):
		return lastOf(w.Month, w.Day, at)
	case days > 366:
		return time.Time{}, "" // open, or too wide to be a moment
	case days > 31:
		precision = extract.Year
	case days > 1:
		precision = extract.Month
		if days <= 7 {
			precision = extract.Day
		}
	}
	y, m, d := from.Date()
	return before(y, int(m), d, precision, at)
}

// dated: what is so from some day on. A liking, a name or a goal is not.
func dated(subject string) bool {
	switch subject {
	case "home", "employer", "workplace", "job", "studies":
		return true
	}
	return strings.HasPrefix(subject, "has:")
}

// timeWords are those that say when something began; others ("on Mondays") say how it goes on.
var timeWords = regexp.MustCompile(`(?i)\b(?:last|yesterday|since|in (?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|(?:19|20)\d\d)|ago)\b|昨天|前天|上周|上星期|上个?月|去年|前年|今年初|年前|个月前|天前|\d年`)

var sinceWord = regexp.MustCompile(`(?i)\bsince\b`)

func before(y, m, d int, p extract.Precision, at time.Time) (time.Time, extract.Precision) {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, at.Location())
	if t.After(at) {
		return time.Time{}, ""
	}
	return t, p
}

// lastOf is the last such month, or day of a month, before at.
func lastOf(month, day int, at time.Time) (time.Time, extract.Precision) {
	p := extract.Day
	if day == 0 {
		day, p = 1, extract.Month
	}
	for y := at.Year(); y > at.Year()-2; y-- {
		if t, q := before(y, month, day, p, at); q != "" {
			return t, q
		}
	}
	return time.Time{}, ""
}
