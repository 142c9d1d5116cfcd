package scoring

import (
	"strings"
	"unicode"
)

// Limits of the chunker. Words of Chinese and Japanese are counted as 1.7 characters each, so 100 words are 170 characters.
const (
	MaxChunks      = 40   // chunks of one text at most
	MaxChunkRunes  = 1200 // characters of one chunk at most
	chunkWords     = 100  // a chunk is filled up to this many words
	chunkTolerance = 1.3  // a text or a sentence up to this many times longer stays whole
	denseWord      = 1.7  // characters of a Chinese or Japanese word
	spacelessWord  = 4.0  // characters of a word in Thai, Lao, Khmer or Burmese
)

// Chunks splits a text for retrieval. A text of at most 130 words and 1200 characters is one chunk; a longer one is cut
// at sentence ends and lines into chunks of at most 100 words (a sentence of up to 130 stays whole) and 1200 characters.
// It returns at least one chunk and at most 40: what follows the fortieth is not returned (see [NewDoc], which keeps
// its terms). Chunks are parts of the text without surrounding blanks; invalid UTF-8 is replaced first, and no cut falls
// inside a character or between a letter and its combining marks.
func Chunks(text string) []string {
	chunks, _ := splitChunks(text)
	return chunks
}

// splitChunks returns the chunks and what lies beyond their cap.
func splitChunks(text string) (chunks []string, rest string) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if fits(text, chunkWords*chunkTolerance) {
		return []string{text}, ""
	}
	p := packer{text: text}
	for pos := 0; pos < len(text) && len(p.out) < MaxChunks; {
		end := pos + sentenceEnd(text[pos:])
		p.addSentence(pos, end)
		pos = end
	}
	p.flush()
	if len(p.out) > MaxChunks {
		p.out, p.ends = p.out[:MaxChunks], p.ends[:MaxChunks]
	}
	if len(p.out) == 0 {
		return []string{""}, ""
	}
	return p.out, strings.TrimSpace(text[p.ends[len(p.ends)-1]:])
}

// packer fills chunks with whole sentences.
type packer struct {
	text       string
	out        []string
	ends       []int // where each chunk ends in text
	start, end int   // the chunk being filled
	size       size
}

func (p *packer) flush() {
	if c := strings.TrimSpace(p.text[p.start:p.end]); c != "" {
		p.out = append(p.out, c)
		p.ends = append(p.ends, p.end)
	}
	p.start, p.size = p.end, size{}
}

func (p *packer) addSentence(from, to int) {
	for from < to && len(p.out) < MaxChunks {
		end := to
		if !fits(p.text[from:to], chunkWords*chunkTolerance) {
			p.flush()
			p.start, p.end = from, from
			end = from + hardCut(p.text[from:to])
		}
		s := measure(p.text[from:end])
		if p.size.words+s.words > chunkWords || p.size.runes+s.runes > MaxChunkRunes {
			p.flush()
			p.start = from
		}
		p.end = end
		p.size.words += s.words
		p.size.runes += s.runes
		from = end
	}
}

// size is the length of a text in words and characters.
type size struct {
	words float64
	runes int
}

// WordCount is the length of text in words: blank-separated words, and characters / 1.7 for Chinese and Japanese
// (characters / 4 for Thai, Lao, Khmer and Burmese), where no blanks separate them.
func WordCount(text string) int {
	return int(measure(text).words + 0.5)
}

func measure(text string) size {
	var m meter
	for _, r := range text {
		m.add(r)
	}
	return m.size()
}

// fits reports whether s has at most that many words and the characters of one chunk; it reads no further than it must.
func fits(s string, words float64) bool {
	var m meter
	for _, r := range s {
		m.add(r)
		if sz := m.size(); sz.runes > MaxChunkRunes || sz.words > words {
			return false
		}
	}
	return true
}

// meter counts words as characters go by.
type meter struct {
	plain, dense, spaceless, runes int
	inWord                         bool
}

func (m *meter) add(r rune) {
	m.runes++
	switch {
	case unicode.IsSpace(r):
		m.inWord = false
	case dense(r):
		m.dense++
		m.inWord = false
	case spaceless(r):
		m.spaceless++
		m.inWord = false
	case !m.inWord:
		m.plain++
		m.inWord = true
	}
}

func (m *meter) size() size {
	return size{float64(m.plain) + float64(m.dense)/denseWord + float64(m.spaceless)/spacelessWord, m.runes}
}

// sentenceEnd is the length of the first sentence or line of s, with the blanks that follow it.
func sentenceEnd(s string) int {
	var prev rune
	for i, r := range s {
		if i > 0 && breakAfter(prev, r) {
			for j, q := range s[i:] {
				if !unicode.IsSpace(q) {
					return i + j
				}
			}
			return len(s)
		}
		prev = r
	}
	return len(s)
}

func breakAfter(prev, next rune) bool {
	switch prev {
	case '\n':
		return true
	case '.', '!', '?', '…', '।', '؟', '۔':
		return unicode.IsSpace(next)
	case '。', '！', '？', '；':
		return next != '”' && next != '」' && next != '』' && next != '。' && next != '！' && next != '？' && !unicode.Is(unicode.M, next)
	case '”', '」', '』':
		return unicode.IsSpace(next)
	}
	return false
}

// hardCut is the length of the longest beginning of s within the limits of a chunk, cut behind a word where there is
// one, never inside a character or before a combining mark. It is positive and at most len(s).
func hardCut(s string) int {
	var m meter
	lastBreak, lastWhole := 0, 0
	var prev rune
	for i, r := range s {
		if i > 0 {
			if !joinsPrevious(prev, r) {
				lastWhole = i
			}
			if unicode.IsSpace(prev) || dense(prev) && lastWhole == i {
				lastBreak = i
			}
		}
		m.add(r)
		if sz := m.size(); sz.runes > MaxChunkRunes || sz.words > chunkWords {
			break
		}
		prev = r
	}
	switch {
	case lastBreak > 0:
		return lastBreak
	case lastWhole > 0:
		return lastWhole
	}
	// One base with more marks than a chunk holds.
	return len(firstRunes(s, MaxChunkRunes))
}

// joinsPrevious reports whether no cut may fall between prev and r.
func joinsPrevious(prev, r rune) bool {
	return unicode.Is(unicode.M, r) || r == 0x200D || prev == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF
}

// clip is text cut at n characters, between whole characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut, runes := len(text), 0
	whole := 0
	var prev rune
	for i, r := range text {
		if i > 0 && !joinsPrevious(prev, r) {
			whole = i
		}
		if runes == n {
			cut = i
			break
		}
		runes++
		prev = r
	}
	if cut == len(text) {
		return text
	}
	if whole > 0 {
		cut = whole
	}
	return text[:cut]
}
