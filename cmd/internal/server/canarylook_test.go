package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// readers are the routes that read and have a body, with questions that hold no canary.
var readers = map[string]string{
	"POST /v1/recall":       `{"user":"ann","query":"boat","min_score":0,"explain":true}`,
	"POST /v1/context":      `{"user":"ann","query":"boat","min_score":0}`,
	"POST /v1/admin/forget": `{"user":"ann","query":"boat","dry_run":true}`,
	"POST /v1/admin/retain": `{"dry_run":true,"policy":{"max_items":1}}`,
	"POST /v1/admin/undo":   `{"user":"ann","from":"2020-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z","dry_run":true}`,
}

// names are what the paths of routes name, by the route's begin.
func (v *aviary) names(route string) [][]string {
	one := func(ids ...string) (all [][]string) {
		for _, id := range ids {
			all = append(all, []string{id})
		}
		return all
	}
	switch {
	case strings.HasPrefix(route, "/v1/memories/"):
		return one(v.items...)
	case strings.HasPrefix(route, "/v1/events/"):
		return one(v.event)
	case strings.HasPrefix(route, "/v1/blocks/"):
		return one(v.block)
	case strings.HasPrefix(route, "/v1/admin/operations/"), strings.HasPrefix(route, "/v1/admin/erase/"):
		return one(v.operations...)
	case strings.HasPrefix(route, "/v1/admin/schedules/"):
		return one("retain")
	case strings.HasPrefix(route, "/v1/installation/"):
		return [][]string{{"acme", "reader"}}
	}
	return one("nobodys")
}

var inBraces = regexp.MustCompile(`\{[^}]+\}`)

// routes asks every route of the specification, those that change something too if told, and tells which answered with a
// canary. What a route was asked for by its path is no news.
func (v *aviary) routes(changing bool) (with map[string]string, asked int) {
	v.t.Helper()
	with = map[string]string{}
	keys := slices.Collect(maps.Keys(v.s.ops))
	slices.SortFunc(keys, func(a, b string) int { // what reads comes first, then what changes, what ends a tenant last
		rank := func(key string) string {
			method, _, _ := strings.Cut(key, " ")
			return fmt.Sprint(strings.Contains(key, "/installation/"), method != http.MethodGet, strings.HasSuffix(key, "/disable"), key)
		}
		return strings.Compare(rank(a), rank(b))
	})
	for _, key := range keys {
		op := v.s.ops[key]
		method, route := op.route.Method, op.route.Path
		body, reads := readers[method+" "+route]
		if method != http.MethodGet && !reads && !changing {
			continue
		}
		_, plain, header := sample(op)
		if body == "" {
			body = plain
		}
		names := [][]string{nil}
		if strings.Contains(route, "{") {
			names = v.names(route)
		}
		for _, ids := range names {
			path, rest := route, ids
			path = inBraces.ReplaceAllStringFunc(path, func(string) string { id := rest[0]; rest = rest[1:]; return escape(id) })
			for _, query := range v.queries(op) {
				a := v.ask(method, path+query, body, header...)
				if asked++; a.status >= 500 && a.status != http.StatusServiceUnavailable || a.status == http.StatusForbidden {
					v.t.Errorf("%s: %d %s", key, a.status, a.body)
				}
				answered := a.body + fmt.Sprint(a.header)
				for _, id := range ids {
					if a.status >= 400 || method != http.MethodGet {
						answered = strings.ReplaceAll(answered, id, "ID")
					}
				}
				if strings.Contains(answered, canary) {
					with[method+" "+route] = answered
				}
			}
		}
	}
	if changing {
		asked += v.named(with)
	}
	return with, asked
}

// named asks the routes whose bodies name something, by what there was.
func (v *aviary) named(with map[string]string) (asked int) {
	v.t.Helper()
	v.want(200, v.ask("POST", "/v1/installation/tenants/acme/enable", "")) // the routes before disabled it
	calls := maps.Clone(named)
	calls["POST /v1/admin/forget (softly)"] = [2]string{"memories", `{"user":"ada","ids":["%"],"soft":true}`}
	for key, c := range calls {
		ids := map[string][]string{"memories": v.items, "forgotten": v.items, "events": {v.event}, "operations": v.operations, "erase": v.operations}[c[0]]
		method, path, _ := strings.Cut(strings.Split(key, " (")[0], " ")
		if strings.HasSuffix(path, "/lift") {
			continue // it lets what was erased in again
		}
		for _, id := range ids {
			a := v.ask(method, path, strings.ReplaceAll(strings.ReplaceAll(c[1], "%", id), "ada", "ann"))
			if asked++; a.status >= 500 || a.status == http.StatusForbidden {
				v.t.Errorf("%s: %d %s", key, a.status, a.body)
			}
			if answered := strings.ReplaceAll(a.body, id, "ID"); strings.Contains(answered, canary) {
				with[key] = answered
			}
		}
	}
	return asked
}

// queries are ways to ask a route.
func (v *aviary) queries(op *operation) []string {
	var common []string
	if op.query["version"] {
		common = append(common, "version=0")
	}
	if op.query["from"] {
		common = append(common, "from="+v.began)
	}
	if op.query["limit"] {
		common = append(common, "limit=1000")
	}
	ways := []string{"?" + strings.Join(common, "&")}
	for _, more := range []string{"user", "all", "sources", "users", "include_content"} {
		if op.query[more] {
			value := "true"
			switch more {
			case "user":
				value = "ann"
			case "users":
				value = "10"
			}
			common = append(common, more+"="+value)
			ways = append(ways, "?"+strings.Join(common, "&"))
		}
	}
	return ways
}

// keeping are the routes and views that show a canary while there is one.
var keeping = []string{
	"GET /v1/memories", "GET /v1/memories/{id}", "GET /v1/memories/{id}/history", "GET /v1/memories/{id}/sources", "GET /v1/events/{id}", "GET /v1/blocks/{hash}",
	"GET /v1/profile", "GET /v1/admin/forgotten", "GET /v1/admin/events", "GET /v1/admin/quarantine", "GET /v1/admin/diff", "GET /v1/admin/audit",
	"GET /v1/admin/export", "POST /v1/recall", "POST /v1/context", "POST /v1/admin/forget",
}

// viewsKeeping are the views of the admin page that show a canary while there is one.
var viewsKeeping = []string{
	"GET /ui/search", "GET /ui/items", "GET /ui/item", "GET /ui/edit", "GET /ui/forgotten", "GET /ui/review", "GET /ui/audit", "GET /ui/consolidation",
	"POST /ui/forget",
}

var declaredView = regexp.MustCompile(`"(GET|POST) (/ui[^"{]*)`)

// views asks the views of the admin page, as its source declares them, as an administrator and as the operator, and tells which
// showed a canary.
func (v *aviary) views(changing bool) (with map[string]string, asked int) {
	v.t.Helper()
	source, err := os.ReadFile("../page/page.go")
	v.must(err)
	with = map[string]string{}
	for _, m := range declaredView.FindAllStringSubmatch(string(source), -1) {
		method, path := m[1], m[2]
		if path == "/ui/logout" || path == "/ui/login" || method == http.MethodPost && !changing && path != "/ui/forget" {
			continue // those two know of sessions alone
		}
		ways := []url.Values{{"user": {"ann"}}, {"user": {"ann"}, "q": {"boat"}, "all": {"on"}, "why": {"on"}}}
		for _, id := range v.items {
			if path == "/ui/item" || path == "/ui/edit" || changing && path == "/ui/restore" {
				ways = append(ways, url.Values{"user": {"ann"}, "id": {id}, "version": {id}})
			}
		}
		for _, id := range v.operations {
			if path == "/ui/operation" {
				ways = append(ways, url.Values{"id": {id}})
			}
		}
		key := acmeAdmin
		if path == "/ui/tenants" {
			key = operator
		}
		for _, way := range ways {
			a := v.view(key, method, path, way)
			if asked++; a.status >= 500 || a.status == http.StatusForbidden || a.status == http.StatusSeeOther && strings.Contains(a.header.Get("Location"), "login") {
				v.t.Errorf("%s %s: status %d", method, path, a.status)
			}
			shown := a.body + fmt.Sprint(a.header)
			if id := way.Get("id"); a.status >= 300 && id != "" {
				shown = strings.ReplaceAll(shown, id, "ID")
			}
			if strings.Contains(shown, canary) {
				with[method+" "+path] = shown
			}
		}
	}
	return with, asked
}

var hiddenToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

// view asks for one view of the admin page in the session of a key, which it begins when there is none.
func (v *aviary) view(key, method, path string, form url.Values) answer {
	v.t.Helper()
	send := func(method, path string, form url.Values, cookie string) answer {
		v.t.Helper()
		body := ""
		if method == http.MethodPost {
			body = form.Encode()
		} else if len(form) > 0 {
			path += "?" + form.Encode()
		}
		r := httptest.NewRequestWithContext(v.t.Context(), method, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Cookie", cookie)
		rec := httptest.NewRecorder()
		v.s.Handler().ServeHTTP(rec, r)
		return answer{rec.Code, rec.Header(), rec.Body.String()}
	}
	cookies := func(a answer) string {
		var all []string
		for _, line := range a.header.Values("Set-Cookie") {
			pair, _, _ := strings.Cut(line, ";")
			all = append(all, pair)
		}
		return strings.Join(all, "; ")
	}
	tokenOf := func(a answer) string {
		v.t.Helper()
		m := hiddenToken.FindStringSubmatch(a.body)
		if m == nil {
			v.t.Fatalf("no form with a token: status %d, %.300s", a.status, a.body)
		}
		return m[1]
	}
	if v.cookies[key] == "" {
		door := send(http.MethodGet, "/ui/login", nil, "")
		in := send(http.MethodPost, "/ui/login", url.Values{"token": {tokenOf(door)}, "key": {key}}, cookies(door))
		if v.cookies[key] = cookies(in); in.status != http.StatusSeeOther || v.cookies[key] == "" {
			v.t.Fatalf("log-in: status %d", in.status)
		}
	}
	if method == http.MethodPost {
		first := "/ui/search"
		if key == operator {
			first = "/ui/tenants"
		}
		form = maps.Clone(form)
		form.Set("token", tokenOf(send(http.MethodGet, first, nil, v.cookies[key])))
	}
	return send(method, path, form, v.cookies[key])
}

// files looks into every byte on disk.
func (v *aviary) files(when string) (with []string) {
	v.t.Helper()
	v.must(filepath.WalkDir(v.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), canary) {
			if with = append(with, d.Name()); when != "" {
				v.t.Errorf("%s: it is left in %s", when, d.Name())
			}
		}
		return err
	}))
	return with
}

func (v *aviary) none(where, text string) {
	v.t.Helper()
	if i := strings.Index(text, canary); i >= 0 {
		v.t.Errorf("%s: …%s…", where, text[max(0, i-150):min(len(text), i+150)])
	}
}

// before fails the test where the looking is blind.
func (v *aviary) before() {
	v.t.Helper()
	with, _ := v.routes(false)
	for _, route := range keeping {
		if with[route] == "" {
			v.t.Errorf("before the erasure %s shows no canary", route)
		}
	}
	shown, _ := v.views(false)
	for _, view := range viewsKeeping {
		if shown[view] == "" {
			v.t.Errorf("before the erasure %s shows no canary", view)
		}
	}
	if len(v.files("")) == 0 {
		v.t.Error("before the erasure no file holds a canary")
	}
	v.t.Logf("before: %d routes, %d views", len(with), len(shown))
}

// after fails the test for everything that holds a canary still.
func (v *aviary) after(when string, changing bool) {
	v.t.Helper()
	shown, n := v.views(changing)
	for view, text := range shown {
		v.none(when+", "+view, text)
	}
	with, asked := v.routes(changing)
	for route, text := range with {
		v.none(when+", "+route, text)
	}
	if n < 40 || asked < 100 {
		v.t.Errorf("%s: only %d views and %d routes were asked", when, n, asked)
	}
	v.files(when + ", while the store is open")
	if meters := v.call("GET", "/metrics", "", bearer(acmeAdmin)...).body; !strings.Contains(meters, `route="/v1/memories/:id"`) {
		v.t.Errorf("%s: the meters count no route: %.300s", when, meters)
	} else {
		v.none(when+", meters", meters)
	}
}

// exported looks at the spans that the collector was sent, attributes and all.
func (v *aviary) exported() {
	v.t.Helper()
	sent := v.spans.String()
	for _, part := range []string{"http.route", "/v1/memories/:id", "evoke.recall", "evoke.extract"} {
		if !strings.Contains(sent, part) {
			v.t.Errorf("no span with %s was exported", part)
		}
	}
	v.none("the exported spans", sent)
	v.none("meters", v.meters)
}
