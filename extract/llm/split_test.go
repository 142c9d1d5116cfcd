package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/store"
)

// numbered makes a conversation of n turns of some words each.
func numbered(n, words int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("user: turn %d says%s", i, strings.Repeat(" word", words)))
	}
	return out
}

// echo answers with one operation a turn that it is shown; its quote is the turn's number.
func echo(w http.ResponseWriter, r *request) {
	var ops []string
	for _, l := range r.Block("conversation") {
		if q, _, found := strings.Cut(l.Text, " says"); found {
			ops = append(ops, fact(l.Turn, q, "The user said "+q))
		}
	}
	say(w, answer(ops...))
}

// A long batch is split at the edges of turns, with the turns before for context; every turn is asked about, in order.
func TestLongBatch(t *testing.T) {
	x, s := open(t, echo, func(o *llm.Options) { o.MaxInputTokens, o.Overlap = 7000, 2 })
	b := batch(numbered(90, 100)...)
	b.Before = turns("user: long ago")
	rep := run(t, x, b)
	if len(rep.Operations) != 90 || !slices.IsSortedFunc(rep.Operations, func(a, b extract.Operation) int {
		return len(a.Turn)*1000 + strings.Compare(a.Turn, b.Turn) - len(b.Turn)*1000
	}) {
		t.Errorf("%d operations", len(rep.Operations))
	}
	var all []string
	rs := s.Requests()
	for i, r := range rs {
		conv, before := r.Texts("conversation"), r.Texts("before")
		size := len(r.Messages[0].Content) + len(r.Messages[1].Content)
		switch {
		case size/3 > 7000:
			t.Errorf("call %d takes some %d tokens", i, size/3)
		case i == 0 && !slices.Equal(before, []string{"long ago"}):
			t.Errorf("before: %q", before)
		case i > 0 && !slices.Equal(before, all[max(0, len(all)-len(before)):]), i > 0 && len(before) == 0:
			t.Errorf("before: %q", before)
		}
		all = append(all, conv...)
	}
	var want []string
	for i := range b.Turns {
		want = append(want, b.Turns[i].Content)
	}
	if d := cmp.Diff(want, all); d != "" || len(rs) < 5 || len(rs) > 30 {
		t.Errorf("%d calls: %s", len(rs), d)
	}
}

// An answer cut at the token cap splits the batch; no request is made twice, and nothing of the turns is left out.
func TestCutAnswerSplits(t *testing.T) {
	for name, cut := range map[string]func(w http.ResponseWriter){
		"by the cap":      func(w http.ResponseWriter) { finish(w, answer(fact("t1", "turn", "x"))[:60], "length") },
		"with nothing":    func(w http.ResponseWriter) { finish(w, "", "length") },
		"silently":        func(w http.ResponseWriter) { say(w, answer(fact("t1", "turn", "x"))[:60]) },
		"while fine":      func(w http.ResponseWriter) { finish(w, answer(fact("t1", "turn", "x")), "length") },
		"in its thoughts": func(w http.ResponseWriter) { finish(w, "<think>So the user", "length") },
	} {
		t.Run(name, func(t *testing.T) {
			x, s := open(t, func(w http.ResponseWriter, r *request) {
				if len(r.Block("conversation")) > 2 {
					cut(w)
					return
				}
				echo(w, r)
			}, nil)
			rep := run(t, x, batch(numbered(7, 3)...))
			if len(rep.Operations) != 7 || len(rep.Rejected) != 0 {
				t.Errorf("%d operations, %+v", len(rep.Operations), rep.Rejected)
			}
			seen := map[string]bool{}
			for _, r := range s.Requests() {
				if seen[r.Messages[1].Content] {
					t.Error("the same request twice")
				}
				seen[r.Messages[1].Content] = true
			}
			if st := x.Stats(); st.Calls != 7 || st.Splits != 3 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// One turn is split within itself while that makes sense; of what cannot be made shorter, the whole operations count.
func TestCutAnswerOfOneTurn(t *testing.T) {
	text := strings.Repeat("Here is a sentence of a long story. ", 60) + "I like tea. " + strings.Repeat("And it goes on and on. ", 60)
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		conv := r.Block("conversation")
		if len(conv[0].Text) > 1500 {
			finish(w, `{"operations":[`, "length")
			return
		}
		if strings.Contains(conv[0].Text, "I like tea") {
			say(w, answer(fact("t1", "I like tea", "The user likes tea")))
			return
		}
		say(w, answer())
	}, nil)
	rep := run(t, x, batch("user: "+text))
	if contents(rep.Operations) != "The user likes tea" {
		t.Errorf("%+v", rep)
	}
	var parts strings.Builder
	for _, r := range s.Requests() {
		if conv := r.Block("conversation"); len(conv[0].Text) <= 1500 {
			parts.WriteString(conv[0].Text)
			if conv[0].Part == "" || conv[0].Turn != "t1" {
				t.Errorf("%+v", conv[0])
			}
		}
	}
	if parts.String() != strings.TrimSpace(text)+" " && parts.String() != text {
		t.Error("a part is missing")
	}
	x, s = open(t, func(w http.ResponseWriter, _ *request) {
		finish(w, strings.TrimSuffix(answer(fact("t1", "I like tea", "The user likes tea"), fact("t1", "tea", "The user li")), `"}]}`)[:450], "length")
	}, nil)
	rep = run(t, x, batch("user: I like tea"))
	if contents(rep.Operations) != "The user likes tea" || reasons(rep.Rejected) != "truncated" || len(s.Requests()) != 1 {
		t.Errorf("%d: %+v", len(s.Requests()), rep)
	}
	x, s = open(t, func(w http.ResponseWriter, _ *request) { finish(w, `{"operations":[{"action":"add","con`, "length") }, nil)
	if _, err := x.Extract(context.Background(), batch("user: I like tea")); !errors.Is(err, extract.ErrUnreadable) || len(s.Requests()) != 1 {
		t.Errorf("%v after %d", err, len(s.Requests()))
	}
}

func TestTooLongForTheModel(t *testing.T) {
	for _, code := range []string{"context_length_exceeded", ""} {
		x, s := open(t, func(w http.ResponseWriter, r *request) {
			if len(r.Block("conversation")) > 3 {
				if code == "" {
					fail(w, r, 413, nil)
				} else {
					fail(w, r, 400, map[string]any{"code": code})
				}
				return
			}
			echo(w, r)
		}, nil)
		if rep := run(t, x, batch(numbered(6, 3)...)); len(rep.Operations) != 6 || len(s.Requests()) != 3 || x.Format() != llm.Schema {
			t.Errorf("%d operations after %d calls", len(rep.Operations), len(s.Requests()))
		}
	}
}

// A turn that the service will not read is set aside alone.
func TestRefusedTurn(t *testing.T) {
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		if slices.ContainsFunc(r.Texts("conversation"), func(t string) bool { return strings.HasPrefix(t, "turn 5 ") }) {
			finish(w, "", "content_filter")
			return
		}
		echo(w, r)
	}, nil)
	rep := run(t, x, batch(numbered(8, 3)...))
	if len(rep.Operations) != 7 || reasons(rep.Rejected) != "refused" || rep.Rejected[0].Operation.Turn != "turn-5" || len(s.Requests()) != 7 {
		t.Errorf("%d calls: %d %+v", len(s.Requests()), len(rep.Operations), rep.Rejected)
	}
}

// Of more known items than a call holds, it is shown those that the turns may confirm or contradict.
func TestKnownItems(t *testing.T) {
	var known []store.Item
	for i := range 300 {
		known = append(known, store.Item{ID: fmt.Sprint("id", i), Content: fmt.Sprintf("The user once read book number %d about zebras", i)})
	}
	known[150].Content = "The user hates mushrooms"
	known[200].Content, known[200].Provenance.Subject = "The user lives in Bergen", "home"
	for _, change := range []func(o *llm.Options){func(o *llm.Options) { o.MaxKnown = 5 }, func(o *llm.Options) { o.MaxInputTokens, o.MaxKnown = 5000, 500 }} {
		x, s := open(t, func(w http.ResponseWriter, r *request) {
			for _, k := range r.Block("known") {
				if k.Content == known[150].Content {
					say(w, answer(fact("t1", "mushrooms", "", "action", "retract", "target", k.ID)))
					return
				}
			}
			say(w, answer())
		}, change)
		b := batch("user: These days I love mushrooms, and I moved to Oslo")
		b.Known = known
		rep := run(t, x, b)
		if len(rep.Operations) != 1 || rep.Operations[0].Target != "id150" || rep.Operations[0].Action != extract.Retract {
			t.Errorf("%+v", rep)
		}
		shown := s.Requests()[0].Block("known")
		if len(shown) > 30 || len(shown) < 5 || !slices.ContainsFunc(shown, func(l line) bool { return l.Subject == "home" }) {
			t.Errorf("%d shown", len(shown))
		}
	}
	x, s := open(t, always(answer()), func(o *llm.Options) { o.MaxKnown = -1 })
	b := batch("user: hi")
	b.Known = known
	run(t, x, b)
	if n := len(s.Requests()[0].Block("known")); n != 0 {
		t.Error(n)
	}
}
