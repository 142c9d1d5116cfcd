package scoring

import "strings"

// Sentences are the sentences and lines of a text, each a part of it without surrounding blanks, in order. They are cut
// where [Chunks] cuts: behind a full stop with a blank after it, behind the marks that end a sentence in Chinese, and at
// the ends of lines.
func Sentences(text string) []string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var out []string
	for len(text) > 0 {
		end := sentenceEnd(text)
		if s := strings.TrimSpace(text[:end]); s != "" {
			out = append(out, s)
		}
		text = text[end:]
	}
	return out
}
