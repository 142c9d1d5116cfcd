//go:build !race

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestEveryAnswerForbidsWhatThePageDoesNotNeed(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	for _, path := range []string{"/ui/login", "/ui/search", "/ui/item?id=nothing", "/ui/nowhere", "/ui/static/page.css", "/ui/static/nothing.css"} {
		a := b.get(path)
		csp := a.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s may be sniffed", path)
		}
		if strings.Contains(a.body, " style=") || strings.Contains(a.body, "<style") || strings.Contains(a.body, " onclick") {
			t.Errorf("%s holds what the policy forbids", path)
		}
	}
	css := b.get("/ui/static/page.css")
	b.want(http.StatusOK, css)
	if css.header.Get("Cache-Control") != "no-store" {
		t.Error("a file asked for without its hash may be kept")
	}
}

func TestStaticFilesAreKeptByTheirHash(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.browser()
	body := b.get("/ui/login").body
	at := strings.Index(body, "/ui/static/page.css?v=")
	if at < 0 {
		t.Fatal("no style sheet")
	}
	path, _, _ := strings.Cut(body[at:], `"`)
	a := b.want(http.StatusOK, b.get(path))
	if !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("Cache-Control %q", a.header.Get("Cache-Control"))
	}
}

func TestNobodyIsLetInWithoutAKey(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.browser()
	a := b.want(http.StatusSeeOther, b.get("/ui/item?id=1"))
	if got := a.header.Get("Location"); got != "/ui/login?next=%2Fui%2Fitem%3Fid%3D1" {
		t.Errorf("sent to %q", got)
	}
	b.want(http.StatusSeeOther, b.post("/ui/forget", url.Values{"id": {"1"}, "step": {"confirm"}}))
	token := b.token("/ui/login")
	a = b.want(http.StatusUnauthorized, b.post("/ui/login", url.Values{"token": {token}, "key": {"no-such-key"}}))
	wantIn(t, a.body, "This key is not known here")
	wantNotIn(t, a.body, "no-such-key")
	b.want(http.StatusUnauthorized, b.post("/ui/login", url.Values{"token": {token}, "key": {"  "}}))
	b.want(http.StatusForbidden, b.post("/ui/login", url.Values{"token": {"x"}, "key": {secrets["admin"]}}))
}

func TestTheSessionIsBoundToItsBrowser(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.browser()
	a := b.post("/ui/login", url.Values{"token": {b.token("/ui/login")}, "key": {secrets["admin"]}, "next": {"/ui/items?user=ada"}}, "X-Forwarded-Proto", "https")
	if a.header.Get("Location") != "/ui/items?user=ada" {
		t.Errorf("sent to %q", a.header.Get("Location"))
	}
	cookie := a.header.Get("Set-Cookie")
	for _, part := range []string{"evoke_session=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/ui"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie has no %s: %s", part, cookie)
		}
	}
	if strings.Contains(cookie, secrets["admin"]) {
		t.Error("the cookie holds the key")
	}
}

func TestALogInLeadsNowhereElse(t *testing.T) {
	w := newWorld(t, keyed())
	for _, next := range []string{"https://example.org/ui/", "//example.org/ui/x", "/v1/memories", `/ui/\example.org`, "javascript:alert(1)", "/ui/../v1"} {
		b := w.browser()
		a := b.post("/ui/login", url.Values{"token": {b.token("/ui/login")}, "key": {secrets["read"]}, "next": {next}})
		if got := a.header.Get("Location"); got != "/ui/" {
			t.Errorf("next %q leads to %q", next, got)
		}
	}
}

func TestLogOutEndsTheSession(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	thief := w.browser()
	at, _ := url.Parse(w.url + "/ui")
	thief.client.Jar.SetCookies(at, b.client.Jar.Cookies(at))
	thief.want(http.StatusOK, thief.get("/ui/search"))
	b.want(http.StatusForbidden, b.post("/ui/logout", url.Values{}))
	b.want(http.StatusSeeOther, b.form("/ui/logout"))
	b.want(http.StatusSeeOther, b.get("/ui/search"))
	thief.want(http.StatusSeeOther, thief.get("/ui/search"))
}

func TestFormsOfOthersAreRefused(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	id := w.remember("", "the kettle is in the kitchen")
	token := b.token("/ui/search")
	whole := url.Values{"id": {id}, "step": {"confirm"}, "token": {token}}
	for name, a := range map[string]answer{
		"no token":        b.post("/ui/forget", url.Values{"id": {id}, "step": {"confirm"}}),
		"wrong token":     b.post("/ui/forget", url.Values{"id": {id}, "step": {"confirm"}, "token": {token + "x"}}),
		"token in query":  b.post("/ui/forget?token="+url.QueryEscape(token), url.Values{"id": {id}, "step": {"confirm"}}),
		"another's token": b.post("/ui/forget", url.Values{"id": {id}, "step": {"confirm"}, "token": {w.login("admin").token("/ui/search")}}),
		"foreign origin":  b.post("/ui/forget", whole, "Origin", "https://example.org", "Sec-Fetch-Site", ""),
		"foreign site":    b.post("/ui/forget", whole, "Sec-Fetch-Site", "cross-site"),
		"no origin":       b.post("/ui/forget", whole, "Origin", "null", "Sec-Fetch-Site", "same-site"),
	} {
		if a.status != http.StatusForbidden {
			t.Errorf("%s: status %d", name, a.status)
		}
	}
	b.want(http.StatusOK, b.get("/ui/item?id="+id))
	b.want(http.StatusSeeOther, b.post("/ui/forget", whole))
	b.want(http.StatusNotFound, b.get("/ui/item?id="+id))
}

func TestFormsThatCannotBeReadAreRefused(t *testing.T) {
	w := newWorld(t, keyed()+"server: {max_body_bytes: 2000}\n")
	b := w.login("admin")
	b.want(http.StatusBadRequest, b.get("/ui/search?q=%zz"))
	b.want(http.StatusBadRequest, b.post("/ui/forget?id=%zz", url.Values{"token": {b.token("/ui/search")}}))
	if a := b.form("/ui/edit?id=x", "content", strings.Repeat("long ", 1000)); a.status != http.StatusRequestEntityTooLarge && a.status != http.StatusBadRequest {
		t.Errorf("a form that is too long: status %d", a.status)
	}
	token := b.token("/ui/search")
	several := "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + token + "\r\n--x--\r\n"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/ui/logout", strings.NewReader(several))
	if err != nil {
		t.Fatal(err)
	}
	b.want(http.StatusForbidden, b.do(r, "Content-Type", "multipart/form-data; boundary=x"))
	b.want(http.StatusNotFound, b.do(mustRequest(t, http.MethodDelete, w.url+"/ui/item?id=x")))
}

func mustRequest(t *testing.T, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFailedLogInsAreCounted(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.browser()
	token := b.token("/ui/login")
	for range 10 {
		b.want(http.StatusUnauthorized, b.post("/ui/login", url.Values{"token": {token}, "key": {"guess"}}))
	}
	a := b.want(http.StatusTooManyRequests, b.post("/ui/login", url.Values{"token": {token}, "key": {secrets["admin"]}}))
	if a.header.Get("Retry-After") == "" {
		t.Error("nothing says when to try again")
	}
}

func TestAKeyThatIsRevokedEndsItsSessions(t *testing.T) {
	w := newWorld(t, keyed())
	made, err := w.m.CreateKey(t.Context(), keyRequest("night shift"))
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	b.want(http.StatusSeeOther, b.post("/ui/login", url.Values{"token": {b.token("/ui/login")}, "key": {made.Secret}}))
	wantIn(t, b.want(http.StatusOK, b.get("/ui/search")).body, "night shift")
	if _, err := w.m.RevokeKey(t.Context(), "night shift"); err != nil {
		t.Fatal(err)
	}
	b.want(http.StatusSeeOther, b.get("/ui/search"))
}

func TestWithoutKeysThisMachineAloneIsAnswered(t *testing.T) {
	w := newWorld(t, "")
	b := w.browser()
	b.want(http.StatusOK, b.get("/ui/search"))
	b.want(http.StatusSeeOther, b.get("/ui/login"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/ui/search", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "attacker.example"
	b.want(http.StatusForbidden, b.do(r))
	id := w.remember("", "the kettle is in the kitchen")
	b.want(http.StatusForbidden, b.post("/ui/forget", url.Values{"id": {id}, "step": {"confirm"}}))
	a := b.want(http.StatusOK, b.get("/ui/item?id="+id))
	token := tokenField.FindStringSubmatch(a.body)[1]
	b.want(http.StatusSeeOther, b.post("/ui/forget", url.Values{"id": {id}, "step": {"confirm"}, "token": {token}}))
}

func TestThePageMayBeSwitchedOff(t *testing.T) {
	w := newWorld(t, "server: {ui: false}\n")
	w.browser().want(http.StatusNotFound, w.browser().get("/ui/search"))
}
