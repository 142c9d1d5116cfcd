// Package wordpiece splits text as BERT models do, token for token as the
// Hugging Face tokenizer: clean, lower-case, strip accents, cut at spaces,
// punctuation and Han characters, then take the longest known piece from the
// left.
//
// One thing differs on purpose: names of special tokens in a text, such as
// "[SEP]", are text like any other, for texts come from strangers.
package wordpiece

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokenizer splits texts. It is safe for concurrent use.
type Tokenizer struct {
	initial           map[string]int32 // pieces that begin a word
	inner             map[string]int32 // pieces that continue one, without their prefix
	pieces            map[int32]string
	size              int
	begin, end, unk   int32
	maxChars          int
	clean, han        bool
	lower, stripMarks bool
}

// file is the part of a tokenizer.json that matters.
type file struct {
	Normalizer struct {
		Type  string `json:"type"`
		Clean *bool  `json:"clean_text"`
		Han   *bool  `json:"handle_chinese_chars"`
		Strip *bool  `json:"strip_accents"`
		Lower *bool  `json:"lowercase"`
	} `json:"normalizer"`
	Model struct {
		Type     string           `json:"type"`
		Unknown  string           `json:"unk_token"`
		Prefix   *string          `json:"continuing_subword_prefix"`
		MaxChars int              `json:"max_input_chars_per_word"`
		Vocab    map[string]int32 `json:"vocab"`
	} `json:"model"`
}

// maxVocabulary bounds the ids that a file may name.
const maxVocabulary = 1 << 22

// Parse reads a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("tokenizer file: %w", err)
	}
	// Old files leave the model's type out.
	if f.Model.Type != "" && f.Model.Type != "WordPiece" || f.Normalizer.Type != "BertNormalizer" {
		return nil, fmt.Errorf("tokenizer file: model %q with normalizer %q is not a BERT tokenizer", f.Model.Type, f.Normalizer.Type)
	}
	orTrue := func(b *bool) bool { return b == nil || *b }
	t := &Tokenizer{
		initial: make(map[string]int32), inner: make(map[string]int32), pieces: make(map[int32]string),
		maxChars: f.Model.MaxChars, clean: orTrue(f.Normalizer.Clean), han: orTrue(f.Normalizer.Han), lower: orTrue(f.Normalizer.Lower),
	}
	t.stripMarks = t.lower
	if f.Normalizer.Strip != nil {
		t.stripMarks = *f.Normalizer.Strip
	}
	if t.maxChars <= 0 {
		t.maxChars = 100
	}
	prefix := "##"
	if f.Model.Prefix != nil {
		prefix = *f.Model.Prefix
	}
	for p, id := range f.Model.Vocab {
		if id < 0 || id >= maxVocabulary {
			return nil, fmt.Errorf("tokenizer file: id %d of a piece is out of range", id)
		}
		t.size = max(t.size, int(id)+1)
		t.pieces[id] = p
		if len(p) > len(prefix) && p[:len(prefix)] == prefix {
			t.inner[p[len(prefix):]] = id
		}
		// A piece that looks like a continuation can begin a word too: the
		// vocabulary is one.
		t.initial[p] = id
	}
	unknown := f.Model.Unknown
	if unknown == "" {
		unknown = "[UNK]"
	}
	var ok [3]bool
	t.begin, ok[0] = f.Model.Vocab["[CLS]"]
	t.end, ok[1] = f.Model.Vocab["[SEP]"]
	t.unk, ok[2] = f.Model.Vocab[unknown]
	if ok != [3]bool{true, true, true} {
		return nil, errors.New("tokenizer file: the vocabulary lacks [CLS], [SEP] or the unknown token")
	}
	return t, nil
}

// Size is one more than the greatest id.
func (t *Tokenizer) Size() int { return t.size }

// Piece is the text of an id, empty if there is no such id.
func (t *Tokenizer) Piece(id int32) string { return t.pieces[id] }

// Encode returns the ids of a text between [CLS] and [SEP], at most limit in
// all (limit ≥ 2). The text must be valid UTF-8.
func (t *Tokenizer) Encode(text string, limit int) []int32 {
	s := splitter{t: t, limit: limit, out: append(make([]int32, 0, min(limit, len(text)+2)), t.begin)}
	if t.stripMarks {
		var it norm.Iter
		it.InitString(norm.NFD, text)
		for !it.Done() && !s.full() {
			for b := it.Next(); len(b) > 0; {
				r, n := utf8.DecodeRune(b)
				s.put(r)
				b = b[n:]
			}
		}
	} else {
		for _, r := range text {
			if s.put(r); s.full() {
				break
			}
		}
	}
	s.flush()
	return append(s.out[:min(len(s.out), limit-1)], t.end)
}

// splitter collects the characters of one word and emits its pieces.
type splitter struct {
	t     *Tokenizer
	limit int
	out   []int32
	word  []byte
	chars int
}

func (s *splitter) full() bool { return len(s.out) >= s.limit-1 }

// put takes the next character of the decomposed text.
func (s *splitter) put(r rune) {
	t := s.t
	if t.clean && dropped(r) {
		return
	}
	if unicode.IsSpace(r) {
		s.flush()
		return
	}
	if t.stripMarks && unicode.Is(unicode.Mn, r) && !unicode.Is(later, r) {
		return
	}
	alone := t.han && isHan(r)
	if t.lower {
		r = unicode.ToLower(r)
	}
	if alone || isPunct(r) {
		s.flush()
		s.add(r)
		s.flush()
		return
	}
	s.add(r)
}

func (s *splitter) add(r rune) {
	s.chars++
	if s.chars <= s.t.maxChars {
		s.word = utf8.AppendRune(s.word, r)
	}
}

// flush emits the pieces of the word.
func (s *splitter) flush() {
	word, chars, start := s.word, s.chars, len(s.out)
	s.word, s.chars = word[:0], 0
	if chars > s.t.maxChars {
		s.out = append(s.out, s.t.unk)
		return
	}
	known := s.t.initial
	for len(word) > 0 {
		end := len(word)
		id, ok := known[string(word)]
		for !ok && end > 0 {
			_, n := utf8.DecodeLastRune(word[:end])
			end -= n
			id, ok = known[string(word[:end])]
		}
		if end == 0 {
			s.out = append(s.out[:start], s.t.unk)
			return
		}
		s.out = append(s.out, id)
		word, known = word[end:], s.t.inner
	}
}

// dropped tells the characters that cleaning removes: NUL, the replacement
// character and control characters other than white space.
func dropped(r rune) bool {
	switch r {
	case 0, utf8.RuneError:
		return true
	case '\t', '\n', '\r':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !unicode.Is(later, r)
}

// isHan tells the ideographs that BERT sets apart. The gap at the start of the
// extension E range is the reference implementation's.
func isHan(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// isPunct tells punctuation; in ASCII every symbol counts.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r) && !unicode.Is(later, r)
}
