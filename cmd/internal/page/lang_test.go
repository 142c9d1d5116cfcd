//go:build !race

package page_test

import (
	"net/http"
	"testing"
)

func TestTheLanguageIsTheBrowsersOrChosen(t *testing.T) {
	w := newWorld(t, "")
	b := w.browser()
	wantIn(t, b.get("/ui/search").body, `<html lang="en">`, "What should be remembered?")
	wantIn(t, b.get("/ui/search", "Accept-Language", "zh-CN,zh;q=0.9,en;q=0.5").body, `<html lang="zh">`, "要回忆什么？")
	wantIn(t, b.get("/ui/search", "Accept-Language", "fr, en;q=0.4, zh;q=0.3").body, `<html lang="en">`)
	wantIn(t, b.get("/ui/search", "Accept-Language", ";;;").body, `<html lang="en">`)
	a := b.want(http.StatusSeeOther, b.get("/ui/items?kind=semantic&lang=zh"))
	if got := a.header.Get("Location"); got != "/ui/items?kind=semantic" {
		t.Errorf("sent to %q", got)
	}
	wantIn(t, b.get("/ui/items").body, `<html lang="zh">`, "条目")
	wantIn(t, b.want(http.StatusNotFound, b.get("/ui/item?id=x")).body, "这里没有此内容")
	b.get("/ui/items?lang=en", "Accept-Language", "zh")
	wantIn(t, b.get("/ui/items", "Accept-Language", "zh").body, `<html lang="en">`)
	b.want(http.StatusSeeOther, b.get("/ui/items?lang=tlh"))
}
