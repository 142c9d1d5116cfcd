package llm

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"evoke/store"
)

// Prompt is the instruction to a model.
type Prompt struct {
	// Version names it in the provenance of what it gave; 1–32 letters, digits, dots and dashes.
	Version string
	// Text is the system message: what the blocks <now>, <profile>, <known>, <before> and <conversation> hold, and the
	// operations and sections to answer with. See the files in the folder prompts.
	Text string
	// Again is said after an answer that could not be read. Default: that of the package.
	Again string
}

func (p *Prompt) validate() error {
	bad := strings.ContainsFunc(p.Version, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '-'
	})
	switch {
	case p.Version == "" || len(p.Version) > 32 || bad:
		return store.Invalid("Prompt.Version", "1 to 32 letters, digits, dots and dashes", "")
	case strings.TrimSpace(p.Text) == "":
		return store.Invalid("Prompt.Text", "given", "")
	}
	return nil
}

// room is what a prompt leaves of a call's tokens for its data.
func (o *Options) room(p *Prompt) int {
	const marks = 200 // the blocks' names, the moment
	return o.MaxInputTokens - o.CountTokens(p.Text) - o.CountTokens(p.Again) - marks
}

//go:embed prompts/*.md
var promptFiles embed.FS

//go:embed schema.json
var schemaFile []byte

// schema is a JSON schema as it is.
type schema []byte

// MarshalJSON returns the schema without its blanks.
func (s schema) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, s); err != nil {
		return nil, fmt.Errorf("compact the schema: %w", err)
	}
	return b.Bytes(), nil
}

// version of the prompts that come with this package.
const version = "2"

func ownPrompt(language string) (Prompt, error) {
	p := Prompt{Version: version}
	for _, f := range [...]struct {
		name string
		dst  *string
	}{{language + ".v" + version + ".md", &p.Text}, {language + ".v" + version + ".again.md", &p.Again}} {
		text, err := promptFiles.ReadFile("prompts/" + f.name)
		if err != nil {
			return p, fmt.Errorf("prompt %s: %w", f.name, err)
		}
		*f.dst = string(text)
	}
	return p, nil
}

// isChinese reports whether a conversation is held in Chinese: of its letters, a fifth are Han, and hardly any kana
// beside them.
func isChinese(turns []store.Item) bool {
	han, kana, other := 0, 0, 0
	for i := range turns {
		for _, r := range turns[i].Content {
			switch {
			case unicode.Is(unicode.Han, r):
				han++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case unicode.IsLetter(r):
				other++
			}
		}
	}
	// A Chinese character says about as much as three letters.
	return han > 0 && kana*10 < han && han*3 >= other
}

// line is one JSON object of a block. JSON escapes quotes, newlines and angle brackets: no text can end its block, nor
// hold the marks that chat formats give meaning to.
func line(b *strings.Builder, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return // strings and nothing else: it cannot fail
	}
	b.Write(text)
	b.WriteByte('\n')
}

type turnLine struct {
	Turn    string `json:"turn,omitempty"`
	Part    string `json:"part,omitempty"`
	Speaker string `json:"speaker"`
	Role    string `json:"role,omitempty"`
	Time    string `json:"time,omitempty"`
	Text    string `json:"text"`
}

type knownLine struct {
	ID       string `json:"id"`
	Category string `json:"category,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Speaker  string `json:"speaker,omitempty"`
	Since    string `json:"since,omitempty"`
	Content  string `json:"content"`
}

type sectionLine struct {
	Section string `json:"section"`
	Since   string `json:"since,omitempty"`
	Content string `json:"content"`
}

func (x *Extractor) turnLine(u unit, id string) turnLine {
	l := turnLine{Turn: id, Speaker: speakerOf(u.item), Role: u.item.Turn.Role, Time: x.stamp(u.item.ValidFrom), Text: u.text}
	if u.parts > 1 {
		l.Part = fmt.Sprintf("%d/%d", u.part, u.parts)
	}
	return l
}

func (x *Extractor) knownLine(it *store.Item, id string) knownLine {
	l := knownLine{ID: id, Category: string(it.Category), Subject: it.Provenance.Subject, Speaker: it.Turn.Speaker, Content: it.Content}
	l.Since = x.day(it.ValidFrom)
	return l
}

func (x *Extractor) day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(x.opts.Zone).Format(time.DateOnly)
}

func (x *Extractor) stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(x.opts.Zone).Format("2006-01-02T15:04 Mon")
}

func speakerOf(it *store.Item) string {
	if it.Turn.Speaker != "" {
		return it.Turn.Speaker
	}
	return it.Turn.Role
}

// data is what one call is about.
type data struct {
	profile  *profile
	sections []string // of the profile
	known    []*store.Item
	before   []unit
	units    []unit
}

// compose writes the data of one call.
func (x *Extractor) compose(now time.Time, d data, ids map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<now>%s, %s</now>\n<profile>\n", now.In(x.opts.Zone).Format("2006-01-02T15:04:05Z07:00 Mon"), x.opts.Zone)
	for _, name := range d.sections {
		s := d.profile.sections[name]
		line(&b, sectionLine{name, x.day(s.since), s.content})
	}
	b.WriteString("</profile>\n<known>\n")
	for i, it := range d.known {
		line(&b, x.knownLine(it, fmt.Sprintf("k%d", i+1)))
	}
	b.WriteString("</known>\n<before>\n")
	for _, u := range d.before {
		line(&b, x.turnLine(u, ""))
	}
	b.WriteString("</before>\n<conversation>\n")
	for _, u := range d.units {
		line(&b, x.turnLine(u, ids[u.item.ID]))
	}
	b.WriteString("</conversation>")
	return b.String()
}
