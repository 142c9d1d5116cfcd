// Package rules is the extractor that needs no model: patterns in English, Chinese and Japanese for what people say
// about themselves (name, home, work, origin, family, likes, goals), for standing instructions and for corrections.
//
// It would rather miss than invent. Questions, hypotheticals, hedged statements, reported speech, quoted text, code and
// negated forms that no pattern expects give nothing. Every operation quotes the clause it rests on, verbatim.
//
// A statement is put into the third person in the language it was made in. Its subject is the speaker's name when the
// turn has one ("Ann likes tea", "李雪喜欢茶", "葵は猫が好き") and otherwise "The user", "用户" or "ユーザー".
// Instructions and corrections keep the speaker's own words behind "The user asks:", "用户要求：" and so on.
package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"evoke/extract"
	"evoke/store"
)

// Name is the extractor's name and version in the provenance of what it finds.
const Name = "rules/1"

// mostPerTurn bounds what one turn can yield; a longer list is not about its speaker.
const mostPerTurn = 200

// Options adapt an Extractor. The zero value is ready to use.
type Options struct {
	// Assistants extracts what speakers of the role assistant say of themselves, too, when they have a name of their
	// own: for chats between two people. Default: users only.
	Assistants bool
}

// Extractor finds statements by pattern. It keeps no state and may be used by several goroutines.
type Extractor struct{ opts Options }

// New returns an Extractor; opts may be nil.
func New(opts *Options) *Extractor {
	x := new(Extractor)
	if opts != nil {
		x.opts = *opts
	}
	return x
}

var _ extract.Extractor = (*Extractor)(nil)

// Name returns "rules/1".
func (x *Extractor) Name() string { return Name }

// Extract returns what the batch's turns state, in their order. It fails only when the context ends.
func (x *Extractor) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	var ops []extract.Operation
	known := slices.Clip(b.Known)
	for i := range b.Turns {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		if x.listens(&b.Turns[i]) {
			found := turnOps(&b.Turns[i], known)
			known = append(known, pending(found)...)
			ops = append(ops, found...)
		}
	}
	return ops, nil
}

func (x *Extractor) listens(t *store.Item) bool {
	switch t.Turn.Role {
	case "user":
		return true
	case "assistant":
		return x.opts.Assistants && isName(t.Turn.Speaker)
	}
	return false
}

// isName reports whether a speaker is more than a role.
func isName(speaker string) bool {
	switch strings.ToLower(speaker) {
	case "", "user", "assistant", "human", "ai", "bot":
		return false
	}
	return true
}

// finder collects the operations of one turn.
type finder struct {
	turn      *store.Item
	known     []store.Item
	ops       []extract.Operation
	seen      map[string]bool
	read      map[string]bool // sentences: said twice, they say nothing new
	corrected bool            // the sentence, or the one before it, takes something back
	forTask   bool            // the sentence at hand is about the task at hand
}

func turnOps(t *store.Item, known []store.Item) []extract.Operation {
	f := &finder{turn: t, known: known, seen: map[string]bool{}, read: map[string]bool{}}
	for s := range sentences(t.Content) {
		if len(f.ops) >= mostPerTurn {
			break
		}
		if !f.read[s] {
			f.read[s] = true
			f.sentence(s)
		}
	}
	return f.ops
}

// sentence tries the rules of the languages that a sentence may be in.
func (f *finder) sentence(s string) {
	before := f.corrected
	f.corrected = false
	spoken := languagesOf(s)
	if len(spoken) > 1 && slices.ContainsFunc(spoken, func(l *language) bool { return l.doubts(s) }) {
		return // who reports in one language may quote in another
	}
	for _, l := range spoken {
		orderly := l.orderly(s)
		if !orderly && !l.hint(s) {
			continue
		}
		if orderly && f.first(l, l.requests, trimClause(s)) {
			continue
		}
		s := l.states(s)
		if s == "" {
			continue
		}
		f.forTask = l.taskLead.MatchString(s)
		rest := s
		if m := l.takesBack.FindStringIndex(s); m != nil {
			f.corrected, before = true, true
			rest = strings.TrimLeft(s[m[1]:], " ,，、.。:：")
		}
		for i := range l.greetings {
			f.try(l, &l.greetings[i], trimClause(rest), trimClause(rest), "", before)
		}
		if !f.whole(l, rest, before) {
			f.clauses(l, rest, before)
		}
	}
}

// whole tries the rules about a whole sentence; one that matches ends the search.
func (f *finder) whole(l *language, s string, corrected bool) bool {
	s = trimClause(l.lead.ReplaceAllString(s, ""))
	for i := range l.sentences {
		if f.try(l, &l.sentences[i], s, s, "", corrected) {
			return true
		}
	}
	return l.orderly(s) && f.first(l, l.orders, s) || f.correction(l, s, corrected)
}

// first tries rules about a whole sentence until one matches.
func (f *finder) first(l *language, rules []rule, s string) bool {
	for i := range rules {
		if f.try(l, &rules[i], s, s, "", false) {
			return true
		}
	}
	return false
}

func (f *finder) clauses(l *language, s string, corrected bool) {
	before := "" // subject of the clause before
	for c, rest := range l.clauses(s) {
		c = trimClause(c)
		for range 3 { // greetings and fillers may come in a row
			if m := l.lead.FindStringIndex(c); m == nil || m[1] == 0 {
				break
			} else {
				c = trimClause(c[m[1]:])
			}
		}
		elided := l.self != "" && before != "" && c != "" && !strings.HasPrefix(c, l.self)
		before = f.clause(l, c, rest, corrected, elided, before)
	}
}

// clause tries the rules about a clause and returns the subject of what it found. With elided, the clause may have left
// the pronoun out; who is meant is only sure after a clause about the speaker alone.
func (f *finder) clause(l *language, c, rest string, corrected, elided bool, before string) string {
	if l.forTask != nil {
		if m := l.forTask.FindStringSubmatch(c); m != nil {
			c, f.forTask = m[1], true
		}
	}
	match := c
	if elided {
		match = l.self + c
	}
	if l.starts != nil && !l.starts.MatchString(match) {
		return "" // most clauses are about something else, and there are many rules
	}
	for i := range l.facts {
		r := &l.facts[i]
		if elided && strings.HasPrefix(before, "likes:") && !strings.HasPrefix(r.subject, "likes:") {
			continue
		}
		if f.try(l, r, match, c, rest, corrected) {
			if strings.HasPrefix(r.subject, "likes:") || aboutSpeaker(r.subject) {
				return r.subject
			}
			return ""
		}
	}
	return ""
}

func aboutSpeaker(subject string) bool {
	switch subject {
	case "name", "called", "home", "origin", "employer", "workplace", "job", "age", "birthday":
		return true
	}
	return false
}

// try applies one rule to a clause, which is quoted; rest is what follows it in its sentence.
func (f *finder) try(l *language, r *rule, clause, quoted, rest string, corrected bool) bool {
	if r.standing && f.turn.Turn.Role == "assistant" {
		return false // nobody instructs himself
	}
	m := r.re.FindStringSubmatch(clause)
	if m == nil {
		return false
	}
	var v, x string
	for i, name := range r.re.SubexpNames() {
		switch name {
		case "v":
			if m[i] != "" {
				v = m[i]
			}
		case "x":
			x = strings.ToLower(strings.TrimSpace(m[i]))
		}
	}
	if !r.standing { // instructions are kept as they are
		v = l.trim(v)
	}
	said := v
	if r.cut != nil {
		v = l.trim(r.cut(v))
	}
	if v == "" || !l.fits(v) || r.subject == "name" && strings.EqualFold(v, f.turn.Turn.Speaker) || r.ok != nil && !r.ok(v, x) {
		return false
	}
	if r.retract {
		return f.retract(r, v, quoted)
	}
	op := extract.Operation{
		Action: extract.Add, Kind: store.Semantic, Category: r.category, Exclusive: r.exclusive,
		Confidence: r.confidence, Importance: r.importance,
	}
	if r.category == store.Behavior && r.standing {
		op.Kind = store.Procedural
	}
	if r.subject != "" {
		op.Subject = strings.NewReplacer("{v}", keyOf(v), "{x}", keyOf(x)).Replace(r.subject)
	}
	op.Content = l.say(r, f.who(l), v, x)
	if why := l.why(r, v, said, rest); why != "" {
		if i := strings.Index(f.turn.Content, quoted); i >= 0 {
			if j := strings.Index(f.turn.Content[i:], why); j >= 0 {
				if l.words {
					op.Content += " "
				} else {
					op.Content += "，"
				}
				op.Content += l.third(why)
				quoted = f.turn.Content[i : i+j+len(why)]
			}
		}
	}
	op.Durability = f.durability(l, r, clause)
	op.At, op.Precision = when(op.Subject, clause, f.turn.Local())
	if corrected && !r.standing {
		op.Category, op.Importance = store.Correction, max(op.Importance, 0.8)
		op.Confidence = max(op.Confidence, 0.9)
	}
	f.add(op, quoted)
	return true
}

// add completes an operation and keeps it, once.
func (f *finder) add(op extract.Operation, quote string) {
	quote = strings.TrimSpace(quote)
	if f.seen[op.Content] || quote == "" || !utf8.ValidString(op.Content) {
		return
	}
	f.seen[op.Content] = true
	op.Turn, op.Quote, op.Speaker = f.turn.ID, quote, f.turn.Turn.Speaker
	f.ops = append(f.ops, op)
}

func (f *finder) who(l *language) string {
	if isName(f.turn.Turn.Speaker) {
		return f.turn.Turn.Speaker
	}
	return l.user
}

// keyOf is the form of a value within a subject.
func keyOf(v string) string {
	const most = 80
	k := strings.ReplaceAll(store.FoldText(v), " ", "_")
	for len(k) > most {
		_, n := utf8.DecodeLastRuneInString(k)
		k = k[:len(k)-n]
	}
	return k
}
