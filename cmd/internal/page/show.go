package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// hidden reports whether a character reorders, hides or ends text without being seen. Joiners stay: words of several
// scripts, and emoji, are written with them.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < 0x20 || r >= 0x7f && r <= 0x9f: // controls
		return true
	case r == 0x00ad || r == 0x061c || r == 0x180e || r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff:
		return true // soft hyphen, marks of direction, spaces without width
	case r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f: // separators, embeddings, overrides, isolates
		return true
	case r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe007f: // annotations, tags
		return true
	}
	return false
}

// neutral shows characters that are hidden by their number, wherever they come from. It works on the finished page, so
// that no template can forget it.
func neutral(page []byte) []byte {
	at := 0
	for at < len(page) && page[at] < utf8.RuneSelf && !(page[at] < 0x20 && hidden(rune(page[at]))) && page[at] != 0x7f {
		at++
	}
	out := append(make([]byte, 0, len(page)+64), page[:at]...)
	for i := at; i < len(page); {
		r, n := utf8.DecodeRune(page[i:])
		if hidden(r) {
			out = fmt.Appendf(out, "⟦U+%04X⟧", r)
		} else {
			out = append(out, page[i:i+n]...)
		}
		i += n
	}
	return out
}

// exact is text for a field that is sent back: hidden characters are written as references, which neutral leaves alone.
func exact(s string) template.HTML {
	var b strings.Builder
	for _, r := range s {
		if hidden(r) && r >= 0x80 {
			fmt.Fprintf(&b, "&#x%x;", r)
			continue
		}
		b.WriteString(html.EscapeString(string(r)))
	}
	return template.HTML(b.String()) //nolint:gosec // escaped just above
}

// stamp is a time for people, to the minute, in UTC.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04") + " UTC"
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clip shortens text to so many characters.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count++; count > n {
			return strings.TrimRight(s[:i], " \n") + "…"
		}
	}
	return s
}

// readTemplates parses each view together with the layout.
func (p *Page) readTemplates() (map[string]*template.Template, error) {
	base, err := template.New("base").Funcs(template.FuncMap{
		"stamp": stamp, "machine": machineTime, "exact": exact, "clip": clip, "bar": bar, "two": two, "size": size, "pair": pair,
	}).ParseFS(files, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		view := strings.TrimSuffix(path.Base(name), ".html")
		if view == "layout" || view == "parts" {
			continue
		}
		t, err := base.Clone()
		if err == nil {
			_, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, fmt.Errorf("page: %s: %w", name, err)
		}
		pages[view] = t
	}
	return pages, nil
}

// two is a number with two decimals.
func two(f float64) string { return fmt.Sprintf("%.2f", f) }

// size is a number of bytes for people.
func size(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// couple hands two things to a template.
type couple struct{ A, B any }

func pair(a, b any) couple { return couple{a, b} }

// asset is a static file.
type asset struct {
	data []byte
	kind string
	hash string
}

// readAssets reads the static files.
func readAssets() (map[string]asset, error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	out := map[string]asset{}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		kind, ok := kinds[path.Ext(e.Name())]
		if !ok {
			return nil, errors.New("page: static/" + e.Name() + " is of no known kind")
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = asset{data, kind, hex.EncodeToString(sum[:8])}
	}
	return out, nil
}

// static answers a file. What is asked for with its hash never changes.
func (p *Page) static(w http.ResponseWriter, r *http.Request) {
	a, ok := p.assets[r.PathValue("name")]
	if !ok {
		p.nowhere(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if r.URL.Query().Get("v") == a.hash {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.data) // who went away does not read it
}
