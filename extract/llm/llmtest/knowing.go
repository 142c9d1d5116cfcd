package llmtest

import (
	"net/http"
	"strings"
)

// Statement is something that a model finds in every turn that holds its quote.
type Statement struct {
	Quote, Content string
	More           []any  // pairs of keys and values of the operation, as for Fact
	Replaces       string // a known item whose content holds this is superseded; "": added
}

// Knowing finds statements in the turns that it is shown, and nothing else.
func Knowing(statements ...Statement) Reply {
	return func(w http.ResponseWriter, r *Request) { Say(w, Answer(Found(r, statements...)...)) }
}

// Spoiled is Knowing whose answer goes through spoil.
func Spoiled(spoil func(ops []string) string, statements ...Statement) Reply {
	return func(w http.ResponseWriter, r *Request) { Say(w, spoil(Found(r, statements...))) }
}

// Found are the operations of statements on what a request shows.
func Found(r *Request, statements ...Statement) []string {
	var ops []string
	for _, l := range r.Block("conversation") {
		for _, s := range statements {
			if strings.Contains(l.Text, s.Quote) {
				ops = append(ops, s.operation(r, l.Turn))
			}
		}
	}
	return ops
}

func (s *Statement) operation(r *Request, turn string) string {
	more := s.More
	if s.Replaces != "" {
		for _, k := range r.Block("known") {
			if strings.Contains(k.Content, s.Replaces) {
				more = append([]any{"action", "supersede", "target", k.ID}, more...)
				break
			}
		}
	}
	return Fact(turn, s.Quote, s.Content, more...)
}
