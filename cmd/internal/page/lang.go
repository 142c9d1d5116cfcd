package page

import (
	"fmt"
	"net/http"
	"time"

	xlanguage "golang.org/x/text/language"
)

// language is one that the page is written in: an index into messages.
type language int

const (
	english language = iota
	chinese
)

var tags = [...]string{english: "en", chinese: "zh"}

func (l language) tag() string { return tags[l] }

// say is a message; names that do not exist are a mistake that a test finds.
func (l language) say(name string, args ...any) string {
	m, ok := messages[name]
	if !ok {
		return name
	}
	if len(args) == 0 {
		return m[l]
	}
	return fmt.Sprintf(m[l], args...)
}

func (l language) has(name string) bool {
	_, ok := messages[name]
	return ok
}

// languageOf is the reader's: what was chosen, else what the browser prefers, else English.
func languageOf(r *http.Request) language {
	if l, ok := named(cookieOf(r, languageCookie)); ok {
		return l
	}
	wanted, _, err := xlanguage.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return english
	}
	for _, w := range wanted { // the most wanted first
		base, _ := w.Base()
		if l, ok := named(base.String()); ok {
			return l
		}
	}
	return english
}

func named(tag string) (language, bool) {
	for l, t := range tags {
		if t == tag {
			return language(l), true
		}
	}
	return english, false
}

// otherLanguage is the address of the same view in the other language.
func otherLanguage(r *http.Request, l language) string {
	path := r.URL.Path
	q := r.URL.Query()
	if r.Method != http.MethodGet {
		path, q = root+"/search", nil // what was posted is not done again
	}
	if q == nil {
		q = map[string][]string{}
	}
	q.Del("done")
	q.Set("lang", tags[1-l])
	return path + "?" + q.Encode()
}

// switchLanguage remembers a chosen language and shows the view in it.
func (p *Page) switchLanguage(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !r.URL.Query().Has("lang") {
		return false
	}
	q := r.URL.Query()
	if l, ok := named(q.Get("lang")); ok {
		setCookie(w, r, languageCookie, l.tag(), 365*24*time.Hour, http.SameSiteLaxMode)
	}
	q.Del("lang")
	target := (r.URL.EscapedPath())
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return true
}
