//go:build !race

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"evoke"
)

func keyRequest(name string) evoke.KeyRequest {
	return evoke.KeyRequest{Name: name, Role: "admin", Agents: []string{"*"}}
}

func TestSearchShowsScoresAndWhyNot(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("read")
	w.remember("", "Ada keeps bees on the roof")
	other := w.remember("", "the ferry to Bergen leaves at nine")
	a := b.want(http.StatusOK, b.get("/ui/search?q=bees&why="+other))
	wantIn(t, a.body, "Ada keeps bees on the roof", "Found: 1", `class="semantic"`, "Why not", other, "How the score comes about")
	wantIn(t, b.get("/ui/search?q=bees&why=nothing").body, "There is no such item here.")
	wantIn(t, b.get("/ui/search").body, "the ferry to Bergen")
	b.want(http.StatusBadRequest, b.get("/ui/search?q=bees&as_of=yesterday"))
	b.want(http.StatusBadRequest, b.get("/ui/search?q=bees&kind=odd"))
	wantIn(t, b.get("/ui/search?q=bees&as_of=2001-01-01").body, "Nothing found")
	wantIn(t, b.get("/ui/search?q=bees+in+May+2021").body, "read to name", "<code>2021-05</code>")
}

func TestAnItemIsEditedAfterALook(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("write")
	id := w.remember("ada", "Ada lives in Oslo")
	at := "/ui/edit?id=" + id + "&user=ada"
	form := []string{"content", "Ada lives in Bergen", "category", "context", "importance", "0.8", "confidence", "1", "valid_from", "", "valid_to", ""}
	a := b.want(http.StatusOK, b.form(at, form...))
	wantIn(t, a.body, "<del>Ada lives in Oslo</del>", "<ins>Ada lives in Bergen</ins>", "<del>knowledge</del>", "a new version is made")
	wantIn(t, b.get("/ui/item?user=ada&id="+id).body, "holds now")
	a = b.want(http.StatusSeeOther, b.form(at, append(form, "step", "confirm")...))
	a = b.want(http.StatusOK, b.get(a.header.Get("Location")))
	wantIn(t, a.body, "Saved.", "Ada lives in Bergen", "Ada lives in Oslo", "replaced", "Restore these words")
	b.want(http.StatusBadRequest, b.form(at, "content", "x", "importance", "much", "confidence", "1"))
}

func TestAnEditThatChangesNothingSaysSo(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("write")
	id := w.remember("", "two\nlines")
	it, err := w.m.Get(t.Context(), evoke.Who{}, id)
	if err != nil {
		t.Fatal(err)
	}
	a := b.want(http.StatusOK, b.form("/ui/edit?id="+id, "content", "two\r\nlines", "category", "knowledge", "importance", "0.5",
		"confidence", "1", "valid_from", it.ValidFrom.Format("2006-01-02T15:04:05"), "valid_to", ""))
	wantIn(t, a.body, "Nothing changes.")
}

func TestAFormerVersionIsRestored(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("write")
	id := w.remember("", "the code word is heron")
	words := "the code word is plover"
	now, err := w.m.Update(t.Context(), evoke.UpdateRequest{ID: id, Content: &words})
	if err != nil {
		t.Fatal(err)
	}
	a := b.want(http.StatusOK, b.form("/ui/restore?id="+now.ID, "version", id))
	wantIn(t, a.body, "<del>the code word is plover</del>", "<ins>the code word is heron</ins>")
	a = b.want(http.StatusSeeOther, b.form("/ui/restore?id="+now.ID, "version", id, "step", "confirm"))
	wantIn(t, b.get(a.header.Get("Location")).body, "Restored.", "the code word is heron")
}

func TestForgettingIsConfirmed(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("write")
	one, two := w.remember("", "first thing"), w.remember("", "second thing")
	a := b.want(http.StatusOK, b.form("/ui/forget", "id", one))
	wantIn(t, a.body, "first thing", "Items that would be forgotten: 1")
	b.want(http.StatusOK, b.get("/ui/item?id="+one))
	b.want(http.StatusForbidden, b.form("/ui/forget", "id", one, "id", two, "step", "confirm"))
	admin := w.login("admin")
	a = admin.want(http.StatusSeeOther, admin.form("/ui/forget", "id", one, "id", two, "step", "confirm"))
	wantIn(t, admin.get(a.header.Get("Location")).body, "Forgotten: 2", "There are no items.")
	b.want(http.StatusNotFound, b.form("/ui/forget", "id", "nothing"))
}

func TestWhatAQuestionFindsIsForgottenByChoice(t *testing.T) {
	w := newWorld(t, keyed())
	one := w.remember("", "the kettle is in the kitchen")
	w.remember("", "the ferry leaves at nine")
	b := w.login("admin")
	wantIn(t, b.get("/ui/search?q=kettle").body, "Forget what speaks of this")
	a := b.want(http.StatusOK, b.form("/ui/forget", "q", "kettle in the kitchen"))
	wantIn(t, a.body, "the kettle is in the kitchen", "nothing is forgotten yet", one)
	b.want(http.StatusOK, b.form("/ui/forget", "id", one))
	b.want(http.StatusOK, b.get("/ui/item?id="+one))
	writer := w.login("write")
	writer.want(http.StatusForbidden, writer.form("/ui/forget", "q", "kettle"))
	wantNotIn(t, writer.get("/ui/search?q=kettle").body, "Forget what speaks of this")
}

func TestRolesDecideWhatIsShown(t *testing.T) {
	w := newWorld(t, keyed())
	id := w.remember("", "the kettle is in the kitchen")
	reader := w.login("read")
	a := reader.want(http.StatusOK, reader.get("/ui/item?id="+id))
	wantNotIn(t, a.body, "/ui/edit", "/ui/forget")
	reader.want(http.StatusForbidden, reader.get("/ui/edit?id="+id))
	reader.want(http.StatusForbidden, reader.form("/ui/forget", "id", id, "step", "confirm"))
	writer := w.login("write")
	wantIn(t, writer.get("/ui/item?id="+id).body, "/ui/edit", "/ui/forget")
}

// What is another tenant's, or another user's, cannot be told from what does not exist.
func TestForeignItemsAreUnknown(t *testing.T) {
	w := newWorld(t, keyed())
	id := w.remember("", "the kettle is in the kitchen")
	other := w.login("other")
	foreign, unknown := other.get("/ui/item?id="+id), other.get("/ui/item?id=no-such-id-anywhere")
	other.want(http.StatusNotFound, foreign)
	if strings.ReplaceAll(foreign.body, id, "") != strings.ReplaceAll(unknown.body, "no-such-id-anywhere", "") {
		t.Error("a foreign id is told from an unknown one")
	}
	other.want(http.StatusNotFound, other.form("/ui/forget", "id", id, "step", "confirm"))
	wantIn(t, other.get("/ui/search?q=kettle&why="+id).body, "There is no such item here.")
	wantNotIn(t, other.get("/ui/search?q=kettle").body, "kitchen")
	ada := w.login("ada")
	ada.want(http.StatusForbidden, ada.get("/ui/item?user=bob&id="+id))
	ada.want(http.StatusNotFound, ada.get("/ui/item?id="+id))
	ada.want(http.StatusForbidden, ada.get("/ui/items?agent=coach"))
}

func TestWhatIsStoredIsData(t *testing.T) {
	w := newWorld(t, keyed())
	b := w.login("write")
	id := w.remember("", "<script>alert(1)</script> <a href='javascript:alert(1)' hx-get='/ui/logout' hx-trigger='load'>x</a> {{.Token}} pay \u202e001 now\u202c \u2066a\u2069 \u200bb")
	for _, path := range []string{"/ui/item?id=" + id, "/ui/search?q=pay", "/ui/items", "/ui/search?q=" + url.QueryEscape("\u202e<script>alert(2)</script>")} {
		a := b.want(http.StatusOK, b.get(path))
		wantNotIn(t, a.body, "<script>alert", "<a href='javascript", "hx-get='/ui/logout'", "\u202e", "\u2066", "\u200b")
	}
	a := b.get("/ui/item?id=" + id)
	wantIn(t, a.body, "⟦U+202E⟧001 now⟦U+202C⟧", "{{.Token}}", "&lt;script&gt;")
	a = b.want(http.StatusOK, b.get("/ui/edit?id="+id))
	wantIn(t, a.body, "&#x202e;001 now&#x202c;", "&lt;script&gt;alert(1)&lt;/script&gt;")
	wantNotIn(t, a.body, "<script>alert", "\u202e")
}

// The page opens on the memory of the user "default", which is empty where everybody has a name: who looks after the tenant is
// led to the users who have items, and nobody else is told of them.
func TestAnEmptyMemoryLeadsToTheUsersWhoHaveItems(t *testing.T) {
	w := newWorld(t, keyed())
	id := w.remember("ada", "Ada keeps bees")
	for _, view := range []string{"search", "items"} {
		link := `href="/ui/` + view + `?user=ada"`
		wantIn(t, w.login("admin").get("/ui/"+view).body, "There are no items.", link)
		if got := w.login("write").get("/ui/" + view).body; strings.Contains(got, link) {
			t.Errorf("%s tells a key of role write of other users", view)
		}
		if got := w.login("admin").get("/ui/" + view + "?user=bob").body; strings.Contains(got, link) {
			t.Errorf("%s names others beside the user that was asked for", view)
		}
	}
	wantIn(t, w.login("admin").get("/ui/item?user=ada&id="+id).body, `<dd dir="auto">ada</dd>`)
}
