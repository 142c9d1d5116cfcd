package page_test

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// Several people log in, look and log out at once. With the race detector this is the test that runs: the others have one
// browser each.
func TestSeveralAtOnce(t *testing.T) {
	w := newWorld(t, keyed())
	id := w.remember("", "the kettle is in the kitchen")
	var all sync.WaitGroup
	for _, name := range []string{"read", "admin", "other", "wrong"} {
		b := w.browser()
		all.Go(func() {
			for range 2 {
				b.post("/ui/login", url.Values{"token": {b.token("/ui/login")}, "key": {secrets[name]}})
				for _, path := range []string{"/ui/search?q=kettle", "/ui/item?id=" + id, "/ui/health", "/ui/keys"} {
					if a := b.get(path); a.status >= http.StatusInternalServerError {
						t.Errorf("%s as %s: status %d", path, name, a.status)
					}
				}
				if name != "wrong" {
					b.form("/ui/logout")
				}
			}
		})
	}
	all.Wait()
}
