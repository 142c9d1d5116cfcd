package scoring

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Manner is how a text speaks, whatever it speaks of: it tells what states something from what only keeps a conversation
// going. Each part is in [0,1]. Descriptions in square brackets, such as of a picture, are not spoken and do not count.
type Manner struct {
	Asks    float64 // share of its sentences that are questions
	Names   float64 // names and titles within its sentences: 1 from four words on
	Address float64 // words that speak to the other ("you"): 1 from three in ten on
	Ends    bool    // it ends with a question, so that what follows answers it
}

const (
	manyNames    = 4
	muchAddress  = 0.3
	fewWords     = 6    // a shorter text counts as this long
	wordOfHan    = 1.7  // characters of a word in Chinese
	mannerBytes  = 4096 // read of a text; the turns that manner matters for are far shorter
	titleOfHan   = 2    // a title in 《》 counts as so many words
	addressOfHan = 2    // 你 takes one character where English takes a word and its apostrophe
)

var (
	addressWords = set(`you your yours you're you've you'll you'd yourself u ya`)
	reAsksName   = regexp.MustCompile(`\b(?:who|whom|whose|where|names?|named|called|titles?|titled)\b|` +
		`\b(?:which|what) (?:(?:specific|new|other|kinds? of|types? of) )?(?:people|persons?|friends?|books?|novels?|authors?|movies?|films?|shows?|series|songs?|albums?|bands?|artists?|singers?|games?|teams?|compan(?:y|ies)|brands?|products?|restaurants?|city|cities|countr(?:y|ies)|states?|places?|towns?|schools?|universit(?:y|ies)|organi[sz]ations?|instruments?)\b` +
		`|谁|誰|叫什么|叫什麼|名字|哪里|哪裡|哪儿|哪个城市|哪座|哪国|哪家|哪所|哪部|哪本|哪首|什么(?:书|电影|歌|游戏|地方|品牌)|どこ|何という`)
)

// AsksName reports whether a query asks for a name or a title: who, where, which book.
func AsksName(query string) bool { return reAsksName.MatchString(dateText(query)) }

// MannerOf reads a text. known are names that say nothing in it, in lower case: those of the people who talk.
func MannerOf(text string, known []string) Manner {
	if len(text) > mannerBytes {
		text = text[:mannerBytes]
	}
	var c mannerCount
	for text != "" {
		spoken, rest, found := strings.Cut(text, "[")
		c.read(spoken, known)
		if text = ""; found {
			_, text, _ = strings.Cut(rest, "]")
		}
	}
	words := max(float64(c.words)+float64(c.han)/wordOfHan, fewWords)
	return Manner{
		Asks:    min(float64(c.questions)/float64(max(c.sentences, 1)), 1),
		Names:   min(float64(c.names)/manyNames, 1),
		Address: min(float64(c.address)/words/muchAddress, 1),
		Ends:    c.asked,
	}
}

// mannerCount is what MannerOf counts.
type mannerCount struct {
	words, han, names, address int
	sentences, questions       int
	asked                      bool // the last sentence was a question
	within                     bool // the word before does not end a sentence
}

func (c *mannerCount) read(spoken string, known []string) {
	for word := range strings.FieldsSeq(spoken) {
		c.marks(word)
		bare := strings.TrimFunc(word, noLetter)
		first, size := utf8.DecodeRuneInString(bare)
		if bare == "" || classOf(first) != classWord {
			c.within = false
			continue
		}
		c.words++
		if strings.IndexByte("yYuU", bare[0]) >= 0 && addressWords.has(strings.ToLower(strings.ReplaceAll(bare, "’", "'"))) {
			c.address++
		}
		if c.within && unicode.IsUpper(first) {
			second, _ := utf8.DecodeRuneInString(bare[size:])
			if unicode.IsLetter(second) && !slices.ContainsFunc(known, func(n string) bool { return strings.EqualFold(n, owner(bare)) }) {
				c.names++
			}
		}
		last, _ := utf8.DecodeLastRuneInString(word)
		c.within = unicode.IsLower(last) || strings.ContainsRune(`,;:'"’”`, last)
	}
}

func noLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// owner is the name in a genitive.
func owner(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "’s")
}

// marks counts the ends of sentences in a word, and what is written without blanks.
func (c *mannerCount) marks(word string) {
	ending := false
	for i, r := range word {
		if r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			c.asked, ending = false, false
			continue
		}
		question := r == '?' || r == '？'
		// A full stop inside a word, of a number or an address, ends nothing.
		end := question || r == '!' || r == '！' || r == '。' || r == '.' && !letterFollows(word[i+1:])
		switch {
		case end:
			if !ending {
				c.sentences++
			}
			if question && (!ending || !c.asked) {
				c.questions++
			}
			c.asked = question || ending && c.asked
		case classOf(r) == classHan:
			c.asked = false
			c.han++
			if r == '你' || r == '您' {
				c.address += addressOfHan
			}
		case r == '《':
			c.names += titleOfHan
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			c.asked = false
		default: // other marks belong to the sentence
			continue
		}
		ending = end
	}
}

func letterFollows(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
