package wordvec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"evoke/embed/centre"
	"evoke/scoring"
)

// magic begins a table's file.
const magic = "EVWORDS1"

// File is a table as it is written. All numbers are little-endian.
type File struct {
	Version string
	Axes    [][]float32                // orthonormal, of the model's dimension
	Means   [centre.Scripts][]float32  // of the unit vectors of words in queries
	Words   map[scoring.Term][]float32 // on the axes; any length
}

// Bounds of a file, so that a damaged one cannot ask for much memory.
const (
	maxAxes  = 1024
	maxDim   = 8192
	maxTerms = 1 << 20
	levels   = 7 // a component is one of -7 … 7 times the scale of its row
)

// Append writes the table behind b.
func (f *File) Append(b []byte) []byte {
	dim, n := len(f.Axes[0]), len(f.Axes)
	b = append(b, magic...)
	b = append(b, byte(len(f.Version)))
	b = append(b, f.Version...)
	for _, x := range []int{dim, n, len(f.Words)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	floats := func(v []float32) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	for _, a := range f.Axes {
		floats(a)
	}
	for _, m := range f.Means {
		floats(m)
	}
	for _, t := range sortedTerms(f.Words) {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
		b = appendRow(b, f.Words[t])
	}
	return b
}

// appendRow writes a vector's direction, four bits a component.
func appendRow(b []byte, v []float32) []byte {
	top := float32(0)
	for _, x := range v {
		top = max(top, float32(math.Abs(float64(x))))
	}
	var low byte
	for i, x := range v {
		q := byte(0)
		if top > 0 {
			q = byte(int(math.RoundToEven(float64(x/top*levels)))) & 0xF
		}
		if i%2 == 0 {
			low = q
		} else {
			b = append(b, low|q<<4)
		}
	}
	if len(v)%2 == 1 {
		b = append(b, low)
	}
	return b
}

// Parse reads a table.
func Parse(raw []byte) (*Table, error) {
	r := reader{raw}
	if string(r.take(len(magic))) != magic {
		return nil, errors.New("wordvec: not a table of words")
	}
	t := &Table{}
	t.version = string(r.take(int(r.byte())))
	dim, axes, terms := r.number(), r.number(), r.number()
	if dim < 1 || dim > maxDim || axes < 1 || axes > maxAxes || terms > maxTerms {
		return nil, fmt.Errorf("wordvec: %d axes of %d components, %d words", axes, dim, terms)
	}
	half := (axes + 1) / 2
	if want := 4*dim*(axes+centre.Scripts) + terms*(4+half); len(r.left) != want {
		return nil, fmt.Errorf("wordvec: %d bytes where %d belong", len(r.left), want)
	}
	t.dim = dim
	for range axes {
		t.axes = append(t.axes, r.floats(dim))
	}
	for s := range t.means {
		t.means[s] = r.floats(dim)
	}
	t.terms, t.rows, t.scales = make([]scoring.Term, terms), make([]int8, terms*axes), make([]float32, terms)
	for i := range t.terms {
		t.terms[i] = scoring.Term(r.number())
		if i > 0 && t.terms[i] <= t.terms[i-1] {
			return nil, errors.New("wordvec: terms are not in order")
		}
		row, packed := t.rows[i*axes:(i+1)*axes], r.take(half)
		for j := range row {
			row[j] = int8(packed[j/2]>>(j%2*4)<<4) >> 4
		}
		if n := scoring.DotInt8(row, row); n > 0 {
			t.scales[i] = float32(1 / math.Sqrt(float64(n)))
		}
	}
	return t, nil
}

// reader takes bytes whose number was checked or is checked by what follows.
type reader struct{ left []byte }

func (r *reader) take(n int) []byte {
	n = min(n, len(r.left))
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) number() int {
	if b := r.take(4); len(b) == 4 {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) floats(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(uint32(r.number()))
	}
	return v
}
