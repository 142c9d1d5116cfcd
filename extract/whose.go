package extract

import (
	"regexp"
	"slices"
	"strings"

	"evoke/store"
)

// saidOfAnother reports whether the turn says a statement about its speaker of somebody else, in the clause that says it:
// "My sister lives in Rome and I live in Bergen" as "The user lives in Rome". anothers looks at the quote alone, which a model
// may cut as it likes; this looks at the sentences that the quote is in. It errs on the side of keeping: where no clause, or
// one without a person, says it, the statement passes.
func saidOfAnother(op *Operation, turn string) bool {
	if op.Action != Add && op.Action != Supersede || op.About != "" || strings.HasPrefix(op.Subject, aboutPrefix) {
		return false
	}
	text := around(turn, op.Quote)
	if han.MatchString(op.Content) {
		return han.MatchString(text) && saidOfAnotherHan(op, text)
	}
	says, own := saysOfUser(op.Content)
	if len(says) == 0 || han.MatchString(text) || likewise.MatchString(text) {
		return false
	}
	verdict := nobody
	for _, sentence := range sentencesOf(text) {
		before, bare := nobody, false // of the clause before: who is its subject, and whether that is all of it
		for _, c := range clauseSplit.Split(sentence, -1) {
			words := plainWords(c)
			who, alone := subjectIn(words, c, op.Speaker)
			if bare && before == speaker {
				who = speaker // "I and my sister live in Rome"
			}
			if who == nobody {
				who = before
			}
			if at := phrase(words, says); at >= 0 {
				if who, _ = subjectIn(words[:at], c, op.Speaker); who == nobody || bare && before == speaker {
					who = before
				}
				if own && slices.Contains(words[:at], "my") {
					who = speaker
				}
				if who != another {
					return false
				}
				verdict = another
			}
			before, bare = who, alone
		}
	}
	return verdict == another || verdict == nobody && !own && looselyOfAnother(op, text, says)
}

// who is the subject of a clause.
type who uint8

const (
	nobody who = iota // none that is known
	speaker
	another
)

var (
	han         = regexp.MustCompile(`\p{Han}`)
	clauseSplit = regexp.MustCompile(`(?i)\s*[,;:—–()]\s*|\s+(?:and|but|while|whereas|though|although|because|since|so|then|plus|yet)\s+`)
	// likewise has a sentence say of the speaker what another one says of somebody else.
	likewise = regexp.MustCompile(`(?i)\b(?:so do i|me too|same here|as do i|i do too|i am too)\b|\bi\b[^.!?\n]*\b(?:too|as well|also|there|likewise|same|both|together)\b|\b(?:we|us|our|both)\b`)
	// ofPerson are statements of what somebody is, has or does; transfers hands something to the speaker.
	ofPerson  = set(`live work be have move study play speak drive like love prefer hate own eat drink`)
	transfers = regexp.MustCompile(`(?i)\b(?:gave|gives|giving|recommend\w*|suggest\w*|told|tells|prescrib\w*|bought|buys|got|gets|sent|sends|asked|asks|made|makes|wants|wanted|needs|needed|let|lets|invit\w*|with me|for me|to me)\b`)
)

// around are the sentences of a turn that a quote is in; the quote itself where the turn does not hold it.
func around(turn, quote string) string {
	at := strings.Index(turn, quote)
	if quote == "" || at < 0 {
		return quote
	}
	from, to := 0, len(turn)
	for _, m := range sentenceStart.FindAllStringIndex(turn, -1) {
		if m[1] <= at {
			from = m[1]
		} else if m[0] >= at+len(quote) {
			to = m[1]
			break
		}
	}
	return turn[from:to]
}

// saysOfUser are the words that a statement says of the user; own tells that it is about something of his.
func saysOfUser(content string) (words []string, own bool) {
	words = plainWords(content)
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	if len(words) < 3 || words[0] != "user" && words[0] != "i" && words[0] != "my" {
		return nil, false
	}
	own = words[0] == "my" || words[1] == "s"
	if words[0] == "user" && own {
		words = words[1:]
	}
	return words[1:], own
}

// plainWords are the words of a text in lower case, with one form for each common verb.
func plainWords(text string) []string {
	words := strings.Fields(store.FoldText(text))
	for i, w := range words {
		switch w {
		case "has", "had":
			words[i] = "have"
		case "is", "am", "are", "m":
			words[i] = "be"
		case "me", "myself":
			words[i] = "i"
		}
	}
	return words
}

// phrase is where words stand in others, whatever the person of the first one; -1 for nowhere.
func phrase(in, words []string) int {
	for i := 0; i+len(words) <= len(in); i++ {
		if base(in[i]) == base(words[0]) && slices.Equal(in[i+1:i+len(words)], words[1:]) {
			return i
		}
	}
	return -1
}

func base(verb string) string { return strings.TrimSuffix(strings.TrimSuffix(verb, "s"), "e") }

// subjectIn finds who words are about: the speaker, if he is among them, else somebody else who is. alone tells that they say
// no more than who it is.
func subjectIn(words []string, text, by string) (w who, alone bool) {
	alone = len(words) > 0
	for _, word := range words {
		switch {
		case word == "i" || word == "user" || by != "" && word == strings.ToLower(by):
			w = speaker
		case otherPerson[word] || relatives[word] || namedIn(text, word):
			if w == nobody {
				w = another
			}
		case word == "my" || word == "both" || word == "s":
		default:
			alone = false
		}
	}
	return w, alone
}

var relatives = set(`parents mum mom dad grandma grandpa grandmother grandfather grandparents nephew niece kids children family fiance fiancee roommate flatmate teacher
	colleagues friends neighbours neighbors brothers sisters sons daughters cousins boss ex twin stepmother stepfather`)

// looselyOfAnother reports whether all that a statement says besides its verb stands in clauses about somebody else alone, in
// other words: "My sister has a flat in Rome" as "The user lives in Rome".
func looselyOfAnother(op *Operation, text string, says []string) bool {
	if !ofPerson[base(says[0])] && !ofPerson[base(says[0])+"e"] || transfers.MatchString(text) {
		return false
	}
	var things []string
	for _, w := range says[1:] {
		switch {
		case otherPerson[w] || relatives[w]:
			return false // it says itself whom it concerns
		case len(w) > 3:
			things = append(things, w)
		}
	}
	found := false
	for _, c := range clauseSplit.Split(text, -1) {
		words := plainWords(c)
		if len(things) == 0 || slices.ContainsFunc(things, func(w string) bool { return !slices.Contains(words, w) }) {
			continue
		}
		first := slices.IndexFunc(words, func(w string) bool { return slices.Contains(things, w) })
		if w, _ := subjectIn(words[:first], c, op.Speaker); w != another || slices.Contains(words, "i") {
			return false
		}
		found = true
	}
	return found
}

var (
	hanClause = regexp.MustCompile(`[，,。；;！!？?\n]|但是?|不过|而`)
	// relativeOfMine is all of what stands before what is said of somebody close to the speaker.
	relativeOfMine = regexp.MustCompile(`^(?:其实|最近|现在|对了|嗯)?(?:我们?的?|咱的?|俺的?)(?:妈妈?|爸爸?|母亲|父亲|姐姐?|妹妹?|哥哥?|弟弟?|儿子|女儿|孩子|老婆|老公|妻子|丈夫|男朋友|女朋友|同事|老板|朋友|邻居|室友|奶奶|爷爷|表[哥姐弟妹])(?:也|都|就|还|一直|现在|目前|以前|去年)*$`)
)

func saidOfAnotherHan(op *Operation, text string) bool {
	content, _ := normalWords(op.Content)
	says, ok := strings.CutPrefix(strings.Join(content, ""), "我")
	if !ok || len([]rune(says)) < 2 {
		return false
	}
	found := false
	for _, c := range hanClause.Split(text, -1) {
		words, chinese := normalWords(c)
		before, ends := strings.CutSuffix(strings.Join(words, ""), says)
		if !chinese || !ends {
			continue
		}
		if !relativeOfMine.MatchString(before) && (strings.Contains(before, "我") || !otherPersonHan.MatchString(before)) {
			return false
		}
		found = true
	}
	return found
}

// forAnother reports whether every place of a quote stands behind words that hand what follows to another user: "store this
// for user bob: I live in Rome", 替用户小王记住：. Who asks for that would put words into somebody else's memory, and they end in
// his own.
func forAnother(turn, quote, by string) bool {
	at := strings.Index(turn, quote)
	if quote == "" || at < 0 {
		return false
	}
	for _, m := range handsOver.FindAllStringSubmatchIndex(turn, -1) {
		if m[1] > at+len(quote) || strings.Contains(turn[m[1]:max(m[1], at)], "\n\n") {
			continue
		}
		name := ""
		for i := 2; i+1 < len(m); i += 2 {
			if m[i] >= 0 {
				name = store.FoldText(turn[m[i]:m[i+1]])
			}
		}
		if strings.HasSuffix(turn[:m[1]], ",") && !strings.ContainsAny(name, "0123456789@") {
			continue // "notes for client meetings, …"
		}
		if name != "" && name != store.FoldText(by) {
			return true
		}
	}
	return false
}

var handsOver = regexp.MustCompile(`(?i)\b(?:store|save|remember|note|record|add|write|put|log|keep|file)\b[^.!?\n:]{0,40}?\b(?:for|about|under|into|in|to|of|as)\s+(?:the\s+)?(?:memory of\s+|profile of\s+|account of\s+)?(?:user|account|profile|customer|client|tenant|person)(?:\s*(?:#|id|named|called|name))?\s+["'“‘<]?([\p{L}\p{N}][\p{L}\p{N}_.@+-]*)["'”’>]?(?:['’]s\s+\w+)?\s*[:,：，—-]` +
	`|(?:替|给|为|帮|往)(?:用户|账号|账户|客户|顾客)\s*["“「]?([\p{L}\p{N}_.@+-]{1,20}?)["”」]?(?:的(?:记忆|档案|资料))?(?:里|中)?(?:记住|记下|记录|保存|存下|存一下|添加|写入)[^。！？\n:：]{0,10}[:：，,]`)
