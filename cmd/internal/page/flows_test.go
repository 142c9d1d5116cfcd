//go:build !race

package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Every flow is done in a real browser, in which nothing may be complained about.
func TestFlowsInABrowser(t *testing.T) {
	browser := newBrowser(t)

	t.Run("log in and out", func(t *testing.T) {
		w := newWorld(t, keyed())
		b := w.newTab(browser, t, desktop)
		b.may("401")
		b.open("/ui/items?kind=semantic")
		b.wait("location.pathname == '/ui/login' && document.activeElement.name == 'key'")
		b.check("login")
		b.fill("key", "no such key\r")
		b.reads("This key is not known here.")
		b.fill("key", secrets["admin"]+"\r")
		b.wait("location.pathname + location.search == '/ui/items?kind=semantic'")
		b.press("button", "Log out")
		b.wait("location.pathname == '/ui/login'")
		b.open("/ui/search")
		b.wait("location.pathname == '/ui/login'")
	})

	t.Run("search", func(t *testing.T) {
		w := newWorld(t, keyed())
		w.story()
		other := w.remember("", "the ferry to Bergen leaves at nine")
		b := w.newTab(browser, t, desktop)
		b.login("read")
		b.check("search-start")
		b.fill("q", "Where do the bees live?\r")
		b.reads("Ada keeps bees on the roof")
		b.wait("document.activeElement.id == 'found'")
		b.press("summary", "How the score comes about")
		b.check("search-hits")
		b.open("/ui/search?q=bees&why=" + other)
		b.reads("Why not")
		b.check("search-whynot")
		b.press(".said a", "Ada keeps bees")
		b.wait("location.pathname == '/ui/item' && document.activeElement.tagName == 'H1'")
	})

	t.Run("an item's life", func(t *testing.T) {
		w := newWorld(t, keyed())
		w.story()
		b := w.newTab(browser, t, desktop)
		b.login("write")
		b.press(".said a", "lives in Oslo")
		b.reads("Timeline")
		b.wait("document.querySelector('mark')")
		b.press("a", "Edit")
		b.wait("location.pathname == '/ui/edit'")
		b.check("edit")
		b.fill("content", "Ada lives in Bergen")
		b.press("button", "See what changes")
		b.reads("a new version is made")
		b.check("edit-preview")
		b.press("button", "Save")
		b.reads("Saved.")
		b.check("item")
		b.press("button", "Restore these words")
		b.reads("hold again")
		b.check("restore")
		b.press("button.main", "Restore")
		b.reads("Restored.")
		b.press("button", "Forget")
		b.reads("Items that")
		b.check("forget")
		b.press("button.danger", "Forget")
		b.reads("Softly forgotten: 1")
	})

	t.Run("keyboard", func(t *testing.T) {
		whole(t)
		w := newWorld(t, keyed())
		w.story()
		b := w.newTab(browser, t, desktop)
		b.login("read")
		b.open("/ui/items")
		b.run(chromedp.KeyEvent("\t"))
		b.wait("document.activeElement.className == 'skip'")
		b.run(chromedp.KeyEvent("\r"))
		b.wait("location.hash == '#main'")
		for range 40 {
			b.run(chromedp.KeyEvent("\t"))
			if ask[bool](b, "document.activeElement.matches('.said a')") {
				break
			}
		}
		b.wait("document.activeElement.matches('.said a')")
		if !ask[bool](b, "getComputedStyle(document.activeElement).outlineStyle == 'solid'") {
			t.Error("the focus is not seen")
		}
		b.run(chromedp.KeyEvent("\r"))
		b.wait("location.pathname == '/ui/item' && document.activeElement.tagName == 'H1'")
	})

	t.Run("what is stored stays data", func(t *testing.T) {
		whole(t)
		w := newWorld(t, keyed())
		id := w.remember("", "<img src=x onerror=alert(1)><script>window.owned=1</script> <b hx-get='/ui/items' hx-trigger='load' hx-on:load='window.owned=1'>x</b> \u202e gnp.exe")
		b := w.newTab(browser, t, desktop)
		b.login("write")
		b.open("/ui/item?id=" + id)
		b.reads("⟦U+202E⟧")
		if ask[bool](b, "!!window.owned || !!document.querySelector('main img, main script, main [hx-trigger]')") {
			t.Error("stored text became part of the page")
		}
		b.open("/ui/edit?id=" + id)
		if got := ask[string](b, "document.querySelector('textarea').value"); !strings.Contains(got, "\u202e") {
			t.Errorf("the field lost a character: %q", got)
		}
	})

	t.Run("languages, screens and light", func(t *testing.T) {
		whole(t)
		w := newWorld(t, keyed())
		w.story()
		for _, s := range []screen{desktop, phone, night} {
			b := w.newTab(browser, t, s)
			b.login("admin")
			if s == phone {
				b.press("a", "中文")
				b.reads("要回忆什么？")
				b.wait("document.documentElement.lang == 'zh'")
			}
			for _, path := range everyView {
				b.open(path)
				b.wait("document.querySelector('h1')")
				name, _, _ := strings.Cut(strings.TrimPrefix(path, "/ui/"), "?")
				b.check(s.name + "-" + name)
			}
			b.open("/ui/search?q=" + url.QueryEscape("bees"))
			b.check(s.name + "-hits")
			b.open("/ui/items")
			b.press(".said a", "Oslo")
			b.wait("location.pathname == '/ui/item'")
			b.check(s.name + "-item")
		}
	})
}

// everyView are the views that need no item.
var everyView = []string{"/ui/search", "/ui/items", "/ui/forgotten", "/ui/review", "/ui/operations", "/ui/retention", "/ui/consolidation", "/ui/events", "/ui/events?state=", "/ui/keys", "/ui/health", "/ui/audit"}
