package page

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var saidIn = regexp.MustCompile(`\.T "([a-z_.]+)"`)

// Both languages have every message with the same places for values, and every message that a template names exists.
func TestBothLanguagesHaveEveryMessage(t *testing.T) {
	places := regexp.MustCompile(`%[a-z]`)
	for name, m := range messages {
		for l, text := range m {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: nothing in %s", name, tags[l])
			}
		}
		if en, zh := places.FindAllString(m[english], -1), places.FindAllString(m[chinese], -1); strings.Join(en, " ") != strings.Join(zh, " ") {
			t.Errorf("%s: values %v in English, %v in Chinese", name, en, zh)
		}
		if han := regexp.MustCompile(`\p{Han}`); han.MatchString(m[english]) && !strings.HasPrefix(name, "lang.") || !han.MatchString(m[chinese]) && !strings.HasPrefix(name, "lang.") {
			t.Errorf("%s: a text is in the wrong language: %q, %q", name, m[english], m[chinese])
		}
	}
	err := fs.WalkDir(files, "templates", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		for _, m := range saidIn.FindAllStringSubmatch(string(text), -1) {
			if _, ok := messages[m[1]]; !ok {
				t.Errorf("%s says %s, which is no message", name, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSessionsEnd(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSessions(func() time.Time { return now })
	one := s.begin("key")
	if got, ok := s.find(one.cookie); !ok || got.key != "key" || got.token == "" || got.token == one.cookie {
		t.Fatalf("session %+v, %t", got, ok)
	}
	for _, cookie := range []string{"", "x", one.token, strings.ToUpper(one.cookie)} {
		if _, ok := s.find(cookie); ok {
			t.Errorf("%q opens the session", cookie)
		}
	}
	for now.Before(one.made.Add(livesFor - idleFor)) { // used all the time
		now = now.Add(idleFor - time.Minute)
		if _, ok := s.find(one.cookie); !ok && now.Before(one.made.Add(livesFor)) {
			t.Fatalf("ended after %s", now.Sub(one.made))
		}
	}
	now = one.made.Add(livesFor)
	if _, ok := s.find(one.cookie); ok {
		t.Error("a session lives for ever")
	}
	two := s.begin("key")
	now = now.Add(idleFor)
	if _, ok := s.find(two.cookie); ok {
		t.Error("a session that nobody uses lives on")
	}
	if len(s.open) != 0 {
		t.Errorf("%d sessions are kept that ended", len(s.open))
	}
}

func TestSessionsAreBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSessions(func() time.Time { return now })
	first := s.begin("key")
	now = now.Add(time.Second)
	second := s.begin("key")
	for range maxSessions - 1 {
		now = now.Add(time.Millisecond)
		s.begin("key")
	}
	if len(s.open) != maxSessions {
		t.Errorf("%d sessions", len(s.open))
	}
	if _, ok := s.find(first.cookie); ok {
		t.Error("the session unused longest did not make room")
	}
	if _, ok := s.find(second.cookie); !ok {
		t.Error("another session made room")
	}
}

func TestAttemptsAreBoundedAndForgiven(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	a := newAttempts(func() time.Time { return now })
	for range failuresAllowed {
		if !a.allowed("192.0.2.1") {
			t.Fatal("refused too early")
		}
		a.failed("192.0.2.1")
	}
	if a.allowed("192.0.2.1") || !a.allowed("192.0.2.2") {
		t.Error("the wrong address is refused")
	}
	for i := range 2 * maxAddresses {
		a.failed("host" + strconv.Itoa(i))
	}
	if len(a.by) > maxAddresses {
		t.Errorf("%d addresses are kept", len(a.by))
	}
	a.failed("192.0.2.1")
	now = now.Add(failuresWindow)
	if !a.allowed("192.0.2.1") {
		t.Error("a failure is never forgiven")
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"中文 العربية 👩‍👩‍👧 é": "中文 العربية 👩‍👩‍👧 é",
		"a\u202eb":            "a⟦U+202E⟧b",
		"a\u2066b\u2069":      "a⟦U+2066⟧b⟦U+2069⟧",
		"a\x00\x1b[31m\x7fb":  "a⟦U+0000⟧⟦U+001B⟧[31m⟦U+007F⟧b",
		"tab\tline\nend":      "tab\tline\nend",
		"\u200b\ufeff\u00ad":  "⟦U+200B⟧⟦U+FEFF⟧⟦U+00AD⟧",
		"\U000e0041\u2028end": "⟦U+E0041⟧⟦U+2028⟧end",
	} {
		if got := string(neutral([]byte(text))); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
