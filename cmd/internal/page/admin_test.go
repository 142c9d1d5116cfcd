//go:build !race

package page_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/extract/rules"
	"evoke/store"
)

var idField = regexp.MustCompile(`name="id" value="([^"]+)"`)

// idIn is the first id that a form of a view sends.
func idIn(t *testing.T, body string) string {
	t.Helper()
	m := idField.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no form with an id in %.800s", body)
	}
	return m[1]
}

func TestWhatWaitsIsReviewed(t *testing.T) {
	w := newWorldWith(t, keyed(), dreamer{})
	if ev := w.say("I dream of the sea."); ev.State != store.EventQuarantined {
		t.Fatalf("%+v", ev)
	}
	b := w.login("admin")
	a := b.want(http.StatusOK, b.get("/ui/review"))
	wantIn(t, a.body, "Owns a boat.", "dreamer/1", "my boat")
	id := idIn(t, a.body)
	a = b.want(http.StatusSeeOther, b.form("/ui/review", "verb", "edit", "id", id, "content", "Dreams of a boat.", "category", "goal"))
	wantIn(t, b.get(a.header.Get("Location")).body, "Dreams of a boat.", "Saved; it still waits.", "edited")
	a = b.want(http.StatusSeeOther, b.form("/ui/review", "verb", "approve", "id", idIn(t, b.get("/ui/review").body)))
	wantIn(t, b.get(a.header.Get("Location")).body, "Approved: 1", "Nothing waits.")
	wantIn(t, b.get("/ui/items?kind=semantic").body, "Dreams of a boat.")
	w.say("I dream of the hills.")
	a = b.want(http.StatusSeeOther, b.form("/ui/review", "verb", "reject", "id", idIn(t, b.get("/ui/review").body)))
	wantIn(t, b.get(a.header.Get("Location")).body, "Rejected: 1", "Nothing waits.")
}

func TestDeadLettersAreTriedAgain(t *testing.T) {
	x := &broken{Extractor: rules.New(nil)}
	w := newWorldWith(t, keyed(), x)
	ev := w.say("I prefer window seats on long flights.")
	if ev.State != store.EventDead {
		t.Fatalf("%+v", ev)
	}
	b := w.login("admin")
	a := b.want(http.StatusOK, b.get("/ui/events"))
	wantIn(t, a.body, ev.ID, "given up (1)")
	x.mended.Store(true)
	a = b.want(http.StatusSeeOther, b.form("/ui/events", "id", ev.ID))
	wantIn(t, b.get(a.header.Get("Location")).body, "They get another try: 1")
	if ev, err := w.m.Event(t.Context(), ev.ID, 10*time.Second); err != nil || ev.State != store.EventStored {
		t.Errorf("%+v, %v", ev, err)
	}
	wantIn(t, b.get("/ui/events?state=stored").body, ev.ID, "facts: 1")
}

var secretShown = regexp.MustCompile(`id="secretvalue">([^<]+)<`)

func TestKeysAreMadeRotatedAndRevoked(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	a := b.want(http.StatusOK, b.form("/ui/keys", "verb", "create", "name", "night shift", "role", "read", "agents", "*", "users", "ada, bob"))
	m := secretShown.FindStringSubmatch(a.body)
	if m == nil {
		t.Fatal("no secret is shown")
	}
	wantNotIn(t, b.get("/ui/keys").body, m[1])
	wantIn(t, b.get("/ui/keys").body, "night shift", "ada, bob", "may read")
	if k, ok := w.m.Authenticate(m[1]); !ok || k.Role != "read" || len(k.Users) != 2 {
		t.Errorf("%+v, %t", k, ok)
	}
	a = b.want(http.StatusOK, b.form("/ui/keys", "verb", "rotate", "name", "night shift", "grace", "0"))
	next := secretShown.FindStringSubmatch(a.body)
	if _, ok := w.m.Authenticate(m[1]); ok || next == nil || next[1] == m[1] {
		t.Error("the key was not rotated")
	}
	b.want(http.StatusBadRequest, b.form("/ui/keys", "verb", "rotate", "name", "night shift", "grace", "soon"))
	b.want(http.StatusConflict, b.form("/ui/keys", "verb", "create", "name", "night shift", "role", "read"))
	wantIn(t, b.want(http.StatusOK, b.form("/ui/keys", "verb", "revoke", "name", "night shift")).body, "night shift")
	b.want(http.StatusSeeOther, b.form("/ui/keys", "verb", "revoke", "name", "night shift", "step", "confirm"))
	if _, ok := w.m.Authenticate(next[1]); ok {
		t.Error("the key was not revoked")
	}
}

func TestHealthShowsAndSteersTheQueue(t *testing.T) {
	w := newWorld(t, keyed())
	w.story()
	b := w.login("admin")
	wantIn(t, b.want(http.StatusOK, b.get("/ui/health")).body, "current items", "By kind", "Tokens by day", "<svg")
	a := b.want(http.StatusSeeOther, b.form("/ui/health", "verb", "pause"))
	wantIn(t, b.get(a.header.Get("Location")).body, "Extraction is paused.", "Resume")
	if st, err := w.m.QueueStats(t.Context()); err != nil || !st.Paused {
		t.Errorf("%+v, %v", st, err)
	}
	b.want(http.StatusSeeOther, b.form("/ui/health", "verb", "resume"))
	wantIn(t, b.get("/ui/audit").body, "pause", "admin")
}

func TestOperationsAreShown(t *testing.T) {
	w := newWorld(t, keyed())
	w.story()
	b := w.login("admin")
	a := b.want(http.StatusOK, b.get("/ui/operations"))
	wantIn(t, a.body, "erase", "done")
	at := regexp.MustCompile(`href="(/ui/operation\?id=[^"]+)"`).FindStringSubmatch(a.body)
	a = b.want(http.StatusOK, b.get(strings.ReplaceAll(at[1], "&amp;", "&")))
	wantIn(t, a.body, "What was asked", "Result", "nobody")
	wantNotIn(t, a.body, "hx-trigger")
	b.want(http.StatusNotFound, b.get("/ui/operation?id=none"))
	b.want(http.StatusNotFound, b.form("/ui/operation", "id", "none", "verb", "cancel"))
	b.want(http.StatusNotFound, b.form("/ui/retention", "id", "none", "verb", "run", "step", "confirm"))
	wantIn(t, b.get("/ui/operations?state=failed").body, "There are no operations.")
}

func TestForgettingSoftlyIsTakenBack(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	id := w.remember("ada", "the kettle is in the kitchen")
	a := b.want(http.StatusSeeOther, b.form("/ui/forget?user=ada", "id", id, "step", "confirm", "way", "soft"))
	wantIn(t, b.get(a.header.Get("Location")).body, "Softly forgotten: 1", "There are no items.")
	wantIn(t, b.get("/ui/forgotten?user=ada").body, "the kettle is in the kitchen", "Goes for good:")
	wantIn(t, b.want(http.StatusOK, b.form("/ui/forgotten?user=ada", "id", id)).body, "Items that would come back, as they were: 1")
	a = b.want(http.StatusSeeOther, b.form("/ui/forgotten?user=ada", "id", id, "step", "confirm"))
	wantIn(t, b.get(a.header.Get("Location")).body, "Restored: 1", "the kettle is in the kitchen")
	b.want(http.StatusBadRequest, b.form("/ui/forget?user=ada", "id", id, "step", "confirm", "way", "soft", "until", "tomorrow"))
}

func TestRetentionIsTriedBeforeItRuns(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("admin")
	for _, text := range []string{"a bee", "a wasp", "a hornet"} {
		w.remember("ada", text)
	}
	wait := func(a answer) answer {
		t.Helper()
		at, err := url.Parse(a.header.Get("Location"))
		if err != nil || at.Path != "/ui/operation" {
			t.Fatalf("sent to %v, %v", at, err)
		}
		if _, err := w.m.WaitOperation(t.Context(), at.Query().Get("id")); err != nil {
			t.Fatal(err)
		}
		return b.want(http.StatusOK, b.get(at.String()))
	}
	a := wait(b.want(http.StatusSeeOther, b.form("/ui/retention", "user", "ada", "max_items", "2")))
	wantIn(t, a.body, "Items that would go: 1", "too many items, least worth keeping", "Run it")
	if n := len(w.items("ada")); n != 3 {
		t.Errorf("%d items after a dry run", n)
	}
	id := regexp.MustCompile(`name="verb" value="run"><input type="hidden" name="id" value="([^"]+)"`).FindStringSubmatch(a.body)
	wantIn(t, b.want(http.StatusOK, b.form("/ui/retention", "verb", "run", "id", id[1])).body, "Items that the dry run found: 1")
	a = wait(b.want(http.StatusSeeOther, b.form("/ui/retention", "verb", "run", "id", id[1], "step", "confirm")))
	wantIn(t, a.body, "Items that went: 1")
	if n := len(w.items("ada")); n != 2 {
		t.Errorf("%d items after the retention", n)
	}
	b.want(http.StatusBadRequest, b.form("/ui/retention", "max_items", "few"))
}

func (w *world) items(user string) []store.Item {
	w.t.Helper()
	got, err := w.m.List(w.t.Context(), evoke.ListRequest{Who: evoke.Who{User: user}})
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Items
}

func TestTenantsAreAboveAdministrators(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("above")
	a := b.want(http.StatusSeeOther, b.get("/ui/"))
	if a.header.Get("Location") != "/ui/tenants" {
		t.Errorf("sent to %q", a.header.Get("Location"))
	}
	b.want(http.StatusForbidden, b.get("/ui/search"))
	b.want(http.StatusForbidden, b.get("/ui/keys"))
	form := func(pairs ...string) answer {
		t.Helper()
		v := url.Values{"token": {b.token("/ui/tenants")}}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return b.post("/ui/tenants", v)
	}
	b.want(http.StatusSeeOther, form("verb", "create", "name", "globex"))
	wantIn(t, b.get("/ui/tenants").body, "globex")
	made := secretShown.FindStringSubmatch(b.want(http.StatusOK, form("verb", "key", "name", "globex", "key", "first")).body)
	if k, ok := w.m.Authenticate(made[1]); !ok || k.Tenant != "globex" {
		t.Errorf("%+v, %t", k, ok)
	}
	theirs := w.browser()
	theirs.want(http.StatusSeeOther, theirs.post("/ui/login", url.Values{"token": {theirs.token("/ui/login")}, "key": {made[1]}}))
	theirs.want(http.StatusOK, theirs.get("/ui/search"))
	b.want(http.StatusOK, form("verb", "disable", "name", "globex"))
	b.want(http.StatusSeeOther, form("verb", "disable", "name", "globex", "step", "confirm"))
	wantIn(t, b.get("/ui/tenants").body, "switched off")
	theirs.want(http.StatusForbidden, theirs.get("/ui/search"))
	b.want(http.StatusSeeOther, form("verb", "enable", "name", "globex"))
	theirs.want(http.StatusOK, theirs.get("/ui/search"))
	admin := w.login("admin")
	admin.want(http.StatusForbidden, admin.get("/ui/tenants"))
	wantNotIn(t, admin.get("/ui/search").body, "/ui/tenants")
}

// What looks after a whole tenant wants a key that grants all of it.
func TestAdministratorsOfSomeUsersSeeNoTenant(t *testing.T) {
	w := newWorld(t, keyed())
	for _, name := range []string{"ada", "write"} {
		b := w.login(name)
		for _, view := range []string{"review", "operations", "operation?id=x", "events", "audit", "keys", "health", "retention", "tenants"} {
			b.want(http.StatusForbidden, b.get("/ui/"+view))
		}
		for _, view := range []string{"review", "operation", "events", "keys", "health", "retention", "tenants"} {
			b.want(http.StatusForbidden, b.form("/ui/"+view, "id", "x"))
		}
	}
}

func TestSummariesAreTriedAndShownBesideTheirSources(t *testing.T) {
	w := newWorld(t, keyed())
	w.converse("ada")
	b := w.login("admin")
	wantIn(t, b.get("/ui/consolidation?user=ada").body, "There are no summaries in this memory.")
	wait := func(a answer) answer {
		t.Helper()
		at := a.header.Get("Location")
		_, id, ok := strings.Cut(at, "/ui/operation?id=")
		if !ok {
			t.Fatalf("sent to %q", at)
		}
		if _, err := w.m.WaitOperation(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return b.want(http.StatusOK, b.get(at))
	}
	a := wait(b.want(http.StatusSeeOther, b.form("/ui/consolidation", "user", "ada")))
	wantIn(t, a.body, "A day:", "2026-02-01", "Write the summaries", "sailing course")
	if len(w.items("ada")) != 6 {
		t.Error("a dry run changed something")
	}
	id := regexp.MustCompile(`name="verb" value="run"><input type="hidden" name="id" value="([^"]+)"`).FindStringSubmatch(a.body)
	wait(b.want(http.StatusSeeOther, b.form("/ui/consolidation", "verb", "run", "id", id[1])))
	a = b.want(http.StatusOK, b.get("/ui/consolidation?user=ada"))
	wantIn(t, a.body, "Summaries beside what they stand for", "sailing course", "Captain Ines", "behind a summary")
	if len(w.items("ada")) >= 6 {
		t.Errorf("%d items in view", len(w.items("ada")))
	}
	b.want(http.StatusNotFound, b.form("/ui/consolidation", "verb", "run", "id", "none"))
}
