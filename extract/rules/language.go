package rules

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/store"
)

// rule is one pattern. Its expression is matched against a clause from end to end; group v is the value that the
// statement is about, group x a second one.
type rule struct {
	re         *regexp.Regexp
	category   store.Category
	subject    string // with {v} and {x}
	exclusive  bool
	say        string // the statement, with {who}, {whom} (the same within a sentence), {v} and {x}
	confidence float64
	importance float64
	retract    bool                   // {v} is no longer so
	standing   bool                   // an instruction
	task       bool                   // it holds for the task at hand only
	reason     bool                   // a reason that follows belongs to the statement
	cut        func(v string) string  // shortens the value
	ok         func(v, x string) bool // refuses values that look right and are not
}

// language is how one language speaks of oneself.
type language struct {
	user      string
	hint      func(s string) bool // whether a sentence may hold anything: cheap, and true too often
	question  *regexp.Regexp      // sentences that ask
	doubt     *regexp.Regexp      // sentences that suppose, hedge or report
	noDoubt   *regexp.Regexp      // words of doubt that are none; nil: there are no such
	asking    *regexp.Regexp      // the end of a sentence that asks or supposes behind a statement; nil: never
	tag       *regexp.Regexp      // an end that asks whether the statement is true
	reason    *regexp.Regexp      // the reason behind a statement, in group 1; nil: not kept
	reasonEnd *regexp.Regexp      // where it ends
	takesBack *regexp.Regexp      // beginnings that take back what was said
	boundary  *regexp.Regexp      // between clauses; a group belongs to the next clause
	lead      *regexp.Regexp      // words before a clause that say nothing
	starts    *regexp.Regexp      // how a clause about oneself begins; nil: in any way
	meant     []meantRule
	greetings []rule              // about a whole sentence, with the words before its clauses
	facts     []rule              // about a clause
	sentences []rule              // about a whole sentence
	orderly   func(s string) bool // whether a sentence may be one of orders: cheap, and true too often
	orders    []rule              // instructions, about a whole sentence
	requests  []rule              // instructions put as a question
	task      *regexp.Regexp      // words that bind a statement to the task at hand
	taskLead  *regexp.Regexp      // the same at the beginning of a sentence, for all of it
	forTask   *regexp.Regexp      // a clause that begins with them and goes on in group 1 with the speaker himself; nil: as any
	project   *regexp.Regexp      // words that bind a statement to the project
	tail      *regexp.Regexp      // words behind a value that say nothing
	third     func(v string) string
	most      int // longest value, in words or, without spaces, in characters
	words     bool
	vague     *regexp.Regexp // values that a correction cannot be about
	self      string         // the pronoun that a clause may leave out when the one before it has it; "" when there is none
	corrected string         // the statement of a correction, with {who} and {v}
}

// meantRule finds "B, not A".
type meantRule struct {
	re    *regexp.Regexp // groups new and, optionally, old
	after bool           // only behind words that take something back
}

// languagesOf guesses from the script. Text without kana or Han is tried as English, whose patterns find nothing in
// other languages.
func languagesOf(s string) []*language {
	var kana, han, latin bool
	first := true
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana = true
		case unicode.Is(unicode.Han, r):
			han = true
		case first && unicode.Is(unicode.Latin, r):
			latin = true
		}
		if unicode.IsLetter(r) {
			first = false
		}
	}
	var ls []*language
	switch {
	case kana:
		ls = append(ls, japanese)
	case han:
		ls = append(ls, chinese)
	}
	if latin || !kana && !han {
		ls = append(ls, english)
	}
	return ls
}

// states returns what a sentence states: the sentence without an end that asks, or nothing when it asks or supposes.
func (l *language) states(s string) string {
	if l.asking != nil {
		m := l.asking.FindStringIndex(s)
		if m != nil && m[0] > 0 && !l.tag.MatchString(s[m[0]:]) {
			s = s[:m[0]]
		}
	}
	if l.question.MatchString(s) {
		return ""
	}
	if l.doubts(s) {
		return ""
	}
	return s
}

// doubts reports whether a sentence supposes, hedges or reports.
func (l *language) doubts(s string) bool {
	if l.noDoubt != nil {
		s = l.noDoubt.ReplaceAllLiteralString(s, "")
	}
	return l.doubt.MatchString(s)
}

// reasonOf returns the reason at the beginning of what follows a statement, or "".
func (l *language) reasonOf(rest string) string {
	if l.reason == nil {
		return ""
	}
	m := l.reason.FindStringSubmatch(rest)
	if m == nil {
		return ""
	}
	why := m[1]
	if end := l.reasonEnd.FindStringIndex(why); end != nil {
		why = why[:end[0]]
	}
	why = trimClause(why)
	if !l.fits(why) || l.words && len(strings.Fields(why)) < 2 {
		return ""
	}
	return why
}

// why returns the reason of a statement with value v: it stands behind v in said, or in what follows said.
func (l *language) why(r *rule, v, said, rest string) string {
	if !r.reason || l.reason == nil {
		return ""
	}
	if i := strings.Index(said, v); i >= 0 && len(trimClause(said[i+len(v):])) > 0 {
		rest = said[i+len(v):] + rest
	}
	why := l.reasonOf(rest)
	if len(strings.Fields(v))+len(strings.Fields(why)) > mostReasoned {
		return ""
	}
	return why
}

// mostReasoned is how many words a statement and its reason may have.
const mostReasoned = 34

// clauses splits a sentence at the language's boundaries and yields each clause with what follows it.
func (l *language) clauses(s string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		from := 0
		for _, m := range l.boundary.FindAllStringSubmatchIndex(s, -1) {
			next := m[1]
			for g := 2; g < len(m); g += 2 { // a group is the beginning of the next clause
				if m[g] >= 0 {
					next = m[g]
				}
			}
			if m[0] > from && !yield(s[from:m[0]], s[m[0]:]) {
				return
			}
			from = next
		}
		yield(s[from:], "")
	}
}

// say fills a statement. Values are put in as they are, in one pass: they cannot act as placeholders.
func (l *language) say(r *rule, who, v, x string) string {
	if !r.standing { // an instruction is addressed to the agent and keeps its words
		v = l.third(v)
	}
	return strings.NewReplacer("{who}", who, "{whom}", strings.Replace(who, "The user", "the user", 1), "{v}", v, "{x}", x).Replace(r.say)
}

// trim takes what says nothing from the ends of a value.
func (l *language) trim(v string) string {
	for {
		was := v
		v = strings.TrimFunc(v, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(`.,;:!?~-–—…。，；：！？、～"“”'‘’「」『』()（）《》*_`+"`", r) || unicode.Is(unicode.So, r) || r == 0x200D || r == 0xFE0F
		})
		if m := l.tail.FindStringIndex(v); m != nil && m[0] > 0 {
			v = v[:m[0]]
		}
		if v == was {
			return v
		}
	}
}

// fits refuses values too long to be one statement.
func (l *language) fits(v string) bool {
	if l.words {
		return len(strings.Fields(v)) <= l.most && len(v) <= 12*l.most
	}
	return utf8.RuneCountInString(v) <= l.most
}

// trimClause takes blanks and punctuation from the ends of a clause.
func trimClause(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;:!~-–—…。，；：！、～*•·>#\"“”「」『』()（）", r) || unicode.Is(unicode.So, r)
	})
}

// anyWord returns a hint that looks for words of ASCII letters.
func anyWord(words ...string) func(string) bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return func(s string) bool {
		from := -1
		for i := 0; i <= len(s); i++ {
			if i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
				if from < 0 {
					from = i
				}
				continue
			}
			if from >= 0 && i-from <= 8 && set[strings.ToLower(s[from:i])] {
				return true
			}
			from = -1
		}
		return false
	}
}

// anyOf returns a hint that looks for parts of a text.
func anyOf(parts ...string) func(string) bool {
	return func(s string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
	}
}

// is compiles a pattern that must match from end to end whatever the case.
func is(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)^(?:` + pattern + `)$`) }

// has compiles a pattern that may match anywhere whatever the case.
func has(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) }

func refuse(pattern string) func(string, string) bool {
	re := has(`^(?:` + pattern + `)`)
	return func(v, _ string) bool { return !re.MatchString(v) }
}

func both(a, b func(string, string) bool) func(string, string) bool {
	return func(v, x string) bool { return a(v, x) && b(v, x) }
}
