package rules

import (
	"regexp"
	"strings"

	"evoke/extract"
	"evoke/store"
)

// Subject returns the exclusive subject of a statement that stands for itself, in the first or the third person: "home"
// for "I live in Oslo" and "用户住在奥斯陆". It is "" unless the rules find one statement in it, which says the same as the
// whole, and one value at a time holds of its subject.
func Subject(statement, speaker string) string {
	if len(statement) > longest {
		return ""
	}
	for _, text := range [...]string{statement, firstPerson(statement)} {
		turn := store.Item{ID: "statement", Content: text, Turn: store.Turn{Role: "user", Speaker: speaker}}
		ops := turnOps(&turn, nil)
		if len(ops) != 1 || ops[0].Action != extract.Add || !ops[0].Exclusive || ops[0].Category == store.Correction {
			continue
		}
		said := extract.NewForm(extract.Statement{Kind: ops[0].Kind, Content: statement, Speaker: speaker})
		found := extract.NewForm(extract.Statement{Kind: ops[0].Kind, Content: ops[0].Content, Speaker: speaker})
		if said.Same(&found) != extract.Different {
			return ops[0].Subject
		}
	}
	return ""
}

var (
	userPossessive = regexp.MustCompile(`(?i)^the user['’]s\b`)
	userVerb       = regexp.MustCompile(`(?i)^the user (\w+)`)
)

// firstPerson puts the beginning of a statement about the user into the words of the user.
func firstPerson(s string) string {
	switch {
	case strings.HasPrefix(s, chinese.user):
		return "我" + strings.TrimPrefix(s, chinese.user)
	case userPossessive.MatchString(s):
		return userPossessive.ReplaceAllLiteralString(s, "My")
	}
	return userVerb.ReplaceAllStringFunc(s, func(m string) string {
		switch verb := m[len("the user "):]; verb {
		case "is":
			return "I am"
		case "has":
			return "I have"
		case "does":
			return "I do"
		default:
			return "I " + strings.TrimSuffix(verb, "s")
		}
	})
}
