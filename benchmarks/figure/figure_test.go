package figure_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"evoke/benchmarks/figure"
)

func curve() figure.Figure {
	return figure.Figure{
		Name: "curve", Title: "Whole evidence in the block", X: "budget, tokens", Y: "% of questions", LogX: true, Max: 100,
		Series: []figure.Series{
			{Name: "locomo", Points: []figure.Point{{500, 40, 36, 44}, {1000, 55, 51, 59}, {8000, 80, 77, 83}}},
			{Name: "a <b> & 中文", Points: []figure.Point{{500, 30, 0, 0}, {8000, 60, 0, 0}}},
		},
	}
}

// An SVG is well-formed XML that shows title, axes and the series' names, whatever they hold, and no script.
func TestSVG(t *testing.T) {
	b, err := figure.SVG(new(curve()))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if tok.Name.Local == "script" {
				t.Error("holds a script")
			}
		case xml.CharData:
			text.Write(tok)
		}
	}
	for _, want := range []string{"Whole evidence in the block", "budget, tokens", "% of questions", "locomo", "a <b> & 中文", "1000"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("does not show %q", want)
		}
	}
}

func TestWriteBars(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	f := figure.Figure{
		Name: "quality", Title: "Recall", Y: "%", Labels: []string{"locomo", "prefeval"},
		Series: []figure.Series{{Name: "default", Points: []figure.Point{{Y: 70}, {Y: 90}}}, {Name: "classic", Points: []figure.Point{{Y: 50}, {Y: 80}}}},
	}
	paths, err := figure.Write(dir, []figure.Figure{f, curve()})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"quality.svg", "curve.svg"} {
		if filepath.Base(paths[i]) != want {
			t.Errorf("path %d is %s", i, paths[i])
		}
		if b, err := os.ReadFile(paths[i]); err != nil || !strings.HasPrefix(string(b), "<?xml") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestRefused(t *testing.T) {
	none := curve()
	none.Series = nil
	uneven := curve()
	uneven.Labels = []string{"one"}
	for name, f := range map[string]*figure.Figure{"no series": &none, "uneven bars": &uneven} {
		if _, err := figure.SVG(f); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}
