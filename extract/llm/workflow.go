package llm

import (
	"fmt"
	"slices"
	"strings"

	"evoke/extract"
	"evoke/extract/llm/internal/reply"
	"evoke/store"
)

// withSteps is the text of a statement: of a way of doing something with what it needs and its steps, so that whoever
// recalls the task has all of it.
//
//	To release the client:
//	Needs: a clean tree; the signing key
//	1. Run the tests
//	2. Tag the commit
func (r *run) withSteps(o *reply.Op) string {
	if o.Kind != store.Procedural || o.Content == "" || len(o.Steps)+len(o.Needs) == 0 {
		return o.Content
	}
	needs, between := "Needs: ", "; "
	if r.chinese {
		needs, between = "前提：", "；"
	}
	var b strings.Builder
	b.WriteString(o.Content)
	if len(o.Needs) > 0 {
		b.WriteString("\n" + needs + strings.Join(o.Needs, between))
	}
	for i, step := range o.Steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, withoutNumber(step))
	}
	return b.String()
}

// withoutNumber takes the number off a step that the model numbered itself.
func withoutNumber(step string) string {
	digits := len(step) - len(strings.TrimLeft(step, "0123456789"))
	rest := step[digits:]
	if digits == 0 || digits > 2 {
		return step
	}
	for _, mark := range [...]string{". ", ") ", "、", "．", "）", ": "} {
		if after, ok := strings.CutPrefix(rest, mark); ok && strings.TrimSpace(after) != "" {
			return strings.TrimSpace(after)
		}
	}
	return step
}

// outcomeOf is how a way of doing something went; nothing else has an outcome.
func outcomeOf(o *reply.Op) extract.Outcome {
	if o.Kind != store.Procedural {
		return ""
	}
	return extract.Outcome(o.Outcome)
}

// bear reports whether an operation can be one of what was shown: its statement, and its steps as a text. about is the known
// item that it names.
func (s *sources) bear(o *reply.Op, about string) bool {
	var b strings.Builder
	for _, step := range slices.Concat(o.Steps, o.Needs) {
		b.WriteString(withoutNumber(step) + "\n")
	}
	steps := b.String()
	return s.allows(o.Content, about) && (steps == "" || s.bears(steps))
}
