package reply_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"evoke/extract/llm/internal/reply"
	"evoke/extract/llm/internal/reply/replytest"
	"evoke/store"
)

func sections(r *reply.Result) (good, bad string) {
	var g, b []string
	for _, s := range r.Sections {
		g = append(g, s.Name+" "+strings.Join(s.Turns, ",")+": "+s.Content)
	}
	for _, s := range r.BadSections {
		b = append(b, string(s.Reason)+" "+s.Section.Name)
	}
	return strings.Join(g, "; "), strings.Join(b, "; ")
}

func TestSections(t *testing.T) {
	for _, c := range replytest.Sections() {
		t.Run(c.Name, func(t *testing.T) {
			got := reply.Parse(c.Text, expect)
			good, bad := sections(&got)
			if d := cmp.Diff(c.Sections, good); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.Bad, bad); d != "" {
				t.Error(d)
			}
			if !got.Understood {
				t.Error("not understood")
			}
			if strings.Contains(c.Text, replytest.Tea) != (len(got.Ops) == 1) || len(got.Bad) != 0 {
				t.Errorf("operations: %+v", got)
			}
		})
	}
}

// An answer that ends within the profile keeps its operations and completes no section.
func TestACutProfileIsNotCompleted(t *testing.T) {
	got := reply.Parse(`{"operations":[`+replytest.Tea+`],"profile":{"work":`+replytest.Work+`,"personal":{"should_update":true,"content":"Has a c`, expect)
	if brief(got.Ops) != "add t1" || !got.Truncated || len(got.Sections) != 0 {
		t.Errorf("%+v", got)
	}
	got = reply.Parse(`{"operations":[],"profile":{"work":`+replytest.Work+`,"personal":{"should_update":true,"content":"Has a c`, expect)
	if !got.Truncated || got.Understood {
		t.Errorf("%+v", got)
	}
}

// validSections checks what every kept section promises.
func validSections(t testing.TB, r reply.Result) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range r.Sections {
		known := false
		for _, name := range store.ProfileSections() {
			known = known || name == s.Name
		}
		if !known || seen[s.Name] || s.Content == "" || len(s.Content) > reply.MaxSection || !utf8.ValidString(s.Content) || len(s.Turns) == 0 {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
		for _, id := range s.Turns {
			if !expect.Turns[id] {
				t.Errorf("%+v", s)
			}
		}
	}
}
