package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// mostPrompt bounds a prompt's file; one that is longer leaves no room for a conversation.
const mostPrompt = 64 << 10

// ReadPrompts makes prompts of files, which are named as those of this package are: LANGUAGE.VERSION.md holds
// Prompt.Text and LANGUAGE.VERSION.again.md, which may be absent, Prompt.Again; the language is en or zh. A language
// without a file is nil, which stands for the prompt of this package. An error names the file and its mend.
func ReadPrompts(files map[string][]byte) (english, chinese *Prompt, err error) {
	read := map[string]*Prompt{}
	again := map[string]bool{} // "en.acme-7", which wants a text of the same version
	for _, name := range slices.Sorted(maps.Keys(files)) {
		language, rest, _ := strings.Cut(name, ".")
		version, isText := strings.CutSuffix(rest, ".md")
		version, isAgain := strings.CutSuffix(version, ".again")
		if !isText || language != "en" && language != "zh" || version == "" {
			return nil, nil, store.Invalid(name, "named LANGUAGE.VERSION.md or LANGUAGE.VERSION.again.md, with en or zh for the language (en.acme-1.md); rename or remove the file", "")
		}
		text, err := promptText(name, files[name])
		if err != nil {
			return nil, nil, err
		}
		if isAgain {
			again[language+"."+version] = true
			continue
		}
		p := &Prompt{Version: version, Text: text, Again: string(files[language+"."+version+".again.md"])}
		if err := checkFile(name, p, read[language]); err != nil {
			return nil, nil, err
		}
		read[language] = p
	}
	for key := range again {
		language, version, _ := strings.Cut(key, ".")
		if p := read[language]; p == nil || p.Version != version {
			return nil, nil, store.Invalid(key+".again.md", "beside "+key+".md, which is not there; rename one of them", "")
		}
	}
	return read["en"], read["zh"], nil
}

func promptText(name string, b []byte) (string, error) {
	switch text := string(b); {
	case len(b) > mostPrompt:
		return "", store.Invalid(name, fmt.Sprintf("at most %d bytes; shorten it", mostPrompt), fmt.Sprint(len(b)))
	case !utf8.Valid(b):
		return "", store.Invalid(name, "UTF-8 text; save it in that encoding", "other bytes")
	case strings.TrimSpace(text) == "":
		return "", store.Invalid(name, "a text; fill or remove the file", "an empty file")
	default:
		return text, nil
	}
}

// checkFile refuses a prompt that cannot work: one that does not say where the conversation is, or what to answer with.
func checkFile(name string, p, other *Prompt) error {
	if other != nil {
		language, _, _ := strings.Cut(name, ".")
		return store.Invalid(name, fmt.Sprintf("the only prompt of its language; remove it or %s.%s.md", language, other.Version), "")
	}
	if p.validate() != nil {
		return store.Invalid(name, "of a version of 1 to 32 letters, digits, dots and dashes; rename the file", "")
	}
	for _, needed := range [...]string{"<conversation>", "operations"} {
		if !strings.Contains(p.Text, needed) {
			return store.Invalid(name, "a prompt that says what "+needed+" is (see the prompts that come with Evoke); add it", "one without it")
		}
	}
	return nil
}
