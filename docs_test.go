package evoke_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every library that the code imports has its line in the record of dependencies.
func TestDependenciesAreRecorded(t *testing.T) {
	const record = "docs/decisions/0014-dependencies.md"
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for line := range strings.Lines(string(text)) {
		if library, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
			recorded = append(recorded, modulePath.FindAllString(library, -1)...)
		}
	}
	_, files := parseTree(t)
	for _, f := range files {
		for _, p := range f.imports() {
			if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") {
				continue // the standard library and our own
			}
			if !withinAny(p, recorded) {
				t.Errorf("%s imports %s, which %s does not name", f.path, p, record)
			}
		}
	}
}

var modulePath = regexp.MustCompile(`[a-z]+\.[a-z.]+/[A-Za-z0-9_./-]+|[a-z]+\.net/[a-z]+`)

// The README's Go is what Example_readme runs.
func TestReadmeGoIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(readme), "```go\n")
	snippet, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("README has no Go block")
	}
	var indented strings.Builder
	for line := range strings.Lines(snippet) {
		if strings.TrimSpace(line) != "" {
			line = "\t" + line
		}
		indented.WriteString(line)
	}
	if !strings.Contains(string(example), indented.String()) {
		t.Error("the README's Go differs from readme_test.go, which is the one that is compiled and run")
	}
}

// Links between the project's own pages lead somewhere.
func TestLinksInDocs(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(unkept, filepath.ToSlash(name)) || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(match[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.ToSlash(name), match[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
