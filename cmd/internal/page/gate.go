package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"evoke/store"
)

// errNotGranted is shown to a key of too small a role.
var errNotGranted = &refusal{http.StatusForbidden, "role"}

// refusal is an error that the page itself has to tell of; its class is one of the messages "problem.…".
type refusal struct {
	status int
	class  string
}

func (e *refusal) Error() string { return e.class }

func (e *refusal) Is(target error) bool {
	return target == store.ErrTenant && e.status == http.StatusForbidden
}

func sameToken(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// loginToken ties the log-in's form to the browser that it was sent to, before there is a session.
func (p *Page) loginToken(visitor string) string {
	mac := hmac.New(sha256.New, []byte(p.secret))
	mac.Write([]byte(visitor))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// toLogin sends the browser to the log-in, and back afterwards.
func (p *Page) toLogin(w http.ResponseWriter, r *http.Request) {
	q := url.Values{}
	if r.Method == http.MethodGet && r.URL.Path != root && r.URL.Path != root+"/" {
		q.Set("next", r.URL.RequestURI())
	}
	http.Redirect(w, r, at("login", q), http.StatusSeeOther)
}

// localPath is a path of the page to go to after a log-in, and the start where it is anything else.
func localPath(next string) string {
	if u, err := url.Parse(next); err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path.Clean(u.Path), root+"/") || strings.ContainsAny(next, "\\\r\n") {
		return root + "/"
	}
	return next
}

type loginPage struct {
	*frame
	Next  string
	Wrong string // name of a message
}

func (p *Page) loginForm(w http.ResponseWriter, r *http.Request) {
	p.showLogin(w, r, http.StatusOK, "")
}

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	if p.o.Keyless() {
		http.Redirect(w, r, root+"/", http.StatusSeeOther)
		return
	}
	visitor := cookieOf(r, visitorCookie)
	if visitor == "" {
		visitor = random()
		setCookie(w, r, visitorCookie, visitor, livesFor, http.SameSiteLaxMode)
	}
	f := p.frame(r, languageOf(r), "login.title")
	f.Token = p.loginToken(visitor)
	if err := p.write(w, status, "login", loginPage{f, r.Form.Get("next"), wrong}); err != nil {
		p.broken(w, r, err)
	}
}

// login exchanges a key for a session.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	address := addressOf(r)
	if !p.attempts.allowed(address) {
		w.Header().Set("Retry-After", strconv.Itoa(int(failuresWindow.Seconds())))
		p.showLogin(w, r, http.StatusTooManyRequests, "login.toomany")
		return
	}
	visitor := cookieOf(r, visitorCookie)
	if visitor == "" || !sameToken(r.PostForm.Get("token"), p.loginToken(visitor)) {
		p.showLogin(w, r, http.StatusForbidden, "login.stale")
		return
	}
	key := strings.TrimSpace(r.PostForm.Get("key"))
	if key == "" {
		p.showLogin(w, r, http.StatusUnauthorized, "login.wrong")
		return
	}
	if _, err := p.o.Enter(r, key); err != nil {
		p.attempts.failed(address)
		p.showLogin(w, r, http.StatusUnauthorized, "login.wrong")
		return
	}
	p.sessions.end(cookieOf(r, sessionCookie))
	s := p.sessions.begin(key)
	setCookie(w, r, sessionCookie, s.cookie, livesFor, http.SameSiteStrictMode)
	http.Redirect(w, r, localPath(r.PostForm.Get("next")), http.StatusSeeOther)
}

// logout ends the session.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) {
	cookie := cookieOf(r, sessionCookie)
	if s, ok := p.sessions.find(cookie); ok {
		if !sameToken(r.PostForm.Get("token"), s.token) {
			p.refuse(w, r, http.StatusForbidden, "token")
			return
		}
		p.sessions.end(cookie)
	}
	setCookie(w, r, sessionCookie, "", -1, http.SameSiteStrictMode)
	http.Redirect(w, r, root+"/login", http.StatusSeeOther)
}

type problemPage struct {
	*frame
	Status int
	Class  string
	Detail string // in English, about what was asked; may be ""
}

// fail shows an error to somebody who is let in.
func (v *visit) fail(err error) {
	f := v.frame("problem.title")
	show := problemPage{frame: f}
	if own, ok := err.(*refusal); ok { //nolint:errorlint // our own are never wrapped
		show.Status, show.Class = own.status, own.class
	} else {
		show.Status, show.Class, show.Detail = v.page.o.Problem(err)
	}
	if show.Status >= http.StatusInternalServerError {
		v.page.o.Logger.ErrorContext(v.ctx(), "page", "problem", show.Class, "error", err.Error())
	}
	if !f.lang.has("problem." + show.Class) {
		show.Class = "internal"
	}
	if err := v.show(show.Status, "problem", show); err != nil {
		v.page.broken(v.w, v.r, err)
	}
}

// refuse shows an error to somebody who is not let in.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, status int, class string) {
	f := p.frame(r, languageOf(r), "problem.title")
	if !f.lang.has("problem." + class) {
		class = "internal"
	}
	if err := p.write(w, status, "problem", problemPage{frame: f, Status: status, Class: class}); err != nil {
		p.broken(w, r, err)
	}
}

// broken is the answer when a view cannot even be rendered, which is a mistake of ours.
func (p *Page) broken(w http.ResponseWriter, r *http.Request, err error) {
	p.o.Logger.ErrorContext(r.Context(), "page", "error", err.Error())
	http.Error(w, "the page could not be made", http.StatusInternalServerError)
}
