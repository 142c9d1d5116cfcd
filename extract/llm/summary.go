package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"evoke/extract"
	"evoke/scoring"
	"evoke/store"
)

// summaryVersion of the prompts for summaries.
const summaryVersion = "1"

// Summarize asks for a text that can stand for items. It returns "" when there is none that can be used: the model refused,
// was cut off, answered with something else than prose, or with what the items do not say (see sources and namesShown). The
// errors are those of Extract.
func (x *Extractor) Summarize(ctx context.Context, sc store.Scope, items []store.Item) (string, error) {
	b := extract.Batch{Scope: sc, Turns: items}
	r := newRun(x, &b)
	r.prose = true
	language := "en"
	if r.chinese {
		language = "zh"
	}
	prompt, err := promptFiles.ReadFile("prompts/summary." + language + ".v" + summaryVersion + ".md")
	if err != nil {
		return "", fmt.Errorf("prompt of summaries: %w", err)
	}
	data := x.composeItems(items)
	if x.opts.CountTokens(string(prompt))+x.opts.CountTokens(data) > x.opts.MaxInputTokens {
		return "", nil
	}
	a, err := r.ask(ctx, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: string(prompt)},
		{Role: openai.ChatMessageRoleUser, Content: data},
	})
	var f *Failure
	switch {
	case errors.As(err, &f) && (f.long || f.filtered):
		return "", nil
	case err != nil:
		return "", err
	}
	text := store.CleanText(a.text)
	if a.cut || a.refused || text == "" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.Contains(text, "```") {
		return "", nil
	}
	said := r.said(nil, nil, x.unitsOf(items, r.room))
	if !said.bears(text) || !said.namesShown(text) {
		return "", nil
	}
	return text, nil
}

// composeItems writes the items as data.
func (x *Extractor) composeItems(items []store.Item) string {
	var b strings.Builder
	b.WriteString("<items>\n")
	for i := range items {
		it := &items[i]
		line(&b, turnLine{Speaker: speakerOf(it), Role: it.Turn.Role, Time: x.stamp(it.ValidFrom), Text: it.Content})
	}
	b.WriteString("</items>")
	return b.String()
}

// namesShown reports whether every name in a text was shown: every word within a sentence that begins with a capital letter.
func (s *sources) namesShown(text string) bool {
	for _, sentence := range scoring.Sentences(text) {
		for i, w := range strings.Fields(sentence) {
			w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first, _ := utf8.DecodeRuneInString(w)
			if i == 0 || !unicode.IsUpper(first) || isMonthOrDay(w) {
				continue
			}
			for _, tok := range scoring.Tokens(w) {
				if !s.words[tok] {
					return false
				}
			}
		}
	}
	return true
}

// isMonthOrDay reports whether a word is what a date is written with: "yesterday" may have become "on Monday, 4 May".
func isMonthOrDay(w string) bool {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(w, m.String()) {
			return true
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(w, d.String()) {
			return true
		}
	}
	return false
}
