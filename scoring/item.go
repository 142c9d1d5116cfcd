package scoring

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	d.Head = countTokens(emit(segment(clip(said, HeadRunes)), lang))
	chunks, rest := splitChunks(said)
	if len(chunks) == 1 && rest == "" {
		d.Chunks = [][]TermFreq{countTokens(emit(words, lang))}
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
		}
	}
	return sum
}

// docFormat is the version of the encoding; the analyzer's version follows it.
const docFormat = 1

// Errors of [UnmarshalDoc].
var (
	// ErrDocVersion: written by another format or analyzer; analyse the text anew.
	ErrDocVersion = errors.New("scoring: analysed item of another version")
	// ErrDocCorrupt: the bytes are not an analysed item; analyse the text anew.
	ErrDocCorrupt = errors.New("scoring: corrupt analysed item")
)

// MarshalBinary encodes d: about five bytes a term. It never fails on a Doc made by NewDoc; unsorted or repeated terms
// and more than MaxChunks chunks are refused.
func (d Doc) MarshalBinary() ([]byte, error) {
	if len(d.Chunks) > MaxChunks {
		return nil, fmt.Errorf("scoring: %d chunks in an analysed item; the limit is %d", len(d.Chunks), MaxChunks)
	}
	n := len(d.Date) + len(d.Head)
	for _, c := range d.Chunks {
		n += len(c)
	}
	out := make([]byte, 0, 40+6*n+6*len(d.Ranges))
	out = append(out, docFormat, AnalyzerVersion)
	var flags byte
	if d.Timed {
		flags = 1
	}
	out = append(out, flags)
	out = binary.AppendUvarint(out, uint64(max(d.Words, 0)))
	out = binary.LittleEndian.AppendUint64(out, d.Print)
	out = binary.LittleEndian.AppendUint32(out, d.Guard)
	out = binary.AppendUvarint(out, uint64(len(d.Ranges)))
	for _, r := range d.Ranges {
		out = binary.AppendVarint(out, int64(r.From))
		out = binary.AppendVarint(out, int64(r.To))
	}
	out = binary.AppendUvarint(out, uint64(len(d.Chunks)))
	for _, fs := range append([][]TermFreq{d.Date, d.Head}, d.Chunks...) {
		for i := 1; i < len(fs); i++ {
			if fs[i].Term <= fs[i-1].Term {
				return nil, errors.New("scoring: terms of an analysed item must be sorted and unique")
			}
		}
		out = binary.AppendUvarint(out, uint64(len(fs)))
		for _, f := range fs {
			out = binary.LittleEndian.AppendUint32(out, uint32(f.Term))
		}
		for _, f := range fs {
			out = binary.AppendUvarint(out, uint64(f.N))
		}
	}
	return out, nil
}

// UnmarshalDoc decodes what [Doc.MarshalBinary] wrote. It returns [ErrDocVersion] for another version and
// [ErrDocCorrupt] for anything else it cannot read; memory stays proportional to the input.
func UnmarshalDoc(data []byte) (Doc, error) {
	if len(data) < 2 {
		return Doc{}, ErrDocCorrupt
	}
	if data[0] != docFormat || data[1] != AnalyzerVersion {
		return Doc{}, ErrDocVersion
	}
	r := reader{data: data[2:]}
	flags := r.bytes(1)
	words := r.uvarint(1 << 31)
	print, grd := r.bytes(8), r.bytes(4)
	if r.bad || flags[0] > 1 {
		return Doc{}, ErrDocCorrupt
	}
	d := Doc{
		Timed: flags[0] == 1,
		Words: int(words),
		Print: binary.LittleEndian.Uint64(print),
		Guard: binary.LittleEndian.Uint32(grd),
	}
	for range r.uvarint(maxRanges) {
		from, to := r.day(), r.day()
		if r.bad || from > to {
			return Doc{}, ErrDocCorrupt
		}
		d.Ranges = append(d.Ranges, DateRange{from, to})
	}
	chunks := r.uvarint(MaxChunks)
	d.Date, d.Head = r.freqs(), r.freqs()
	for range chunks {
		d.Chunks = append(d.Chunks, r.freqs())
	}
	if r.bad || len(r.data) != 0 {
		return Doc{}, ErrDocCorrupt
	}
	return d, nil
}

// reader consumes bytes and remembers a fault; after one it returns zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || len(r.data) < n {
		r.bad = true
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// uvarint reads a number up to limit.
func (r *reader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.data)
	if r.bad || n <= 0 || v > limit {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) day() Day {
	v, n := binary.Varint(r.data)
	if r.bad || n <= 0 || v < int64(minDay) || v > int64(maxDay) {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return Day(v)
}

// freqs reads a list of terms: sorted, unique, each occurring at least once.
func (r *reader) freqs() []TermFreq {
	n := r.uvarint(uint64(len(r.data) / 5))
	if r.bad || n == 0 {
		return nil
	}
	terms := r.bytes(int(n) * 4)
	if r.bad {
		return nil
	}
	fs := make([]TermFreq, n)
	for i := range fs {
		fs[i].Term = Term(binary.LittleEndian.Uint32(terms[i*4:]))
		if i > 0 && fs[i].Term <= fs[i-1].Term {
			r.bad = true
			return nil
		}
	}
	for i := range fs {
		v := r.uvarint(65535)
		if v == 0 {
			r.bad = true
			return nil
		}
		fs[i].N = uint16(v)
	}
	return fs
}
