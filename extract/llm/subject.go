package llm

import (
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// singles are the subjects with one value at a time. They are those of the rule extractor, so that what one of the two
// found is superseded by the other.
var singles = map[string]bool{
	"name": true, "called": true, "home": true, "origin": true, "employer": true, "workplace": true, "job": true, "studies": true, "age": true, "birthday": true,
}

// families are the subjects that are followed by what they are about; true where that has one value at a time.
var families = map[string]bool{
	"likes": true, "avoids": true, "allergy": true, "diet": true, "favourite": true, "speaks": true, "my": true, "has": false, "goal": false,
}

// subjectOf brings a subject into the form of the rule extractor. One that is about somebody else than the speaker
// says so, and never meets one of the speaker's.
func subjectOf(subject, about string) (key string, exclusive bool) {
	key = strings.ToLower(strings.TrimSpace(subject))
	family, thing, of := strings.Cut(key, ":")
	family = strings.TrimSpace(family)
	if family == "favorite" {
		family = "favourite"
	}
	one, known := families[family]
	switch {
	case singles[key]:
		exclusive = true
	case of && known && keyOf(thing) != "":
		key, exclusive = family+":"+keyOf(thing), one
	default:
		key = keyOf(key)
	}
	if about != "" && key != "" {
		key = "about:" + keyOf(about) + ":" + key
	}
	return key, exclusive && key != ""
}

// keyOf is the form of a value within a subject.
func keyOf(v string) string {
	const most = 80
	k := strings.ReplaceAll(store.FoldText(v), " ", "_")
	for len(k) > most {
		_, n := utf8.DecodeLastRuneInString(k)
		k = k[:len(k)-n]
	}
	return k
}
