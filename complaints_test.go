package evoke_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The table of complaints names tests that are there.
func TestComplaintsNameTests(t *testing.T) {
	text, err := os.ReadFile("docs/complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, files := parseTree(t)
	there := map[string]bool{}
	for _, f := range files {
		if !f.forTest {
			continue
		}
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				there[fn.Name.Name] = true
			}
		}
	}
	name := regexp.MustCompile("`((?:Test|Fuzz|Run|Example)[A-Za-z0-9_]+)`")
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| complaint") || strings.HasPrefix(line, "| ---") {
			continue
		}
		named := name.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test is named: %s", line)
		}
		for _, m := range named {
			if !there[m[1]] {
				t.Errorf("there is no %s", m[1])
			}
		}
	}
}
