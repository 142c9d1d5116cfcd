// Package reply reads what a language model answered when it was asked for operations. Models wrap their answer in
// prose and fences, break its JSON, stop in the middle, rename keys, translate them, and put values of any type
// anywhere. Parse takes every operation that can be understood and counts the others by reason.
//
// It works in three steps. The first balanced object or list is cut out, and the next, as long as there are any (a
// repair of the whole text would take the prose for data). Each cut is decoded, mended where it must be. Then every
// operation is checked by itself, so that a bad one costs nothing but itself. What was cut off in the middle is never
// completed: "The user lives in Be" is not what the model was about to say.
package reply

import (
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// Reason says why an operation was not taken.
type Reason string

// The reasons.
const (
	NotAnObject   Reason = "not_an_object"  // a list element that is no object
	UnknownAction Reason = "unknown_action" // none of add, confirm, supersede, retract and nothing
	UnknownTurn   Reason = "unknown_turn"   // its turn is not one of the conversation's
	UnknownTarget Reason = "unknown_target" // the item it changes is not one that was shown
	NoContent     Reason = "no_content"     // nothing to store
	NoQuote       Reason = "no_quote"       // no span that it rests on
	BadConfidence Reason = "bad_confidence" // a number that cannot be a confidence
	TooLong       Reason = "too_long"       // a content or quote longer than a statement is
	TooMany       Reason = "too_many"       // more operations than a conversation of this length holds
	Truncated     Reason = "truncated"      // cut off in the middle
	Malformed     Reason = "malformed"      // JSON that cannot be mended

	UnknownSection Reason = "unknown_section" // a section that a profile does not have
)

// Action is what an operation asks for.
type Action string

// The actions.
const (
	Add       Action = "add"
	Confirm   Action = "confirm"
	Supersede Action = "supersede"
	Retract   Action = "retract"
	Nothing   Action = "nothing"
)

// Op is an operation as the model gave it, in canonical terms. Ids are the short ones of the prompt.
type Op struct {
	Action     Action
	Target     string // "" or one of Expect.Known
	Kind       store.Kind
	Category   store.Category
	Content    string
	Quote      string
	Turn       string // one of Expect.Turns
	Speaker    string
	Modality   string // "asserted", "hypothetical", "question", "quoted", "role_play" or "unknown"
	Durability string // "user", "agent", "project", "task" or "other"
	Time       time.Time
	Precision  string // of Time: "year", "month", "day", "hour", "minute"; "" when Time is zero or exact
	Confidence float64
	Importance float64
	Subject    string
	About      string

	Steps   []string // of a way of doing something, in order; at most 20
	Needs   []string // what it takes; at most 10
	Outcome string   // how it went: "succeeded", "failed" or "", which says nothing
}

// Bad is an operation that was not taken, as far as it could be read.
type Bad struct {
	Reason Reason
	Op     Op
}

// Expect says what a reply may refer to.
type Expect struct {
	Turns   map[string]bool // ids of the turns that operations may rest on
	Known   map[string]bool // ids of the items that operations may change
	Zone    *time.Location  // of times without one; nil: UTC
	MostOps int             // operations beyond these are counted as TooMany; 0: 256
}

// Result is what a reply held.
type Result struct {
	// Understood tells that the reply was an answer: operations, good or bad, or that there are none. Otherwise it was
	// something else, which says nothing about the conversation.
	Understood  bool
	Ops         []Op
	Bad         []Bad
	Sections    []Section // of the profile, to be written anew; each at most once
	BadSections []BadSection
	Nothing     int  // operations that say that there is nothing
	Repaired    bool // the JSON had to be mended
	Truncated   bool // it ends in the middle
	Defaults    int  // fields that were missing or unusable and got their default
}

// The limits of what is read.
const (
	MaxText    = 1 << 20 // of a reply; the rest is not read
	maxContent = 4 << 10
	maxQuote   = 16 << 10
	maxShort   = 200 // subject, about, speaker
	maxStep    = 300
	maxDepth   = 64
	// MaxSection is the length of a section of a profile, in bytes. A longer one is cut at the end of a sentence.
	MaxSection = 1000
)

// Parse reads a reply. It never fails and never panics; see Result.Understood.
func Parse(text string, x Expect) Result {
	if x.Zone == nil {
		x.Zone = time.UTC
	}
	if x.MostOps <= 0 {
		x.MostOps = 256
	}
	p := parser{x: x}
	if len(text) > MaxText {
		text, p.res.Truncated = text[:MaxText], true
	}
	p.text(afterThinking(strings.ToValidUTF8(text, "\uFFFD")))
	order := store.ProfileSections()
	slices.SortStableFunc(p.res.Sections, func(a, b Section) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	return p.res
}

// afterThinking drops what a reasoning model thought aloud at the beginning.
func afterThinking(s string) string {
	t := strings.TrimSpace(s)
	for _, tag := range [...]string{"think", "thinking", "reasoning"} {
		if strings.HasPrefix(t, "<"+tag+">") {
			if _, after, closed := strings.Cut(t, "</"+tag+">"); closed {
				return after
			}
			return ""
		}
	}
	return s
}

// parser collects a result.
type parser struct {
	x       Expect
	res     Result
	depth   int // of texts within texts
	mended  int // bytes given to be repaired
	isError bool
}

func (p *parser) bad(r Reason, op Op) { p.res.Bad = append(p.res.Bad, Bad{r, op}) }

// text reads all values in a text.
func (p *parser) text(s string) {
	const mostFailures = 64 // openers that lead nowhere: each costs a scan
	if isBareEmpty(s) {
		p.res.Understood = true
		return
	}
	if quoted, ok := strict(s); ok && p.depth == 0 {
		if inner, ok := quoted.(string); ok {
			p.nested(inner)
			return
		}
	}
	failures, lost := 0, -1
	for at := opener(s, 0); at >= 0 && failures < mostFailures; {
		end, closed := scan(s, at)
		var found bool
		if closed {
			found = p.value(s[at:end])
		} else if found = p.cutOff(s[at:]); found {
			end = len(s)
		} else {
			if lost < 0 && jsonStart.MatchString(s[at:]) {
				lost = at
			}
			end = at + 1
		}
		if !found {
			failures++
		}
		at = opener(s, end)
	}
	if lost >= 0 && !p.res.Truncated && looksLikeAnswer(s[lost:]) {
		p.res.Truncated = true
		p.bad(Truncated, Op{})
	}
}

// isBareEmpty reports whether a text is an empty list and nothing else. Within prose one says nothing.
func isBareEmpty(s string) bool {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(strings.TrimPrefix(s, "```"), "json")
	s = strings.TrimSuffix(s, "```")
	return strings.Join(strings.Fields(s), "") == "[]"
}

// value reads one balanced value, mended where it must be, and reports whether it was an answer.
func (p *parser) value(s string) bool {
	v, repaired, ok := p.decode(s)
	if ok && p.answer(v) {
		p.res.Repaired = p.res.Repaired || repaired
		return true
	}
	return p.pieces(s)
}

// pieces reads the operations in a value that cannot be mended as a whole: those that are well formed by themselves
// and say what they are.
func (p *parser) pieces(s string) bool {
	found, malformed := false, 0
	for i := 1; i < len(s); i++ {
		if s[i] != '{' {
			continue
		}
		end, closed := scan(s, i)
		if !closed {
			break
		}
		v, _, ok := p.decode(s[i:end])
		m, isMap := v.(map[string]any)
		if ok && isMap {
			if f := fieldsOf(m); f.has(fAction) && f.has(fTurn) {
				p.operation(f, "")
				p.res.Understood, p.res.Repaired, found = true, true, true
				i = end - 1
				continue
			}
		}
		if inside := s[i+1 : end]; opener(inside, 0) < 0 && looksLikeAnswer(s[i:end]) {
			malformed++
		}
	}
	for range malformed {
		if found { // otherwise it was no answer, and nothing in it counts
			p.bad(Malformed, Op{})
		}
	}
	return found
}

// cutOff reads a value without its end: the list elements that are whole. Whatever comes after the last of them was
// cut off in the middle and is lost.
func (p *parser) cutOff(s string) bool {
	if !jsonStart.MatchString(s) {
		return false // a bracket in the prose
	}
	whole, rest, ok := lastElement(s)
	if !ok {
		return false
	}
	v, _, ok := p.decode(whole)
	if !ok || !p.answer(v) {
		return false
	}
	p.res.Repaired = true
	if !isEnd(rest) {
		p.res.Truncated = true
		p.bad(Truncated, Op{})
	}
	return true
}

// answer reads a decoded value and reports whether it was an answer.
func (p *parser) answer(v any) bool {
	switch v := v.(type) {
	case []any:
		return p.list(v, "")
	case map[string]any:
		p.isError = v["error"] != nil
		return p.object(v, 0)
	}
	return false
}

// list reads a list of operations; one without any object is something else.
func (p *parser) list(l []any, action Action) bool {
	if !holdsObject(l) {
		return false
	}
	found, was := false, p.res.Understood
	for _, e := range l {
		switch e := e.(type) {
		case map[string]any:
			found = p.element(e, action) || found
		case string:
			if p.nested(e) {
				found = true
			} else {
				p.bad(NotAnObject, Op{})
			}
		case nil:
		default:
			p.bad(NotAnObject, Op{})
		}
	}
	p.res.Understood = was || found
	return found
}

func holdsObject(l []any) bool {
	return slices.ContainsFunc(l, func(e any) bool {
		switch e := e.(type) {
		case map[string]any:
			return len(e) > 0
		case string:
			return looksLikeAnswer(e)
		}
		return false
	})
}

// element reads an element of a list of operations, which may be a list of its own.
func (p *parser) element(m map[string]any, action Action) bool {
	f := fieldsOf(m)
	if !f.isOperation() && p.object(m, 1) {
		return true
	}
	if !f.isOperation() && !f.isStatement() {
		return false
	}
	p.operation(f, action)
	return true
}

// object reads an object: an operation, a list of them under a name, or an object around one of these.
func (p *parser) object(m map[string]any, depth int) bool {
	if depth > 4 {
		return false
	}
	f := fieldsOf(m)
	if f.isOperation() {
		p.res.Understood = true
		p.operation(f, "")
		return true
	}
	found := false
	for _, key := range sortedKeys(m) {
		name := foldKey(key)
		if p.profile(name, m[key]) {
			found = found || m[key] != nil
			continue
		}
		found = p.member(name, m[key], depth) || found
	}
	p.res.Understood = p.res.Understood || found
	return found
}

// member reads a value of an object that is no operation.
func (p *parser) member(name string, v any, depth int) bool {
	action, isAction := actions[name]
	empty := (emptyNames[name] || isAction) && !p.isError
	switch v := v.(type) {
	case []any:
		switch {
		case len(v) == 0:
			return empty
		case listNames[name] || emptyNames[name] || isAction:
			return p.list(v, action)
		}
		return p.wrapped(v, depth)
	case map[string]any:
		if f := fieldsOf(v); isAction && f.isStatement() {
			p.operation(f, action)
			return true
		}
		return p.object(v, depth+1)
	case nil:
		return empty && !isAction
	case bool:
		return v && action == Nothing && !p.isError
	case string:
		none := strings.TrimSpace(v) == "[]" || actions[foldKey(v)] == Nothing
		return none && empty || p.nested(v)
	}
	return false
}

// wrapped reads a list under a name that says nothing: it counts when an operation is in it.
func (p *parser) wrapped(l []any, depth int) bool {
	for _, e := range l {
		if m, ok := e.(map[string]any); ok && fieldsOf(m).isOperation() {
			return p.list(l, "")
		}
	}
	found := false
	for _, e := range l {
		if m, ok := e.(map[string]any); ok {
			found = p.object(m, depth+1) || found
		}
	}
	return found
}

// nested reads JSON that was put into a string.
func (p *parser) nested(s string) bool {
	if p.depth > 1 || !looksLikeAnswer(s) {
		return false
	}
	p.depth++
	defer func() { p.depth-- }()
	was := p.res.Understood
	p.res.Understood = false
	p.text(s)
	found := p.res.Understood
	p.res.Understood, p.res.Repaired = was || found, p.res.Repaired || found
	return found
}
