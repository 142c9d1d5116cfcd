//go:build !race

package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The page is driven in a real browser where there is one: EVOKE_TEST_CHROMIUM names it, or it is on the PATH. That takes
// half a minute, so that with EVOKE_SOAK alone (`make browser`) everything is done, else the first flows. axe-core is looked
// for at EVOKE_TEST_AXE and where `make axe` puts it. EVOKE_TEST_SCREENSHOTS names a folder for pictures of the views.

// whole skips what is done with EVOKE_SOAK only.
func whole(t *testing.T) {
	t.Helper()
	if os.Getenv("EVOKE_SOAK") == "" {
		t.Skip("not run: EVOKE_SOAK is not set (make browser)")
	}
}

func chromium(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("EVOKE_TEST_CHROMIUM"); name != "" {
		return name
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	t.Skip("not run in a browser: there is no chromium on the PATH and EVOKE_TEST_CHROMIUM is not set")
	return ""
}

// axe is the text of axe-core, or "" where it was not fetched.
func axe(t *testing.T) string {
	t.Helper()
	name := os.Getenv("EVOKE_TEST_AXE")
	if name == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		name = filepath.Join(cache, "evoke-tools", "axe-core-4.14.1", "axe.min.js")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		const mend = "not looked at by axe-core: run `make axe`, or set EVOKE_TEST_AXE to its axe.min.js"
		if os.Getenv("EVOKE_SOAK") != "" {
			t.Fatal(mend)
		}
		t.Log(mend)
		return ""
	}
	return string(text)
}

// screen is what the browser pretends to be.
type screen struct {
	name   string
	width  int64
	height int64
	dark   bool
}

var (
	desktop = screen{"desktop", 1280, 900, false}
	phone   = screen{"phone", 390, 844, false}
	night   = screen{"dark", 1280, 900, true}
)

// tab is one tab of a browser, with what it said.
type tab struct {
	t     *testing.T
	ctx   context.Context
	world *world
	axe   string

	mu    sync.Mutex
	said  []string
	mayBe []string // parts of what it may say
}

// newBrowser starts a browser for the test.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"), chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Log(err)
		}
		cancel()
		stop()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return ctx
}

// newTab opens a tab with cookies of its own.
func (w *world) newTab(browser context.Context, t *testing.T, s screen) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, world: w, axe: axe(t)}
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, line := range b.said {
			t.Errorf("the browser complains: %s", line)
		}
	})
	b.run(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.width < 600 {
		b.run(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	} else {
		b.run(chromedp.EmulateViewport(s.width, s.height))
	}
	return b
}

// hear keeps what a console shows as a warning or an error.
func (b *tab) hear(event any) {
	line := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, a := range e.Args {
				line += fmt.Sprintf(" %s%s", a.Value, a.Description)
			}
			line = string(e.Type) + ":" + line
		}
	case *runtime.EventExceptionThrown:
		line = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			line += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			line = string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL
		}
	}
	if line == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.mayBe {
		if strings.Contains(line, part) {
			return
		}
	}
	b.said = append(b.said, line)
}

// may tells what the browser may complain about: an answer of 401 is a complaint of its own.
func (b *tab) may(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mayBe = append(b.mayBe, part)
}

const patience = 10 * time.Second

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	// Not through a derived context: the tab ends with the context of its first action.
	done := make(chan error, 1)
	go func() { done <- chromedp.Do(b.ctx, steps...) }()
	select {
	case err := <-done:
		if err != nil {
			b.t.Fatal(err)
		}
	case <-time.After(patience):
		b.shot("stuck")
		b.t.Fatal("the browser is stuck")
	}
}

// ask evaluates an expression.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// open goes to a view.
func (b *tab) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.world.url + path))
}

// wait waits until an expression holds.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		v, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && v {
			return
		}
		if time.Now().After(end) {
			text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText.slice(0, 1500)"))
			b.t.Fatalf("waited in vain for %s (%v) at %s", expression, err, text)
		}
	}
}

// reads waits until the view says something.
func (b *tab) reads(text string) {
	b.t.Helper()
	b.wait("document.body && document.body.innerText.includes(" + quoted(text) + ")")
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // text always can be
	return string(b)
}

// press clicks what has the text.
func (b *tab) press(selector, text string) {
	b.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%s)].find(e => e.innerText.trim().includes(%s) && e.checkVisibility())", quoted(selector), quoted(text))
	b.wait(find)
	ask[bool](b, "("+find+".scrollIntoView({block: 'center'}), true)")
	at := ask[[]float64](b, "(r => [r.x + r.width / 2, r.y + r.height / 2])("+find+".getBoundingClientRect())")
	b.run(chromedp.MouseClickXY(at[0], at[1]))
}

// fill writes into a field.
func (b *tab) fill(name, text string) {
	b.t.Helper()
	selector := "[name=" + quoted(name) + "]:not([type=hidden])"
	b.wait("document.querySelector(" + quoted(selector) + ")")
	ask[bool](b, "(e => (e.focus(), e.select && e.select(), true))(document.querySelector("+quoted(selector)+"))")
	b.run(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// login logs in through the form.
func (b *tab) login(key string) {
	b.t.Helper()
	b.open("/ui/login")
	b.fill("key", secrets[key]+"\r")
	b.wait("location.pathname != '/ui/login' && document.querySelector('h1')")
}

// check holds the view that is open against what every view promises.
func (b *tab) check(name string) {
	b.t.Helper()
	if wide := ask[[]int](b, "[document.documentElement.scrollWidth, innerWidth]"); wide[0] > wide[1] {
		b.t.Errorf("%s is %d wide on a screen of %d", name, wide[0], wide[1])
	}
	if ask[bool](b, "document.body.innerText.includes('%!')") {
		b.t.Errorf("%s: a message has no place for its value", name)
	}
	b.shot(name)
	if b.axe == "" {
		return
	}
	if !ask[bool](b, "!!window.axe") {
		b.run(chromedp.Evaluate[chromedp.Void](b.axe))
	}
	type finding struct {
		ID, Impact, Help string
		Nodes            []string
	}
	found := ask[[]finding](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary)})))`)
	for _, f := range found {
		b.t.Errorf("%s: %s (%s): %s\n  %s", name, f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n  "))
	}
}

// shot takes a picture where somebody wants to look at it.
func (b *tab) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("EVOKE_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Error(err)
	}
}
