package reply

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"evoke/store"
)

// fields are an object's values by what they mean. A field that is absent or null is nil.
type fields [fieldCount]any

// fieldsOf sorts an object's values. Of two keys of one meaning the canonical, then the first in order, counts.
func fieldsOf(m map[string]any) *fields {
	f := new(fields)
	for _, key := range sortedKeys(m) {
		v, name := m[key], foldKey(key)
		id, known := keyNames[name]
		if !known || v == nil {
			continue
		}
		if name == "type" || name == "event" || name == "类型" {
			if id = typeField(v); id == fieldCount {
				continue
			}
		}
		switch v.(type) {
		case map[string]any:
			continue
		case []any:
			if id == fAction || id == fContent {
				continue // a list under such a name is a list of operations
			}
		}
		if f[id] == nil || key == canonical[id] {
			f[id] = v
		}
	}
	return f
}

// canonical are the keys that the prompt asks for.
var canonical = [fieldCount]string{
	"action", "target", "kind", "category", "content", "quote", "turn", "speaker", "modality", "durability", "time",
	"precision", "confidence", "importance", "subject", "about", "steps", "needs", "outcome",
}

// typeField tells what a key as vague as "type" means by its value.
func typeField(v any) field {
	s, ok := v.(string)
	if !ok {
		return fieldCount
	}
	w := foldKey(s)
	if _, is := actions[w]; is {
		return fAction
	}
	if _, is := kinds[w]; is {
		return fKind
	}
	if _, is := categories[w]; is {
		return fCategory
	}
	return fieldCount
}

func (f *fields) has(id field) bool { return f[id] != nil }

// isOperation reports whether the object is meant as an operation.
func (f *fields) isOperation() bool {
	if s, ok := f[fAction].(string); ok {
		if _, known := actions[foldKey(s)]; known || f.has(fContent) || f.has(fTurn) {
			return true
		}
	}
	return f.has(fContent) && (f.has(fTurn) || f.has(fQuote))
}

// isStatement reports whether the object says anything that an operation needs.
func (f *fields) isStatement() bool { return f.has(fContent) || f.has(fTarget) || f.has(fTurn) }

// text is a field as text: strings as they are, numbers as written, of a list the first text.
func (f *fields) text(id field) string { return textOf(f[id]) }

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return store.CleanText(v)
	case json.Number:
		return v.String()
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				return store.CleanText(s)
			}
		}
		if len(v) > 0 {
			if n, ok := v[0].(json.Number); ok {
				return n.String()
			}
		}
	}
	return ""
}

// short is the text of a field that holds a name or two; longer ones are cut at a character's edge.
func (f *fields) short(id field) string {
	s := f.text(id)
	if isNone(s) {
		return ""
	}
	if len(s) > maxShort {
		s = store.CleanText(strings.ToValidUTF8(s[:maxShort], ""))
	}
	return s
}

// texts are the texts of a field that holds a list: at most so many, each at most maxStep long. A text stands for the
// lines that it has.
func (f *fields) texts(id field, most int) []string {
	var all []string
	switch v := f[id].(type) {
	case []any:
		for _, e := range v {
			all = append(all, textOf(e))
		}
	case string:
		all = strings.Split(store.CleanText(v), "\n")
	}
	var out []string
	for _, s := range all {
		if s = strings.TrimSpace(s); isNone(s) || len(out) == most {
			continue
		}
		if len(s) > maxStep {
			s = store.CleanText(strings.ToValidUTF8(s[:maxStep], ""))
		}
		out = append(out, s)
	}
	return out
}

// isNone reports whether a text stands for no value.
func isNone(s string) bool {
	switch foldKey(s) {
	case "", "null", "none", "nil", "na", "n/a", "undefined", "unknown", "无", "無", "没有", "空", "未知", "なし":
		return len(s) <= 64
	}
	return false
}

// word looks a field up in a table. given tells that there was something to look up.
func word[V any](f *fields, id field, table map[string]V) (v V, known, given bool) {
	s := f.text(id)
	if isNone(s) {
		return v, false, false
	}
	v, known = table[foldKey(s)]
	return v, known, true
}

// id finds one of the allowed ids in a field: "t3", "T3", "[t3]", "turn 3", 3.
func (f *fields) id(from field, prefix string, allowed map[string]bool) (id string, given bool) {
	s := f.text(from)
	if isNone(s) {
		return "", false
	}
	w := foldKey(s)
	if allowed[w] {
		return w, true
	}
	if n := digits.FindAllString(w, 2); len(n) == 1 && len(w) <= len(n[0])+12 {
		if d := prefix + strings.TrimLeft(n[0], "0"); allowed[d] && !strings.HasPrefix(w, other(prefix)) {
			return d, true
		}
	}
	return "", true
}

// other is the prefix of the other sort of ids, which must not be taken for this one.
func other(prefix string) string {
	if prefix == "t" {
		return "k"
	}
	return "t"
}

var digits = regexp.MustCompile(`[0-9]+`)

// share is a number from 0 to 1. state tells what became of it.
type state uint8

const (
	good    state = iota
	missing       // absent, or nothing that could be a number
	wrong         // a number that is none from 0 to 1
)

// share reads a number from 0 to 1, also as text, in percent, as a fraction, or as a word such as "high".
func (f *fields) share(id field) (float64, state) {
	s := f.text(id)
	if isNone(s) {
		return 0, missing
	}
	if v, ok := levels[foldKey(s)]; ok {
		return v, good
	}
	scale := 1.0
	if rest, percent := strings.CutSuffix(norm.NFKC.String(s), "%"); percent {
		s, scale = strings.TrimSpace(rest), 100
	} else if n, of, fraction := strings.Cut(s, "/"); fraction {
		d, err := strconv.ParseFloat(strings.TrimSpace(of), 64)
		if err != nil || d <= 0 {
			return 0, missing
		}
		s, scale = strings.TrimSpace(n), d
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, missing
	}
	if scale == 1 && v > 1 && v <= 100 && v == math.Trunc(v) {
		scale = 100 // 95 is meant in percent
	}
	v /= scale
	if math.IsNaN(v) || v < 0 || v > 1 {
		return 0, wrong
	}
	return v, good
}

var (
	chineseDate = regexp.MustCompile(`^(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})[日号號])?)?$`)
	looseDate   = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(.*)$`)
)

// layouts are the forms of a moment with how exactly they tell it.
var layouts = [...]struct{ layout, precision string }{
	{time.RFC3339Nano, ""}, {"2006-01-02T15:04Z07:00", "minute"}, {"2006-01-02T15:04:05", ""}, {"2006-01-02T15:04", "minute"},
	{"2006-01-02T15", "hour"}, {"2006-01-02", "day"}, {"2006-01", "month"}, {"2006", "year"},
}

// moment reads the time of an event; zero when there is none that can be understood.
func (f *fields) moment(zone *time.Location) (at time.Time, precision string, state state) {
	s := f.text(fTime)
	if isNone(s) {
		return time.Time{}, "", missing
	}
	at, precision, ok := parseTime(s, zone)
	if !ok {
		return time.Time{}, "", wrong
	}
	given, known, _ := word(f, fPrecision, precisions)
	if known && coarseness[given] > coarseness[precision] {
		precision = given
	}
	return begin(at, precision, zone), precision, good
}

// coarseness orders precisions, the finest first.
var coarseness = map[string]int{"": 0, "minute": 1, "hour": 2, "day": 3, "month": 4, "year": 5}

func parseTime(s string, zone *time.Location) (time.Time, string, bool) {
	s = norm.NFKC.String(s)
	if m := chineseDate.FindStringSubmatch(s); m != nil {
		s = joinDate(m[1], m[2], m[3])
	} else if m := looseDate.FindStringSubmatch(s); m != nil {
		s = joinDate(m[1], m[2], m[3]) + strings.Replace(m[4], " ", "T", 1)
	}
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, s, zone)
		if err == nil && store.Writable(t) {
			return t, l.precision, true
		}
	}
	return time.Time{}, "", false
}

func joinDate(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		if p == "" {
			break
		}
		if i > 0 {
			b.WriteByte('-')
			if len(p) == 1 {
				b.WriteByte('0')
			}
		}
		b.WriteString(p)
	}
	return b.String()
}

// begin is the first moment of the year, month, … that a time lies in.
func begin(t time.Time, precision string, zone *time.Location) time.Time {
	t = t.In(zone)
	y, m, d := t.Date()
	switch precision {
	case "year":
		t = time.Date(y, 1, 1, 0, 0, 0, 0, zone)
	case "month":
		t = time.Date(y, m, 1, 0, 0, 0, 0, zone)
	case "day":
		t = time.Date(y, m, d, 0, 0, 0, 0, zone)
	case "hour":
		t = time.Date(y, m, d, t.Hour(), 0, 0, 0, zone)
	case "minute":
		t = time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, zone)
	}
	return t.UTC().Truncate(time.Microsecond)
}
