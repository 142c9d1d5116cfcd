// Package figure draws the reports of the benchmarks as SVG files.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is one drawing: lines over X or, with Labels, bars side by side.
type Figure struct {
	Name   string // of the file, without its end: letters, digits and hyphens
	Title  string
	X, Y   string   // what the axes show, with the unit
	LogX   bool     // a logarithmic X axis; every X is above 0
	Max    float64  // of the Y axis; 0: by the points
	Labels []string // of the groups of bars; none: lines
	Series []Series // one to six
}

// Series is one line, or one bar of each group.
type Series struct {
	Name   string
	Points []Point // of bars: one a label, in their order
}

// Point has Y's interval in Low and High; both 0: none is known.
type Point struct{ X, Y, Low, High float64 }

const width, height = 16 * vg.Centimeter, 10 * vg.Centimeter

// Write draws the figures into files of a folder, which it makes, and returns their paths.
func Write(dir string, figures []Figure) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	paths := make([]string, len(figures))
	for i := range figures {
		b, err := SVG(&figures[i])
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.Join(dir, filepath.Base(figures[i].Name)+".svg")
		if err := os.WriteFile(paths[i], b, 0o644); err != nil {
			return nil, fmt.Errorf("draw: %w", err)
		}
	}
	return paths, nil
}

// SVG draws one figure.
func SVG(f *Figure) ([]byte, error) {
	if n := len(f.Series); n == 0 || n > len(colours) {
		return nil, fmt.Errorf("draw %s: %d series: from 1 to %d can be told apart", f.Name, n, len(colours))
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Title.Padding, p.Legend.Top, p.Legend.Left = vg.Points(8), true, f.LogX || len(f.Labels) > 0
	p.Add(plotter.NewGrid())
	var err error
	if len(f.Labels) > 0 {
		err = bars(p, f)
	} else {
		err = lines(p, f)
	}
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	p.Y.Min = 0
	if f.Max > 0 {
		p.Y.Max = f.Max
	}
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// MaxSeries is how many series one figure can show.
const MaxSeries = 6

// colours are those of Okabe and Ito, which the colour-blind tell apart.
var colours = [MaxSeries]color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// spread is what plotter wants for lines with intervals.
type spread []Point

func (s spread) Len() int                       { return len(s) }
func (s spread) XY(i int) (x, y float64)        { return s[i].X, s[i].Y }
func (s spread) YError(i int) (low, up float64) { return s[i].Y - s[i].Low, s[i].High - s[i].Y }
func (s spread) Value(i int) float64            { return s[i].Y }
func (s spread) known() bool {
	for _, p := range s {
		if p.Low != 0 || p.High != 0 {
			return true
		}
	}
	return false
}

func lines(p *plot.Plot, f *Figure) error {
	for i, s := range f.Series {
		line, dots, err := plotter.NewLinePoints(spread(s.Points))
		if err != nil {
			return err
		}
		line.Color, line.Width = colours[i], vg.Points(1.5)
		dots.Color, dots.Shape, dots.Radius = colours[i], draw.CircleGlyph{}, vg.Points(2.5)
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
		if err := intervals(p, spread(s.Points), i); err != nil {
			return err
		}
	}
	return nil
}

func bars(p *plot.Plot, f *Figure) error {
	wide := 10 * vg.Centimeter / vg.Length(len(f.Labels)*(len(f.Series)+1))
	for i, s := range f.Series {
		if len(s.Points) != len(f.Labels) {
			return errors.New("a series needs one point a label")
		}
		b, err := plotter.NewBarChart(spread(s.Points), wide)
		if err != nil {
			return err
		}
		b.Color, b.LineStyle.Width = colours[i], 0
		b.Offset = wide * (vg.Length(i) - vg.Length(len(f.Series)-1)/2)
		p.Add(b)
		p.Legend.Add(s.Name, b)
	}
	p.NominalX(f.Labels...)
	return nil
}

func intervals(p *plot.Plot, s spread, i int) error {
	if !s.known() {
		return nil
	}
	e, err := plotter.NewYErrorBars(s)
	if err != nil {
		return err
	}
	e.LineStyle.Color, e.CapWidth = colours[i], vg.Points(5)
	p.Add(e)
	return nil
}
