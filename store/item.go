package store

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Kind is what sort of memory an item is.
type Kind string

// The three kinds.
const (
	Episodic   Kind = "episodic"   // what happened, verbatim or summarised
	Semantic   Kind = "semantic"   // a fact or preference
	Procedural Kind = "procedural" // how to do something
)

// Kinds lists every kind, in the order of stats.
func Kinds() []Kind { return []Kind{Episodic, Semantic, Procedural} }

// Category refines a semantic or procedural item. Stored in canonical English whatever the conversation's language;
// empty for turns and for items whose writer gave none.
type Category string

// The categories.
const (
	Preference Category = "preference"
	Knowledge  Category = "knowledge"
	Context    Category = "context"
	Behavior   Category = "behavior"
	Goal       Category = "goal"
	Correction Category = "correction"
)

// Categories lists every category.
func Categories() []Category {
	return []Category{Preference, Knowledge, Context, Behavior, Goal, Correction}
}

// Item is one memory. Times are UTC with microsecond precision; a zero time means "not set".
type Item struct {
	ID       string   `json:"id"` // unique within its Scope; 1–256 bytes
	Kind     Kind     `json:"kind"`
	Category Category `json:"category,omitempty"`
	Content  string   `json:"content"` // never empty, valid UTF-8
	Metadata Metadata `json:"metadata,omitempty"`

	Importance float64   `json:"importance"` // 0–1
	Confidence float64   `json:"confidence"` // 0–1
	Uses       int       `json:"uses"`       // grows only by feedback that the item helped
	LastUsed   time.Time `json:"last_used,omitzero"`
	Outcomes   Outcomes  `json:"outcomes,omitzero"` // of procedural items: how it went to do as they say

	// True in the world from ValidFrom (zero: unknown, always) until ValidTo (zero: still).
	ValidFrom time.Time `json:"valid_from,omitzero"`
	ValidTo   time.Time `json:"valid_to,omitzero"`
	// Known to us from RecordedAt until RetractedAt (zero: still). ClosedAt is when ValidTo became known.
	RecordedAt  time.Time `json:"recorded_at"`
	ClosedAt    time.Time `json:"closed_at,omitzero"`
	RetractedAt time.Time `json:"retracted_at,omitzero"`
	// ExpiresAt is when the item is to be kept no longer: no view at that moment or later sees it; zero: never. Until
	// retention removes it, every version (View.All) has it still and statistics count it.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Aside     Aside     `json:"aside,omitzero"`

	Turn       Turn       `json:"turn,omitzero"`
	Provenance Provenance `json:"provenance,omitzero"`

	// ContentKey identifies the statement whatever its spelling: see ContentKey. Set by the write path.
	ContentKey string `json:"content_key,omitempty"`
	// Version links: the item that this one replaced, and the one that replaced it.
	Supersedes   string `json:"supersedes,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"`
}

// Turn places an item in a conversation. Ranking reads it: neighbours are the items of the same Session at
// Position-1 and Position-2.
type Turn struct {
	Thread   string `json:"thread,omitempty"`
	Session  string `json:"session,omitempty"`  // a sitting within the thread; the thread's id when sittings are not told apart
	Position int    `json:"position,omitempty"` // order within the session, from 0
	Speaker  string `json:"speaker,omitempty"`  // a name, or the role when there is none
	Role     string `json:"role,omitempty"`     // "user", "assistant", ""
}

// IsTurn reports whether the item stands in a conversation and so has neighbours.
func (t Turn) IsTurn() bool { return t.Session != "" }

// Provenance says what an item rests on.
type Provenance struct {
	Origin    string   `json:"origin,omitempty"`    // "turn", "remember", "import", "rules", "llm", "review" (a person approved it), "profile"
	Extractor string   `json:"extractor,omitempty"` // name and version of the extractor, for distilled items
	Turns     []string `json:"turns,omitempty"`     // ids of the turns it rests on
	Quote     string   `json:"quote,omitempty"`     // the span of the turn it was taken from
	Subject   string   `json:"subject,omitempty"`   // what a distilled statement is about ("home"): current ones of one subject may contradict each other

	Zone      string `json:"zone,omitempty"`      // offset from UTC, "+09:00", that ValidFrom was given in; "": UTC
	Precision string `json:"precision,omitempty"` // how exactly ValidFrom is known: "year", "month", "day", "hour" or "minute", whose beginning it is; "": exactly

	Interim     bool   `json:"interim,omitempty"`     // made by an interim extractor while the chosen one was away: to be replaced or confirmed by its result
	Durability  string `json:"durability,omitempty"`  // for whom it holds: "agent", "project" or "task"; "": the user
	Evidence    int    `json:"evidence,omitempty"`    // how often the statement was confirmed since it was first stored
	Corrections int    `json:"corrections,omitempty"` // how often its speaker corrected what stood in its place before
	// By is the id of the operation that made this version of the item, EndedBy of the one that retracted it; Edited tells
	// that somebody changed the words of the version before. An undo goes by them.
	By      string `json:"by,omitempty"`
	Import  string `json:"import,omitempty"` // id of the import that brought it into this store; an export leaves it out
	EndedBy string `json:"ended_by,omitempty"`
	Edited  bool   `json:"edited,omitempty"`
	// Said is when the statement was last made, as far as is known: what was said before it does not take its place.
	Said time.Time `json:"said,omitzero"`
}

// repair makes all texts valid UTF-8; the ids of turns in a copy when one is broken.
func (p *Provenance) repair() {
	for _, s := range []*string{&p.Origin, &p.Extractor, &p.Subject, &p.Durability, &p.By, &p.Import, &p.EndedBy} {
		*s = repairUTF8(*s)
	}
	if slices.ContainsFunc(p.Turns, func(id string) bool { return !utf8.ValidString(id) }) {
		p.Turns = slices.Clone(p.Turns)
		for i := range p.Turns {
			p.Turns[i] = repairUTF8(p.Turns[i])
		}
	}
}

// Local is ValidFrom in the offset that it was given in: its calendar date is the one that the speaker would name.
func (it *Item) Local() time.Time {
	if it.ValidFrom.IsZero() || it.Provenance.Zone == "" {
		return it.ValidFrom.UTC()
	}
	t, err := time.Parse("-07:00", it.Provenance.Zone)
	if err != nil {
		return it.ValidFrom.UTC()
	}
	_, offset := t.Zone()
	return it.ValidFrom.In(time.FixedZone("", offset))
}

// Date is the calendar date of Local as far as it is known: "2023", "2023-05" or "2023-05-08"; "" when the time is unknown.
func (it *Item) Date() string {
	if it.ValidFrom.IsZero() {
		return ""
	}
	day := it.Local().Format(time.DateOnly)
	switch it.Provenance.Precision {
	case "year":
		return day[:len("2006")]
	case "month":
		return day[:len("2006-01")]
	}
	return day
}

// Time is the moment an item is about: ValidFrom. Zero when unknown.
func (it *Item) Time() time.Time { return it.ValidFrom }

// Closed reports whether the item was superseded or retracted.
func (it *Item) Closed() bool { return !it.ValidTo.IsZero() || !it.RetractedAt.IsZero() }

// Close ends the item at a moment, but not before it began. One that was to begin later never comes to hold and is
// retracted: the current view would show it beside its successor until then. By a clock that went back it ends no earlier
// than it was known.
func (it *Item) Close(at, now time.Time) {
	if at.Before(it.ValidFrom) {
		at = it.ValidFrom
	}
	it.ValidTo, it.ClosedAt = at, Later(now, it.RecordedAt)
	if at.After(now) && at.Equal(it.ValidFrom) {
		it.RetractedAt = it.ClosedAt
	}
}

// Over is when the end of an item that had ended by then became known; zero for one that holds, or whose end was still to
// come. Where that is later than now the clock went back since, and the item has ended all the same.
func (it *Item) Over() time.Time {
	if it.ValidTo.IsZero() || it.ValidTo.After(it.ClosedAt) {
		return time.Time{}
	}
	return it.ClosedAt
}
