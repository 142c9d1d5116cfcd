package evoke_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// module is the import path of the root package; folders below it are written without it, the root as ".".
const module = "evoke"

// arrow forbids imports. Folders and imports are matched with everything below them, except those named in a but list.
type arrow struct {
	from    []string // folders of this module
	but     []string // folders below from that the arrow leaves free
	never   []string // folders of this module, or import paths of others
	unless  []string // what stays allowed of never
	because string
}

// everything stands for every package of this module in an arrow.
const everything = "*"

// webAndFlags are the libraries of a surface: servers, routers, command lines, configuration.
var webAndFlags = []string{
	"net/http", "flag", "github.com/labstack/echo", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/knadh/koanf",
	"github.com/prometheus/client_golang", "github.com/schollz/progressbar",
}

var adapters = []string{"store/sqlitestore", "store/qdrantstore"}

// arrows are the import rules of docs/design.md. Dependencies point downwards:
// cmd → façade → recall, extract, store/lifecycle → store, embed → scoring.
var arrows = []arrow{
	{
		from: []string{"scoring"}, never: []string{everything}, unless: []string{"scoring"},
		because: "scoring is pure functions at the bottom; whatever it knew, both backends would have to know",
	},
	{
		from: []string{"scoring"}, never: []string{"os", "io", "net", "log", "database", "context", "math/rand", "crypto/rand"},
		because: "scoring has no I/O and no chance in it: the same input scores the same on every backend",
	},
	{
		from: []string{"store"}, but: []string{"store/lifecycle"}, never: []string{everything}, unless: []string{"store", "scoring"},
		because: "a store knows the vocabulary and the arithmetic, never ranking rules, models or surfaces",
	},
	{
		from: []string{"store/lifecycle"}, never: []string{everything}, unless: []string{"store", "embed", "scoring"},
		because: "what lifecycle needs from above comes through its own small ports, wired in the façade",
	},
	{
		from: []string{"store/lifecycle", "store/storetest", "recall", "extract"}, never: adapters,
		because: "they work over the ports, so that they are the same on every backend",
	},
	{
		from: []string{"store/sqlitestore"}, never: []string{"store/qdrantstore", "store/lifecycle"},
		because: "adapters do not know each other, nor what is built upon them",
	},
	{
		from: []string{"store/qdrantstore"}, never: []string{"store/sqlitestore", "store/lifecycle"},
		because: "adapters do not know each other, nor what is built upon them",
	},
	{
		from: []string{"embed"}, never: []string{everything}, unless: []string{"embed"},
		because: "an embedder turns text into vectors and must not know where they are kept",
	},
	{
		from: []string{"recall"}, never: []string{everything}, unless: []string{"recall", "store", "embed", "scoring"},
		because: "the read path must work whatever wrote the items and whatever shows them",
	},
	{
		from: []string{"extract"}, never: []string{everything}, unless: []string{"extract", "store", "embed", "scoring"},
		because: "the write path must not wait for the read path or a surface",
	},
	{
		from: []string{".", "store", "recall", "extract", "scoring"}, but: []string{"extract/llm"}, never: webAndFlags,
		because: "the engine is a library: HTTP, flags, files of settings and meters are cmd's business",
	},
	{
		from: []string{"embed", "extract/llm"}, never: slices.Concat(webAndFlags[1:], []string{"net/http/httptest"}),
		because: "a hosted model is reached with an HTTP client, which is all that they may know of surfaces",
	},
	{
		from: []string{everything}, but: []string{"cmd", "benchmarks"}, never: []string{"benchmarks"},
		because: "the harness measures the engine; only cmd runs it, for `bench`",
	},
	{
		from: []string{everything}, but: []string{"cmd"}, never: []string{"cmd"},
		because: "commands are the top of the tree",
	},
	{
		from: []string{"cmd"}, never: []string{"scoring"},
		because: "a surface has no ranking rules",
	},
	{
		from: []string{everything}, never: []string{"C"},
		because: "no cgo: one static binary, built with Go alone",
	},
}

// testLibraries may be imported by tests and by packages made for tests (their names end in "test") only.
var testLibraries = []string{
	"testing", "net/http/httptest", "github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak",
	"github.com/rogpeppe/go-internal", "github.com/compose-spec/compose-go", "github.com/stretchr/testify",
	"github.com/chromedp",
}

// topLevel are the folders that the design allows at the top, beside files.
var topLevel = []string{"cmd", "recall", "extract", "embed", "scoring", "store", "benchmarks", "docs", ".ci"}

// unkept are the folders at the top that belong to tools and the build; git ignores them or owns them.
var unkept = []string{".git", "bin", "dist"}

const maxLines = 450

// goFile is one parsed Go file of the tree.
type goFile struct {
	path    string // slash-separated, from the root of the module
	folder  string // of the package, "." for the root
	ast     *ast.File
	lines   int
	test    bool // a _test.go file
	forTest bool // a test, or of a package that exists for tests
	made    bool // *.gen.go
}

func (f *goFile) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// parseTree parses every Go file of this module; nested modules and test data are not part of it.
func parseTree(t *testing.T) (*token.FileSet, []*goFile) {
	t.Helper()
	set := token.NewFileSet()
	var files []*goFile
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(name)
		if entry.IsDir() {
			if slash != "." && (slices.Contains(unkept, slash) || entry.Name() == "testdata" || hasModule(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(slash, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(set, slash, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(slash, "_test.go")
		files = append(files, &goFile{
			path: slash, folder: path.Dir(slash), ast: parsed,
			lines: bytes.Count(text, []byte("\n")), test: test,
			forTest: test || strings.HasSuffix(path.Dir(slash), "test"),
			made:    strings.HasSuffix(slash, ".gen.go"),
		})
		return nil
	})
	if err != nil {
		t.Fatalf("reading the tree: %v", err)
	}
	if len(files) == 0 {
		t.Fatal("no Go file found: is the test run in the root of the module?")
	}
	return set, files
}

func hasModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// within reports whether name is folder or lies below it.
func within(name, folder string) bool {
	if folder == everything || name == folder {
		return true
	}
	return folder != "." && strings.HasPrefix(name, folder+"/")
}

func withinAny(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return within(name, folder) })
}

// ours returns the folder that an import path names when it is of this module.
func ours(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// breach says why the arrows forbid a package in folder to import importPath, or returns "".
func breach(folder, importPath string) string {
	target, own := ours(importPath)
	for _, a := range arrows {
		if !withinAny(folder, a.from) || withinAny(folder, a.but) {
			continue
		}
		for _, never := range a.never {
			name := importPath
			switch {
			case own:
				name = target
			case never == everything:
				continue // stands for our own packages alone
			}
			if within(name, never) && !(own && withinAny(name, a.unless)) {
				return fmt.Sprintf("package %s must never import %s, because %s", folder, importPath, a.because)
			}
		}
	}
	return ""
}

func TestImportArrows(t *testing.T) {
	_, files := parseTree(t)
	for _, f := range files {
		if f.forTest {
			continue // a test may build the world around what it tests
		}
		for _, p := range f.imports() {
			if why := breach(f.folder, p); why != "" {
				t.Errorf("%s: %s", f.path, why)
			}
		}
	}
}

// The rules themselves are tested on imports that must and must not pass, so that a slip in the matching cannot make the
// test above pass for ever.
func TestArrowsForbidWhatTheyShould(t *testing.T) {
	for _, c := range []struct {
		folder, importPath string
		allowed            bool
	}{
		{".", "evoke/recall", true},
		{".", "evoke/store/sqlitestore", true},
		{".", "evoke/scoring", true},
		{".", "evoke/cmd/internal/config", false},
		{".", "evoke/benchmarks", false},
		{".", "github.com/labstack/echo/v4", false},
		{".", "net/http", false},
		{".", "flag", false},
		{"scoring", "math", true},
		{"scoring", "iter", true},
		{"scoring", "evoke/store", false},
		{"scoring", "evoke/scoring/analyze", true},
		{"scoring/analyze", "evoke", false},
		{"scoring", "io", false},
		{"store", "evoke/scoring", true},
		{"store", "evoke/embed", false},
		{"store/sqlitestore", "evoke/store", true},
		{"store/sqlitestore", "evoke/store/internal/rows", true},
		{"store/sqlitestore", "evoke/store/qdrantstore", false},
		{"store/sqlitestore", "evoke/recall", false},
		{"store/lifecycle", "evoke/embed", true},
		{"store/lifecycle", "evoke/recall", false},
		{"store/lifecycle", "evoke/store/sqlitestore", false},
		{"embed/local", "evoke/embed", true},
		{"embed/local", "evoke/store", false},
		{"embed/openai", "net/http", true},
		{"embed", "github.com/spf13/cobra", false},
		{"recall", "evoke/store", true},
		{"recall", "evoke/store/qdrantstore", false},
		{"recall", "evoke/extract", false},
		{"recall", "evoke", false},
		{"extract/rules", "evoke/store", true},
		{"extract", "evoke/recall", false},
		{"extract", "net/http", false},
		{"extract/llm", "net/http", true},
		{"extract/llm", "github.com/labstack/echo/v4", false},
		{"benchmarks", "evoke", true},
		{"benchmarks", "evoke/cmd/internal/config", false},
		{"cmd/evoke", "evoke/benchmarks", true},
		{"cmd/internal/rest", "github.com/labstack/echo/v4", true},
		{"cmd/internal/rest", "evoke/scoring", false},
		{"cmd/evoke", "C", false},
	} {
		if why := breach(c.folder, c.importPath); (why == "") != c.allowed {
			t.Errorf("%s importing %s: allowed = %t, want %t (%s)", c.folder, c.importPath, why == "", c.allowed, why)
		}
	}
}

func TestTestLibrariesStayInTests(t *testing.T) {
	_, files := parseTree(t)
	for _, f := range files {
		if f.forTest {
			continue
		}
		for _, p := range f.imports() {
			folder, own := ours(p)
			if withinAny(p, testLibraries) || own && strings.HasSuffix(folder, "test") {
				t.Errorf("%s imports %s, which would put a test library into the binary", f.path, p)
			}
		}
	}
}

func TestEveryPackageHasOnePackageComment(t *testing.T) {
	_, files := parseTree(t)
	comments := map[string][]string{}
	for _, f := range files {
		if f.test {
			continue
		}
		if _, seen := comments[f.folder]; !seen {
			comments[f.folder] = nil
		}
		if f.ast.Doc != nil && !f.made && strings.TrimSpace(f.ast.Doc.Text()) != "" {
			comments[f.folder] = append(comments[f.folder], f.path)
		}
	}
	for folder, in := range comments {
		if len(in) != 1 {
			slices.Sort(in)
			t.Errorf("package %s has %d package comments (%s), want exactly one", folder, len(in), strings.Join(in, ", "))
		}
	}
}

func TestFilesStayShort(t *testing.T) {
	_, files := parseTree(t)
	for _, f := range files {
		if !f.made && f.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: a file owns one idea, split it", f.path, f.lines, maxLines)
		}
	}
}

func TestNoInitFunctions(t *testing.T) {
	set, files := parseTree(t)
	for _, f := range files {
		if f.made {
			continue
		}
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init(): work at import time has no owner and cannot fail; let a constructor do it", set.Position(fn.Pos()))
			}
		}
	}
}

func TestScoringReadsNoClock(t *testing.T) {
	set, files := parseTree(t)
	for _, f := range files {
		if f.test || !within(f.folder, "scoring") {
			continue
		}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, selector.Sel.Name) {
				t.Errorf("%s: scoring reads the clock; the time is a parameter there", set.Position(node.Pos()))
			}
			return true
		})
	}
}

func TestModuleHasNoReplace(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for number, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod:%d: %s: a replaced module does not build for those who import this one", number+1, strings.TrimSpace(line))
		}
	}
}

func TestTopLevelIsTheDesigns(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains(topLevel, entry.Name()) && !slices.Contains(unkept, entry.Name()) {
			t.Errorf("folder %s is not of the design's top level (%s): put it inside its owner", entry.Name(), strings.Join(topLevel, ", "))
		}
	}
}

// A path of the machine that a file was written on means nothing to who reads it.
func TestNoPathsOfOneMachine(t *testing.T) {
	machine := []string{"/" + "work/", "/" + "root/", "/" + "tmp/bash", "/" + "Users/"}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(unkept, filepath.ToSlash(name)):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || name == ".git": // a file in a linked work tree
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !utf8.Valid(text) {
			return nil
		}
		for number, line := range bytes.Split(text, []byte("\n")) {
			for _, prefix := range machine {
				if at := bytes.Index(line, []byte(prefix)); at == 0 || at > 0 && strings.IndexByte(" \t\"'`(=:[", line[at-1]) >= 0 {
					t.Errorf("%s:%d: mentions %s…", filepath.ToSlash(name), number+1, prefix)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
