package sqlitestore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"evoke/store"
)

// where builds the condition of a query. Text is made of constants; whatever comes from a caller is a parameter.
type where struct {
	conds []string
	args  []any
}

func (w *where) and(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, args...)
}

func (w *where) text() string { return strings.Join(w.conds, " AND ") }

// view is store.View.Sees in SQL. Stored times are whole microseconds, so comparing them with the floor of a moment is
// exact.
func (w *where) view(v store.View) {
	switch {
	case v.Forgotten:
		w.and(isForgotten)
		return
	case v.All && v.Kept:
		w.and("forgotten_at = ?", noTime)
		return
	case v.All:
		return
	}
	w.aside(v)
	if !v.Profile {
		keys := store.ProfileKeys()
		args := make([]any, len(keys))
		for i, k := range keys {
			args[i] = k
		}
		w.and("content_key NOT IN (?"+strings.Repeat(", ?", len(keys)-1)+")", args...)
	}
	w.tasks(v.Threads)
	at := v.ValidAt
	if at.IsZero() {
		at = v.Now
	} else {
		w.and("valid_from <= ?", micros(at))
	}
	if v.KnownAt.IsZero() {
		w.and("retracted_at = ?", noTime)
		w.and("(valid_to = ? OR valid_to > ?)", noTime, micros(at))
		if v.ValidAt.IsZero() { // store.Item.Over
			w.and("(closed_at <= ? OR valid_to = ? OR valid_to > closed_at)", micros(v.Now), noTime)
		}
		return
	}
	known := micros(v.KnownAt)
	w.and("recorded_at <= ?", known)
	w.and("(retracted_at = ? OR retracted_at > ?)", noTime, known)
	w.and("(valid_to = ? OR valid_to > ? OR closed_at > ?)", noTime, micros(at), known)
}

// isForgotten is the condition of the index items_forgotten: noTime in digits.
const isForgotten = "forgotten_at <> -62135596800000000"

// isExpiring is that of the index items_expiring.
const isExpiring = "expires_at <> -62135596800000000"

// aside leaves out what is forgotten, what is kept no longer and what a summary stands for.
func (w *where) aside(v store.View) {
	known := v.KnownAt
	if known.IsZero() {
		known = v.Now
	}
	w.and("forgotten_at = ? AND (expires_at = ? OR expires_at > ?)", noTime, noTime, micros(known))
	switch {
	case v.Sources:
	case v.KnownAt.IsZero():
		w.and("summary = ''")
	default:
		w.and("(summary = '' OR summarized_at > ?)", micros(known))
	}
}

// tasks leaves out what holds for one task only, but for the tasks of the named threads. Hardly an item has an end, so
// that few provenances are looked into; in their JSON a quotation mark that is text has a backslash before it.
func (w *where) tasks(threads []string) {
	cond, args := "valid_to = ? OR "+isTask+" = 0", []any{noTime}
	if len(threads) > 0 {
		cond += " OR thread IN (?" + strings.Repeat(", ?", len(threads)-1) + ")"
		for _, t := range threads {
			args = append(args, t)
		}
	}
	w.and("("+cond+")", args...)
}

// isTask is an expression of the index items_census, which has it in these very words: store.TaskDurability as JSON.
const isTask = `instr(provenance, '"durability":"task"')`

// filter adds the outermost lists and ranges of a filter; metadata and nested filters are left to Match.
func (w *where) filter(f *store.Filter) {
	oneOf(w, "id", f.IDs)
	oneOf(w, "kind", f.Kinds)
	oneOf(w, "category", f.Categories)
	oneOf(w, "thread", f.Threads)
	oneOf(w, "session", f.Sessions)
	oneOf(w, "role", f.Roles)
	oneOf(w, "speaker", f.Speakers)
	oneOf(w, "content_key", f.ContentKeys)
	if f.Distilled {
		w.and(isDistilled)
	}
	w.subjects(f.Subjects)
	if !f.Positions.IsZero() {
		w.and("session <> '' AND position >= ?", f.Positions.From)
		if f.Positions.To != 0 {
			w.and("position < ?", f.Positions.To)
		}
	}
	w.timeRange("valid_from", f.Valid)
	w.timeRange("recorded_at", f.Recorded)
	if !f.Expires.IsZero() {
		w.and(isExpiring)
		w.timeRange("expires_at", f.Expires)
	}
}

// subjects leaves out most items of other subjects by a look at the JSON of their provenance. Match decides.
func (w *where) subjects(list []string) {
	if len(list) == 0 || len(list) > maxInline {
		return
	}
	args := make([]any, 0, len(list))
	for _, s := range list {
		text, err := json.Marshal(s)
		if s == "" || err != nil {
			return // an item without a subject does not name it
		}
		args = append(args, `"subject":`+string(text))
	}
	w.and("(instr(provenance, ?) > 0"+strings.Repeat(" OR instr(provenance, ?) > 0", len(list)-1)+")", args...)
}

// isDistilled is the condition of the index items_distilled. In JSON a quotation mark that is text has a backslash before it.
const isDistilled = `instr(provenance, '"extractor":"') > 0`

// maxInline is the longest list that becomes part of the query; Match alone decides on longer ones.
const maxInline = 500

func oneOf[T ~string](w *where, column string, list []T) {
	if len(list) == 0 || len(list) > maxInline {
		return
	}
	args := make([]any, len(list))
	for i, v := range list {
		args[i] = string(v)
	}
	w.and(column+" IN (?"+strings.Repeat(", ?", len(list)-1)+")", args...)
}

func (w *where) timeRange(column string, r store.TimeRange) {
	if !r.From.IsZero() {
		w.and(column+" >= ?", ceilMicros(r.From))
	}
	if !r.To.IsZero() {
		w.and(column+" < ?", ceilMicros(r.To))
		w.and(column+" <> ?", noTime)
	}
}

// cursor is where a page ended: the sort key and id of its last item.
type cursor struct {
	Order  store.Order `json:"o"`
	Time   int64       `json:"t,omitempty"`
	Number float64     `json:"n,omitempty"`
	ID     string      `json:"i"`
}

func makeCursor(o store.Order, last *store.Item) string {
	c := cursor{Order: o, ID: last.ID}
	switch o {
	case store.Newest, store.Oldest:
		c.Time = micros(last.RecordedAt)
	case store.NewestEvent:
		c.Time = micros(last.ValidFrom)
	case store.MostImportant:
		c.Number = last.Importance
	case store.ByID: // the id is the key
	}
	b, err := json.Marshal(c)
	if err != nil { // numbers and a string of valid UTF-8
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(o store.Order, text string) (*cursor, error) {
	if o > store.MostImportant {
		return nil, store.Invalid("order", "one of the known orders", fmt.Sprint(o))
	}
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	var c cursor
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Order != o || c.ID == "" {
		return nil, store.Invalid("cursor", "one that the previous page of this listing gave", "")
	}
	return &c, nil
}

// page adds what lies behind the cursor and returns the order. When the filter names few items, the + keeps SQLite from
// walking all items in their order instead of looking those up.
func (w *where) page(o store.Order, c *cursor, f *store.Filter) (order string) {
	plus := ""
	if len(f.IDs)+len(f.ContentKeys)+len(f.Sessions) > 0 {
		plus = "+"
	}
	behind := func(cond string, key any) {
		if c != nil {
			w.and(cond, key, key, c.ID)
		}
	}
	var key int64
	var number float64
	if c != nil {
		key, number = c.Time, c.Number
	}
	switch o {
	case store.Oldest:
		behind("(recorded_at > ? OR recorded_at = ? AND id > ?)", key)
		return plus + "recorded_at, id"
	case store.NewestEvent:
		behind("(valid_from < ? OR valid_from = ? AND id > ?)", key)
		return plus + "valid_from DESC, id"
	case store.ByID:
		if c != nil {
			w.and("id > ?", c.ID)
		}
		return "id"
	case store.MostImportant:
		behind("(importance < ? OR importance = ? AND id > ?)", number)
		return plus + "importance DESC, id"
	default:
		behind("(recorded_at < ? OR recorded_at = ? AND id > ?)", key)
		return plus + "recorded_at DESC, id"
	}
}
