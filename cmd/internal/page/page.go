// Package page is the admin page at /ui: HTML from the server, over the same calls as the REST surface, for people who look
// after a memory. It works without JavaScript; htmx spares reloads. Whatever is stored is data here: it is escaped, and
// characters that would reorder or hide text are shown as what they are.
package page

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"evoke"
	"evoke/cmd/internal/config"
)

// root is where the page lives.
const root = "/ui"

// Options of New.
type Options struct {
	// Enter says who calls with a key. Without one it says who calls when no keys are needed, or an error that is shown on
	// the way to the log-in.
	Enter func(r *http.Request, key string) (Caller, error)
	// Tenants opens the memory of one tenant, for every request.
	Tenants func(tenant string) (Memory, error)
	// Installation opens what is above tenants.
	Installation func() (Installation, error)
	// Problem tells how an error is shown: an HTTP status, the name of its class, and what may be said of it.
	Problem func(err error) (status int, class, detail string)
	// Keyless reports whether the server needs no keys now.
	Keyless func() bool

	MaxBody int64            // bytes of a form
	Clock   func() time.Time // nil: time.Now
	Logger  *slog.Logger     // nil: silent
}

// Page answers everything under /ui.
type Page struct {
	o        Options
	sessions *sessions
	attempts *attempts
	pages    map[string]*template.Template
	assets   map[string]asset
	token    string // of forms when there are no keys
	secret   string // that the log-in's token is made with
	cross    *http.CrossOriginProtection
	mux      *http.ServeMux
}

//go:embed templates static
var files embed.FS

// New builds the page.
func New(o Options) (*Page, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Page{
		o: o, sessions: newSessions(o.Clock), attempts: newAttempts(o.Clock), token: random(), secret: random(),
		cross: http.NewCrossOriginProtection(), mux: http.NewServeMux(),
	}
	var err error
	if p.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if p.pages, err = p.readTemplates(); err != nil {
		return nil, err
	}
	p.routes()
	return p, nil
}

// needs is what a view wants of its caller.
type needs struct {
	role  config.Role
	whole bool // every memory of the tenant
}

var (
	reads  = needs{role: config.Read}
	writes = needs{role: config.Write}
	admin  = needs{role: config.Admin, whole: true}
)

func (p *Page) routes() {
	p.mux.HandleFunc("GET /ui/static/{name}", p.static)
	p.mux.HandleFunc("GET /ui/login", p.loginForm)
	p.mux.HandleFunc("POST /ui/login", p.login)
	p.mux.HandleFunc("POST /ui/logout", p.logout)
	p.mux.HandleFunc("GET /ui/{$}", p.home)
	p.mux.HandleFunc("GET /ui", p.home)
	p.mux.HandleFunc("/", p.nowhere)
	p.view("GET /ui/search", reads, p.search)
	p.view("GET /ui/items", reads, p.items)
	p.view("GET /ui/item", reads, p.item)
	p.view("GET /ui/edit", writes, p.editForm)
	p.view("POST /ui/edit", writes, p.edit)
	p.view("POST /ui/restore", writes, p.restore)
	p.view("POST /ui/forget", writes, p.forget)
	p.view("GET /ui/forgotten", ofMemory, p.forgotten)
	p.view("POST /ui/forgotten", ofMemory, p.bringBack)
	p.view("GET /ui/retention", admin, p.retention)
	p.view("POST /ui/retention", admin, p.tryRetention)
	p.view("GET /ui/consolidation", admin, p.consolidation)
	p.view("POST /ui/consolidation", admin, p.tryConsolidation)
	p.view("GET /ui/tenants", aboveTenants, p.tenants)
	p.view("POST /ui/tenants", aboveTenants, p.changeTenants)
	p.view("GET /ui/review", admin, p.review)
	p.view("POST /ui/review", admin, p.decide)
	p.view("GET /ui/operations", admin, p.operations)
	p.view("GET /ui/operation", admin, p.operation)
	p.view("POST /ui/operation", admin, p.steer)
	p.view("GET /ui/events", admin, p.events)
	p.view("POST /ui/events", admin, p.retryEvents)
	p.view("GET /ui/audit", admin, p.audit)
	p.view("GET /ui/keys", admin, p.keys)
	p.view("POST /ui/keys", admin, p.changeKeys)
	p.view("GET /ui/health", admin, p.health)
	p.view("POST /ui/health", admin, p.pause)
}

// policy is what a browser may load for the page: our own files, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers one request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodPost {
		if err := p.cross.Check(r); err != nil {
			p.refuse(w, r, http.StatusForbidden, "origin")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, p.o.MaxBody)
	} else {
		r.Body = http.NoBody // whatever came with it
	}
	// Fields are read from r.Form from here on. FormValue would read bodies of several parts, too, files and all.
	if err := r.ParseForm(); err != nil {
		p.refuse(w, r, http.StatusBadRequest, "form")
		return
	}
	if p.switchLanguage(w, r) {
		return
	}
	p.mux.ServeHTTP(w, r)
}

// visit is one request of somebody who is let in.
type visit struct {
	Memory
	page   *Page
	w      http.ResponseWriter
	r      *http.Request
	caller Caller
	lang   language
	token  string // for forms
	keyed  bool   // there is a session to log out of
}

// view puts the door in front of a view.
func (p *Page) view(pattern string, n needs, show func(v *visit) error) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, ok := p.enter(w, r)
		if !ok {
			return
		}
		err := v.allowed(n)
		if err == nil {
			err = show(v)
		}
		if err != nil {
			v.fail(err) //nolint:contextcheck // the visit has the request, whose context it uses
		}
	})
}

// enter finds out who calls. When nobody does the answer, mostly the way to the log-in, is written.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) (*visit, bool) {
	s, logged := p.sessions.find(cookieOf(r, sessionCookie))
	token := p.token
	if logged {
		token = s.token
	} else if !p.o.Keyless() {
		p.toLogin(w, r)
		return nil, false
	}
	caller, err := p.o.Enter(r, s.key)
	if err != nil {
		status, class, _ := p.o.Problem(err)
		if status == http.StatusUnauthorized { // the key was revoked, or has expired
			p.sessions.end(s.cookie)
			p.toLogin(w, r)
			return nil, false
		}
		p.refuse(w, r, status, class)
		return nil, false
	}
	if r.Method == http.MethodPost && !sameToken(r.PostForm.Get("token"), token) {
		p.refuse(w, r, http.StatusForbidden, "token")
		return nil, false
	}
	var m Memory // none for a key that is above tenants: no view that such a key is granted reads one
	if caller.Tenant() != "" {
		if m, err = p.o.Tenants(caller.Tenant()); err != nil {
			status, class, _ := p.o.Problem(err)
			p.refuse(w, r, status, class)
			return nil, false
		}
	}
	ctx := evoke.WithActor(r.Context(), evoke.Actor{Name: caller.Name(), Request: w.Header().Get("X-Request-Id")})
	return &visit{Memory: m, page: p, w: w, r: r.WithContext(ctx), caller: caller, lang: languageOf(r), token: token, keyed: logged}, true
}

// allowed refuses who may not see a view.
func (v *visit) allowed(n needs) error {
	if !v.may(n) {
		return errNotGranted
	}
	return nil
}

func (v *visit) may(n needs) bool {
	return v.caller.May(n.role) && (!n.whole || v.caller.AllMemories())
}

func (v *visit) ctx() context.Context { return v.r.Context() }

// get is a field of the form or the query.
func (v *visit) get(name string) string { return v.r.Form.Get(name) }

// who is whose memory the request is about.
func (v *visit) who() (evoke.Who, error) { return v.caller.Who(v.get("user"), v.get("agent"), "") }

// show writes a view.
func (v *visit) show(status int, name string, data any) error {
	return v.page.write(v.w, status, name, data)
}

// see sends the browser to another view after something was done, so that a reload does not do it again.
func (v *visit) see(view string, query url.Values) error {
	http.Redirect(v.w, v.r, at(view, query), http.StatusSeeOther)
	return nil
}

// at is the address of a view.
func at(view string, query url.Values) string {
	if len(query) == 0 {
		return root + "/" + view
	}
	return root + "/" + view + "?" + query.Encode()
}

// home is the first view that the caller may see.
func (p *Page) home(w http.ResponseWriter, r *http.Request) {
	v, ok := p.enter(w, r)
	if !ok {
		return
	}
	first := "search"
	if !v.may(reads) && v.may(aboveTenants) {
		first = "tenants"
	}
	http.Redirect(w, r, at(first, nil), http.StatusSeeOther)
}

func (p *Page) nowhere(w http.ResponseWriter, r *http.Request) {
	p.refuse(w, r, http.StatusNotFound, "not-found")
}

// write renders a view whole before anything of it is sent: a failure midway would leave half a page.
func (p *Page) write(w http.ResponseWriter, status int, name string, data any) error {
	t, ok := p.pages[name]
	if !ok {
		return fmt.Errorf("page: there is no view %s", name)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "layout", data); err != nil {
		return fmt.Errorf("page: %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(neutral(b.Bytes())) // who went away does not read it
	return nil
}
