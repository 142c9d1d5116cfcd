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
	"bufio"
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// data holds a file of means per model, named after it.
//
//go:embed data/*.txt
var data embed.FS

// Means are the mean vectors of one model.
type Means struct {
	version string
	vectors [Scripts][]float32
}

// For returns the means of a model, nil if there are none. Their number of
// components is that of the model that they were fitted on.
func For(model string) *Means {
	raw, err := data.ReadFile("data/" + model + ".txt")
	if err != nil {
		return nil
	}
	m, err := parse(raw)
	if err != nil {
		return nil // a test reads every embedded file
	}
	return m
}

// parse reads a file of means: comments, "version V", and a line "mean SCRIPT
// COUNT VECTOR" per script.
func parse(raw []byte) (*Means, error) {
	m := &Means{}
	sc := bufio.NewScanner(bytes.NewReader(raw))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "version" && len(f) == 2:
			m.version = f[1]
		case f[0] == "mean" && len(f) == 4:
			s := slices.Index(names[:], f[1])
			v, err := base64.StdEncoding.DecodeString(f[3])
			if s < 0 || err != nil || len(v) == 0 || len(v)%4 != 0 {
				return nil, fmt.Errorf("means: broken line of script %q", f[1])
			}
			for ; len(v) > 0; v = v[4:] {
				m.vectors[s] = append(m.vectors[s], math.Float32frombits(binary.LittleEndian.Uint32(v)))
			}
		default:
			return nil, fmt.Errorf("means: cannot read a line that begins with %q", f[0])
		}
	}
	for s, v := range m.vectors {
		if len(v) == 0 || len(v) != len(m.vectors[Other]) {
			return nil, fmt.Errorf("means: script %s has %d components", Script(s), len(v))
		}
	}
	if m.version == "" {
		return nil, errors.New("means: no version")
	}
	return m, sc.Err()
}

// Version names the means, such as "c1".
func (m *Means) Version() string { return m.version }

// Low and High are the fixed ends of the centred cosines (see embed.Model).
const (
	Low  = -0.15
	High = 0.6
)

// Dim is the number of components.
func (m *Means) Dim() int { return len(m.vectors[Other]) }

// Apply subtracts from v, the vector of text, the mean of the text's script,
// and gives the rest unit length.
func (m *Means) Apply(v []float32, text string) {
	mean := m.vectors[Of(text)]
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
