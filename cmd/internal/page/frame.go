package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"evoke/cmd/internal/config"
)

// frame is what every view has around it. Views embed it, so that templates reach it directly.
type frame struct {
	lang   language
	assets map[string]asset
	now    time.Time

	Title  string // name of a message
	Token  string
	Path   string
	Nav    []link
	User   string // whose memory is looked at
	Agent  string
	Caller string // name of the key; "" for nobody
	Tenant string
	Role   string // name of a message
	Keyed  bool
	Write  bool // the caller may change items
	Admin  bool // and look after the whole tenant
	Other  link // the same view in the other language
	Others []other
	Notice string
}

// link leads to a view. Name is a message's.
type link struct {
	Name string
	URL  string
	Here bool
}

// T is a message in the reader's language.
func (f *frame) T(name string, args ...any) string { return f.lang.say(name, args...) }

// Lang is the language's tag.
func (f *frame) Lang() string { return f.lang.tag() }

// Asset is the address of a static file, with its hash, so that browsers may keep it for ever.
func (f *frame) Asset(name string) string {
	return root + "/static/" + name + "?v=" + f.assets[name].hash
}

// Act is the address of a view for the item and the memory that are looked at.
func (f *frame) Act(view, id string) string {
	q := f.scope()
	q.Set("id", id)
	return at(view, q)
}

func (f *frame) scope() url.Values {
	q := url.Values{}
	if f.User != "" {
		q.Set("user", f.User)
	}
	if f.Agent != "" {
		q.Set("agent", f.Agent)
	}
	return q
}

// frame of somebody who is not let in.
func (p *Page) frame(r *http.Request, lang language, title string) *frame {
	f := &frame{lang: lang, assets: p.assets, now: p.o.Clock(), Title: title, Path: r.URL.Path, Other: link{URL: otherLanguage(r, lang)}}
	return f
}

// views are the navigation's.
var views = []struct {
	name  string
	view  string
	needs needs
	scope bool // of one memory
}{
	{"nav.search", "search", reads, true},
	{"nav.items", "items", reads, true},
	{"nav.forgotten", "forgotten", ofMemory, true},
	{"nav.review", "review", admin, false},
	{"nav.operations", "operations", admin, false},
	{"nav.events", "events", admin, false},
	{"nav.retention", "retention", admin, false},
	{"nav.consolidation", "consolidation", admin, true},
	{"nav.keys", "keys", admin, false},
	{"nav.tenants", "tenants", aboveTenants, false},
	{"nav.health", "health", admin, false},
}

// frame of a visit.
func (v *visit) frame(title string) *frame {
	f := v.page.frame(v.r, v.lang, title)
	f.Token, f.Keyed = v.token, v.keyed
	f.User, f.Agent = v.get("user"), v.get("agent")
	f.Caller, f.Tenant = v.caller.Name(), v.caller.Tenant()
	f.Write, f.Admin = v.may(writes), v.may(admin)
	for _, role := range []config.Role{config.Installation, config.Read, config.Write, config.Admin} {
		if v.caller.May(role) {
			f.Role = "role." + string(role)
		}
	}
	for _, n := range views {
		if !v.may(n.needs) {
			continue
		}
		var q url.Values
		if n.scope {
			q = f.scope()
		}
		f.Nav = append(f.Nav, link{Name: n.name, URL: at(n.view, q), Here: f.Path == root+"/"+n.view})
	}
	if done := "done." + v.r.URL.Query().Get("done"); f.lang.has(done) {
		if f.Notice = f.T(done); strings.Contains(f.Notice, "%s") {
			f.Notice = f.T(done, number(v.r.URL.Query().Get("n")))
		}
	}
	return f
}

// number is text that holds a number and nothing else, or "0".
func number(s string) string {
	if s == "" || len(s) > 12 || strings.Trim(s, "0123456789") != "" {
		return "0"
	}
	return s
}
