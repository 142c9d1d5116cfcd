package rules

import (
	"regexp"
	"strings"

	"evoke/store"
)

// Preferences are stated in three ways: by a verb of liking ("I prefer …"), by what one does as a rule ("I tend to …",
// "I only buy …") and by what something does to one ("… makes me anxious", "… works best for me").

const (
	enIntens = `(?:(?:really|absolutely|truly|just|also|do|still|always|quite|particularly|especially|generally|usually|definitely|totally|personally|actually|only|mostly|simply|kind of|very much|much|far|strongly|strictly|typically|normally|naturally|firmly|greatly|deeply|genuinely|primarily|exclusively|often|mainly|honestly|tend to|have to|try to|try my best to|make sure to|as a rule|have always|['’]ve always) )*`
	// enEver is how a habit is stated: without one of these, a verb in the present is about today.
	enEver  = `(?:usually|always|typically|normally|generally|often|only|exclusively|strictly|rarely|seldom|hardly ever|never|mostly|primarily|almost always|almost never|mainly)`
	enHabit = `(?:buy|book|wear|shop|listen|watch|read|eat|drink|use|follow|look for|choose|pick|opt|go|order|take|drive|fly|travel|stay|work|study|learn|cook|bake|play|rely|seek|consume|purchase|carry|sleep|exercise|train|attend|visit|invest|donate|support|dress|walk|cycle|bike|run|swim|commute|spend|write|drink|serve|grow|adopt|date|meet|stick|shower|pay|save|tip|rent|own|watch|stream|collect|plan|prioriti[sz]e)`
	enLove  = `(?:love (?:of|for)|passion for|soft spot for|preference for|weakness for|thing for|fondness for|affinity for|appreciation for)`
	enHate  = `(?:aversion to|fear of|phobia of|disdain for|dislike (?:of|for)|distaste for|hatred (?:of|for)|intolerance (?:to|for)|sensitivity to|low tolerance for|phobia|sweet tooth|sensitive (?:skin|stomach|teeth))`
)

// likes is a rule about a liking or a habit.
func likes(pattern, say string, confidence float64, ok func(v, x string) bool) rule {
	return rule{re: is(pattern), category: store.Preference, subject: "likes:{v}", exclusive: true, say: say,
		confidence: confidence, importance: .6, cut: cutAt(enNotOn), ok: ok, reason: true}
}

var englishPreferences = []rule{
	{re: is(`i (?:don['’]t|do not|never|can['’]t|cannot) (?:really |usually |ever )?(?P<v>(?:eat|drink|smoke|consume|wear|watch) .+|drink|smoke)`), category: store.Preference, subject: "avoids:{v}", exclusive: true, say: "{who} does not {v}", confidence: .8, importance: .7, cut: cutAt(enNotOn), reason: true,
		ok: refuse(`(?:eat|drink|smoke|consume|wear|watch) (?:it|that|this|them|you|breakfast yet|yet|out)\b`)},
	likes(`i `+enIntens+`(?:like to |prefer to |want to )?(?:avoid|steer clear of|stay away from|shy away from|refrain from|keep away from) (?P<v>.+)`, "{who} avoids {v}", .8, notPronoun),
	likes(`i `+enIntens+`(?:hate|dislike|detest|loathe|despise|can['’]?t (?:stand|bear|tolerate)|cannot (?:stand|bear|tolerate)|(?:don['’]t|do not) `+enIntens+`(?:like|enjoy|love|care for)|no longer (?:like|enjoy|love)|(?:have )?stopped liking|(?:have )?never (?:really )?(?:liked|enjoyed|cared for)|(?:have )?(?:no|zero|little) interest in) (?P<v>.+)`, "{who} dislikes {v}", .85, notPronoun),
	likes(`i(?:['’]ve| have) never (?:really )?(?:liked|enjoyed|cared for|loved|been (?:really |much of )?(?:an? (?:big |huge |great )?fan of|into|keen on|fond of|interested in|comfortable with)) (?P<v>.+)`, "{who} dislikes {v}", .85, notPronoun),
	likes(enAm+` not (?:really |at all |particularly |very |that )?(?:an? (?:big |huge |great )?fan of|into|keen on|fond of|interested in|comfortable with) (?P<v>.+)`, "{who} dislikes {v}", .8, notPronoun),
	likes(`(?:.*, )?(?P<v>[^,]+?) (?:is|are)(?:n['’]t| not) (?:really |quite |exactly )?(?:my (?:thing|cup of tea|style|jam|taste)|for me)`, "{who} dislikes {v}", .8, notSubject),
	likes(`i `+enIntens+`(?:prefer|favou?r) (?P<v>.+)`, "{who} prefers {v}", .85, notPronoun),
	likes(`i(?:['’]d| would) (?:much |far )?rather (?P<v>.+ than .+)`, "{who} would rather {v}", .8, refuse(`(?:not|have|you|see|hear)\b`)),
	likes(`i `+enIntens+`(?:like|love|adore|enjoy|value) (?P<v>.+)`, "{who} likes {v}", .85, notSaid),
	likes(`i(?:['’]ve| have) (?:always|long) (?:liked|loved|adored|enjoyed|been (?:into|fond of|fascinated by|passionate about|drawn to|an? (?:big |huge )?fan of)) (?P<v>.+)`, "{who} likes {v}", .85, notPronoun),
	likes(enAm+` `+enIntens+`(?:(?:a )?(?:big |huge |great )?(?:fan|lover) of|into|keen on|fond of|crazy about|obsessed with|passionate about|drawn to|partial to) (?P<v>.+)`, "{who} likes {v}", .8, notPronoun),
	likes(`i(?:['’]ve got| have|['’]ve always had|['’]ve had) (?P<v>an? (?:[\p{L}-]+ ){0,3}(?:`+enHate+`|`+enLove+`).*)`, "{who} has {v}", .8, nil),
	likes(enAm+` (?P<v>(?:[\p{L}]+ly |very |quite |really |also )*(?:sensitive to|averse to|opposed to|uncomfortable (?:with|in|around)|(?:afraid|scared|terrified|wary) of|committed to|claustrophobic)(?: .+)?)`, "{who} is {v}", .75, refuse(`.*\b(?:to|with|of|in|around) (?:it|that|this|them|you)\b`)),
	likes(enAm+` (?:more of |definitely |very much |really |just |kind of )*(?P<v>an? (?:[\p{L}-]+ ){1,3}(?:person|lover|enthusiast|eater|drinker|sleeper|traveler|traveller|learner|buff|minimalist|owl))`, "{who} is {v}", .8, refuse(`.*\b(?:only|other|first|last|wrong|right|different|nice|good|bad|terrible) (?:person|learner)`)),
	likes(`i (?:follow|keep|maintain|stick to|adhere to|`+enEver+` follow|strictly adhere to) (?P<v>(?:an? )?(?:[\p{L}-]+,? ){0,6}(?:diet|lifestyle|regimen|eating plan)\b.*)`, "{who} follows {v}", .85, refuse(`(?:this|that|the|your)\b`)),
	likes(enAm+` (?:currently |now )?(?P<v>on an? (?:[\p{L}-]+,? ){1,4}diet\b.*)`, "{who} is {v}", .85, nil),
	likes(`(?:as |being |i['’]m |i am |for )?someone who(?:['’]s)? (?P<v>(?:`+enEver+` |[\p{L}]+ly )*(?:follows|avoids|prefers|loves|hates|likes|dislikes|enjoys|values|lives|needs|thrives|struggles|can['’]t|cannot|doesn['’]t|does not|has|works|learns|allergic|wears|eats|buys|only|never|always|passionate|into)\b.*)`, "{who} is someone who {v}", .75, notClauseOf),
	likes(`i (?P<v>(?:tend to|gravitate towards?|lean towards?|opt for|go for|refuse to|thrive (?:in|on|with|when)|stick (?:to|with)|learn best|work best|(?:focus|study|concentrate|sleep|perform|function) (?:best|better)|do best) .+)`, "{who} {v}", .75, notClauseOf).with(conjugate),
	likes(`i (?P<v>(?:`+enEver+` )+`+enHabit+`(?: .+)?)`, "{who} {v}", .75, notClauseOf).with(conjugate),
	likes(`i find (?:that )?(?P<v>(?:[\p{L}'’-]+,? ){1,12}?(?:(?:[\p{L}]+ly|too|very|so|more|quite|rather|a bit|much) )*(?:[\p{L}-]+(?:ing|able|ible|ful|less|ive|ous|al|ic|ant|ent)|boring|bland|noisy|messy|dull|hard|easy|slow|tedious|fun|better|unsafe|unpleasant|scary|gross|difficult|best)(?: (?:and|or|than|for|to|when|in) .+| rather .+)?)`, "{who} finds {v}", .75, notSubject),
	likes(`(?:.*, )?(?P<v>[^,]{3,80}? (?:(?:tends? to|often|usually|always|really|just|can) )*makes?) me (?P<x>(?:feel |very |really |so |too |quite |a bit )*(?:[\p{L}-]+)(?:(?:,| and| or) [\p{L}-]+)*)(?: .*)?`, "{v} {whom} {x}", .75, notSubject),
	likes(`(?:.*, )?(?P<v>[^,]{3,100}? works? (?:best|better|well|perfectly)) for me(?: .*)?`, "{v} for {whom}", .75, both(notSubject, func(v, _ string) bool { return len(strings.Fields(v)) <= 14 })),
	likes(`my (?P<x>preference|(?:preferred|go-to|ideal) [\p{L}-]+(?: [\p{L}-]+)?) is (?P<v>.+)`, "{who}'s {x} is {v}", .8, notPronoun),
}

// with sets how the value is cut.
func (r rule) with(cut func(string) string) rule {
	r.cut = func(v string) string { return cut(cutAt(enNotOn)(v)) }
	return r
}

var (
	// notSubject refuses what stands for something said before.
	notSubject = refuse(`(?:it|that|this|they|them|these|those|you|your|he|him|she|her|we|what|which|who|there|the (?:idea|fact|thought|plan|suggestion|option)s?|i|and|but|so|if|when|how|anything|something|nothing|everything|to|myself|out|all|none|either|both|the first|the second|sounds?|one)\b`)
	// notClauseOf refuses habits of thinking and speaking, which say nothing of what one likes.
	notClauseOf = refuse(`tends? to \S+$|(?:[\p{L}]+s? )?(?:tends? to |always |usually |never |often |only )*(?:forgets?|agrees?|thinks?|wonders?|assumes?|be|feel like|take it|go (?:to bed|home|back|there|with that)|goes (?:to bed|home|back|there|with that)|overthink|get confused|(?:prefer|avoid|like|enjoy|use|keep|do|find|choose|pick)s? (?:it|that|this|them|those|these))\b`)
	// notSaid refuses the things that the conversation is about ("the stir-fry idea"); "the beach" and "the smell of rain"
	// mean what they say.
	notSaid = func(v, x string) bool {
		return notPronoun(v, x) && !enDoingIt.MatchString(v) && (!enThe.MatchString(v) || enTheOf.MatchString(v))
	}
	enDoingIt = has(`^(?:to )?\S+ (?:it|them|those|these|this|that)\b`)
	enThe     = has(`^(?:the|all the|both|some of the|most of the) \S+ \S+`)
	enTheOf   = has(`^(?:the|all the) (?:\S+ ){1,2}(?:of|when|in|that)\b`)
	enAdverb  = has(`^(?:[\p{L}]+ly|always|often|never|seldom|almost|ever|mostly|only)$`)
	enLyVerb  = map[string]bool{"rely": true, "fly": true, "apply": true, "supply": true, "reply": true}
)

// conjugate puts the verb that a value begins with, behind its adverbs, into the third person.
func conjugate(v string) string {
	at := 0
	for {
		w, _, more := strings.Cut(v[at:], " ")
		if !more || enLyVerb[strings.ToLower(w)] || !enAdverb.MatchString(w) {
			break
		}
		at += len(w) + 1
	}
	verb, rest, _ := strings.Cut(v[at:], " ")
	switch l := strings.ToLower(verb); {
	case l == "have":
		verb = "has"
	case strings.HasSuffix(l, "y") && len(l) > 1 && !strings.ContainsRune("aeiou", rune(l[len(l)-2])):
		verb = verb[:len(verb)-1] + "ies"
	case strings.HasSuffix(l, "s"), strings.HasSuffix(l, "sh"), strings.HasSuffix(l, "ch"), strings.HasSuffix(l, "x"), strings.HasSuffix(l, "go"), strings.HasSuffix(l, "do"):
		verb += "es"
	default:
		verb += "s"
	}
	return strings.TrimSpace(v[:at] + verb + " " + rest)
}

// enReason is the reason that follows a preference: it is part of it ("avoids seafood since they dislike the taste").
var enReason = regexp.MustCompile(`(?i)^[\s,–—-]*((?:mainly |mostly |especially |partly |simply |just |largely )?(?:because|since|as (?:i|it|they|that|my|the)|due to|given|so (?:i|that i) can|thanks to)\b.+)$`)

// enReasonEnd is where a reason ends.
var enReasonEnd = has(`\s*[;:()]|\s+[-–—]+\s|,\s+(?:so|but|and (?:i|my|we|it|do|can|what|how|that)|which|do|does|is|are|can|could|what|how|any|though|although|however|while|let|thanks|please|i|we|you)\b|\s+(?:so (?:i|do|what|could|can|maybe|any)|but|and (?:i|we|my|do|can|what|how))\b`)

// enAskingTail is the end of a sentence that asks or supposes, behind a statement that stands on its own.
var enAskingTail = regexp.MustCompile(`(?i)(?:` +
	`(?:[,;]|\s[-–—]|[–—])\s*(?:(?:so|but|and|then|or|yet) )?(?:do|does|did|is|are|can|could|would|will|should|have|has|what|what['’]s|which|how|where|when|any|got any|know)\s[^?]*\?.*` +
	`|\s(?:so|but|and) (?:do|does|are|is|can|could|what|what['’]s|how|which|would|have) (?:you|there|i|any|we|should|it|would|do|are|about|else|other|kind)\b.*\?.*` +
	`|[,;]?\s(?:[-–—] )?(?:so |but |and |though )?(?:(?:i['’]m|i am|i was|i have been|i['’]ve been) (?:also |just |really |always |a bit |still )?(?:wondering|curious|not sure|unsure|hoping|worried|thinking|hesitant|looking)\b|(?:i|perhaps|maybe|hopefully) (?:wonder|guess|might|may|would|could|should|think)\b|i['’]d\b|(?:maybe|perhaps|hopefully) ).*)$`)

// enTag is an end that asks whether the statement is true.
var enTag = has(`^[,;\s–—-]*(?:do|does|did|is|are|was|can|could|will|would|should|have|has)(?:n['’]t| not)? (?:i|it|they|he|she|you|we|that)(?: not)?\?.*$`)

// enNoDoubt are words of doubt that are none.
var enNoDoubt = has(`\b(?:that (?:being )?said|having said that|i(?:['’]d| would) (?:much |far )?rather|(?:if|when|whenever) possible|unless (?:they|it|there|the)|i['’]d say|i(?:['’]d| would) (?:like|prefer) (?:you to|that you)|unless i (?:say|ask|tell you)[^,]{0,30})\b`)
