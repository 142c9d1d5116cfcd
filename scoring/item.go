package scoring

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"
	"unicode"
)

// HeadRunes is how many characters of a turn its followers see of it as context.
const HeadRunes = 400

// Doc is an item as the lexical arm sees it, analysed once when the item is stored. The zero Doc scores 0.
type Doc struct {
	Date   []TermFreq   // the item's date as text; it belongs to every view of the item itself
	Head   []TermFreq   // the first 400 characters of "speaker: text": what a following turn sees of this one
	Chunks [][]TermFreq // "speaker: text" chunk by chunk; one or more for an analysed item
	Words  int          // length of the text in words, see [WordCount]

	Timed  bool        // the text has an expression of time, see [HasTimeExpression]
	Ranges []DateRange // the days the text speaks of, see [ResolveDates]

	Print uint64 // hash of the normalised "speaker: text": equal prints are equal texts
	Guard uint32 // hash of the numbers and negations of the text: items that differ in it are no duplicates
}

// NewDoc analyses an item. at is when it was said, in the zone whose calendar date counts; the zero time means undated.
// Terms beyond the fortieth chunk are added to the last chunk, so the whole text can be found. It never fails: invalid
// UTF-8 is replaced.
func NewDoc(speaker, text string, at time.Time) Doc {
	said := attribute(speaker, text)
	words := segment(said)
	lang := vote(words)
	d := Doc{
		Words:  WordCount(text),
		Timed:  HasTimeExpression(text),
		Ranges: ResolveDates(text, at),
		Print:  fingerprint(said),
		Guard:  guard(words),
	}
	if date := DateText(at, said); date != "" {
		d.Date = Terms(date)
	}
	head := clip(said, HeadRunes)
	chunks, rest := splitChunks(said)
	if len(chunks) == 1 && rest == "" {
		d.Chunks = [][]TermFreq{countTokens(emit(words, lang))}
		if len(head) == len(said) {
			d.Head = d.Chunks[0]
			return d
		}
	}
	d.Head = countTokens(emit(segment(head), lang))
	if len(d.Chunks) == 1 {
		return d
	}
	for _, c := range chunks {
		d.Chunks = append(d.Chunks, countTokens(emit(segment(c), lang)))
	}
	if rest != "" {
		last := &d.Chunks[len(d.Chunks)-1]
		*last = mergeFreqs(append(*last, countTokens(emit(segment(rest), lang))...))
	}
	return d
}

// Terms is the union of the item's own terms, date included, frequencies added up: what document frequencies and an
// own-text index count.
func (d Doc) Terms() []TermFreq {
	n := len(d.Date)
	for _, c := range d.Chunks {
		n += len(c)
	}
	all := make([]TermFreq, 0, n)
	all = append(all, d.Date...)
	for _, c := range d.Chunks {
		all = append(all, c...)
	}
	return mergeFreqs(all)
}

// attribute is "speaker: text", or the text alone.
func attribute(speaker, text string) string {
	if speaker = strings.TrimSpace(speaker); speaker == "" {
		return text
	}
	return speaker + ": " + text
}

// fingerprint hashes a text, whatever its case, width, blanks and punctuation; a text of nothing else is hashed as it
// stands.
func fingerprint(s string) uint64 {
	h := fnv.New64a()
	space, any := true, false
	for _, r := range fold(s) {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space && any {
			h.Write([]byte{' '})
		}
		space, any = false, true
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], uint32(r))
		h.Write(b[:])
	}
	if !any {
		h.Write([]byte(s))
	}
	return h.Sum64()
}

// negations turn the meaning of a text over, and are stop words to the analyzer.
var negations = set(`not no never none nor cannot t nicht kein keine ne pas jamais non nunca nao niet geen inte ikke не нет لا لم لن לא
	without stopped quit longer anymore`)

// guard is an order-independent hash of numbers and negations.
func guard(words []run) uint32 {
	var sum uint32
	for _, w := range words {
		switch w.class {
		case classWord:
			if c := w.text[0]; c >= '0' && c <= '9' {
				sum += uint32(HashTerm(number(w.text)))
			} else if negations.has(w.text) {
				sum += 0x9E3779B9
			}
		case classHan, classHiragana:
			for _, neg := range [...]string{"不", "没", "沒", "无", "非", "ない", "ません", "なかった"} {
				sum += uint32(strings.Count(w.text, neg)) * 0x9E3779B9
			}
		case classHangul:
			sum += uint32(strings.Count(w.text, "않")+strings.Count(w.text, "안")) * 0x9E3779B9
		default: // holds no negation
		}
	}
	return sum
}
