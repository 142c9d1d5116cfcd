// Package centre takes the common part out of vectors. Sentence vectors of one
// language and register share a large constant component, which squeezes all
// cosines together and pulls languages apart; subtracting a constant mean
// vector per script undoes most of both.
//
// The means of a model are constants of the program, fitted once on short chat
// lines (see the data files) and versioned: vectors centred with one version
// are never compared with those of another.
package centre

import (
	"math"
)

// Means are the mean vectors of one model.
type Means struct {
	version   string
	low, high float64
	vectors   [scripts][]float32
}

// For returns the means of a model, nil if there are none.
func For(model string) *Means { return nil }

// Version names the means, such as "c1".
func (m *Means) Version() string { return m.version }

// Low and High are the fixed ends of the centred cosines (see embed.Model).
func (m *Means) Low() float64  { return m.low }
func (m *Means) High() float64 { return m.high }

// Dim is the number of components.
func (m *Means) Dim() int { return len(m.vectors[Other]) }

// Apply subtracts from v, the vector of text, the mean of the text's script,
// and gives the rest unit length.
func (m *Means) Apply(v []float32, text string) {
	mean := m.vectors[Of(text)]
	if mean == nil {
		mean = m.vectors[Other]
	}
	var n float64
	for i, x := range v {
		v[i] = x - mean[i]
		n += float64(v[i]) * float64(v[i])
	}
	if n == 0 {
		v[0] = 1
		return
	}
	k := 1 / math.Sqrt(n)
	for i, x := range v {
		v[i] = float32(float64(x) * k)
	}
}
