package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"evoke/store"
)

// Many single messages are handed on in batches, all of them, in order.
func TestLongInputIsHandedOnInBatches(t *testing.T) {
	var b strings.Builder
	const n = 3*inputBatch + 7
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"%d"}`+"\n", i)
	}
	seen, batches := 0, 0
	err := readConversations(iotest.OneByteReader(strings.NewReader(b.String())), func(c conversation) error {
		batches++
		for _, m := range c.Messages {
			if m.Content != fmt.Sprint(seen) {
				t.Fatalf("message %d holds %q", seen, m.Content)
			}
			seen++
		}
		return nil
	})
	if err != nil || seen != n || batches != 4 {
		t.Errorf("%d messages in %d batches: %v", seen, batches, err)
	}
}

func TestAFaultOfTheReaderIsNoFaultOfTheInput(t *testing.T) {
	err := readConversations(iotest.ErrReader(errors.New("disk")), func(conversation) error { return nil })
	if err == nil || errors.Is(err, store.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// Whatever comes in, what is handed on is clean and what is refused says that it is the input's fault.
func FuzzReadConversations(f *testing.F) {
	for _, s := range []string{
		`[{"role":"user","content":"a"}]`, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"session":"s","time":"2026-01-01T00:00:00Z"}`,
		"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":null}\n", "\xef\xbb\xbf[]", "", "[", "null", `{"role":1}`, `{"messages":{}}`,
		`{"messages":[],"time":"yesterday"}`, `{"messages":[],"user":7}`, "[{\"role\":\"user\",\"content\":\"\xff\"}]", `"text"`, `[[]]`, `{"role":"user","content":"\ud800"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := readConversations(strings.NewReader(s), func(c conversation) error {
			for _, m := range c.Messages {
				if !utf8.ValidString(m.Content) || strings.Contains(m.Content, "\x00") {
					t.Errorf("handed on %q", m.Content)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

func TestClipKeepsWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語の文", 6, "日本…"}, {"👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"", 0, ""}} {
		if got := clip(c.s, c.width); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
	if got := visible("a\x1b[31mred\x00\nb"); got != "a [31mred \nb" {
		t.Errorf("%q", got)
	}
}
