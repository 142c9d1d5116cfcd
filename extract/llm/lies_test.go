package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store"
)

var lives = []llmtest.Statement{
	{Quote: "I collect old maps", Content: "The user collects old maps"},
	{Quote: "moved to Oslo", Content: "The user lives in Oslo", Replaces: "lives in", More: []any{"subject", "home"}},
}

// However a model spoils an answer, what is good and grounded in it is kept, and nothing else.
func TestGoodOperationsSurviveEveryWrapping(t *testing.T) {
	for _, w := range llmtest.Wrappings() {
		t.Run(w.Name, func(t *testing.T) {
			x, s := open(t, llmtest.Spoiled(w.Text, lives...), nil)
			rep := run(t, x, batch("user: I collect old maps", "assistant: Lovely.", "user: By the way, I moved to Oslo."))
			if got := contents(rep.Operations); got != "The user collects old maps; The user lives in Oslo" {
				t.Errorf("%q; rejected: %s", got, reasons(rep.Rejected))
			}
			if n := s.Calls(); n > 3*3 || n != rep.Usage.Calls || rep.Usage.PromptTokens != n*llmtest.PromptTokens {
				t.Errorf("%d calls, counted %+v", n, rep.Usage)
			}
		})
	}
}

// A service that fails says nothing about the conversation; when it answers again, all is there.
func TestEveryFailurePasses(t *testing.T) {
	for _, f := range llmtest.Failures() {
		x, s := open(t, f.Reply, func(o *llm.Options) { o.Retries = 1 })
		b := batch("user: I collect old maps")
		_, err := x.Extract(context.Background(), b)
		if away := errors.Is(err, store.ErrUnavailable) || errors.Is(err, extract.ErrService); !away || f.Passes && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", f.Name, err)
		}
		s.Script(llmtest.Sequence(f.Reply, llmtest.Knowing(lives...)))
		if !f.Passes || f.Name == "quota used up" {
			s.Script(llmtest.Knowing(lives...))
		}
		if rep := run(t, x, b); contents(rep.Operations) != "The user collects old maps" {
			t.Errorf("%s: %+v", f.Name, rep)
		}
	}
}

// A service that does not answer costs its time limit, and no more.
func TestASilentServiceCostsItsTimeLimit(t *testing.T) {
	x, s := open(t, llmtest.Sequence(llmtest.Stall(), llmtest.Slow(time.Millisecond, llmtest.Knowing(lives...))), func(o *llm.Options) { o.Timeout = 50 * time.Millisecond })
	rep := run(t, x, batch("user: I collect old maps"))
	if len(rep.Operations) != 1 || s.Calls() != 2 || rep.Usage.Calls != 2 {
		t.Errorf("%d calls: %+v", s.Calls(), rep)
	}
}

// What a speaker says to the model stays what a speaker said.
func TestInjectionsAreData(t *testing.T) {
	for _, text := range llmtest.Injections() {
		x, s := open(t, llmtest.Knowing(lives...), nil)
		b := batch("user: "+text, "user: I collect old maps")
		b.Turns[0].Content = text
		if rep := run(t, x, b); contents(rep.Operations) != "The user collects old maps" {
			t.Errorf("%+v", rep)
		}
		r := s.Requests()[0]
		if got := r.Texts("conversation"); !slices.Equal(got, []string{text, "I collect old maps"}) || strings.Count(r.Messages[1].Content, "</conversation>") != 1 {
			t.Errorf("%q", got)
		}
	}
}
