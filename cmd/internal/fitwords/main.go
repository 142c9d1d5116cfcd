// Command fitwords makes the table of recall/wordvec for one installed model:
//
//	go run ./cmd/internal/fitwords MODEL recall/wordvec/data [WORDS-OF-MODEL …]
//
// It takes the whole words of the model's own vocabulary and of those of the
// models named behind, asks the model for the vector of each alone, and keeps
// them on the principal axes of them all. The means of words in queries are
// those of the chat lines in embed/internal/fitmeans/lines, written for such
// purposes. It is run from the root of the repository, by hand, when a model or
// the analyzer changes.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"evoke/embed"
	"evoke/embed/centre"
	"evoke/embed/local"
	"evoke/embed/modelstore"
	"evoke/recall/wordvec"
)

const (
	version = "w1"
	axes    = 96
	rounds  = 60 // of the search for the axes
	lines   = "embed/internal/fitmeans/lines"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "fitwords: want MODEL OUT-FOLDER [WORDS-OF-MODEL …]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "fitwords:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, model, out string, others []string) error {
	store, err := modelstore.New(nil)
	if err != nil {
		return err
	}
	var enc *local.Encoder
	list := map[string]bool{}
	for i, name := range append([]string{model}, others...) {
		e, err := store.Open(ctx, name, &local.Options{Raw: true})
		if err != nil {
			return err
		}
		if i == 0 {
			enc = e
		}
		vocabulary(list, e.Vocabulary(), i > 0 || len(others) == 0)
	}
	f := &wordvec.File{Version: version, Words: map[wordvec.Term][]float32{}}
	vectors, script, err := alone(ctx, enc, list)
	if err != nil {
		return err
	}
	if len(vectors) == 0 {
		return errors.New("no words in the vocabulary")
	}
	byScript := map[centre.Script][][]float32{}
	for t, v := range vectors {
		byScript[script[t]] = append(byScript[script[t]], v)
	}
	means := map[centre.Script][]float32{}
	for s, vs := range byScript {
		means[s] = mean(vs)
	}
	for t, v := range vectors {
		subtract(v, means[script[t]])
	}
	f.Axes = principal(vectors, axes)
	for t, v := range vectors {
		on := make([]float32, axes)
		for i, a := range f.Axes {
			on[i] = dot(a, v)
		}
		f.Words[t] = unit(on)
	}
	if err := queryMeans(ctx, enc, f); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d words\n", model, len(f.Words))
	return os.WriteFile(filepath.Join(out, enc.Model().Name+".bin"), f.Append(nil), 0o644)
}

// vocabulary adds the whole words among pieces: those in Latin letters, if
// wanted, and pairs of Han characters.
func vocabulary(list map[string]bool, pieces []string, latin bool) {
	marked := slices.ContainsFunc(pieces, func(p string) bool { return strings.HasPrefix(p, "\u2581") })
	for _, p := range pieces {
		rest, begins := strings.CutPrefix(p, "\u2581")
		letters, han := len(rest) > 1, 0
		for _, r := range rest {
			letters = letters && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
		if latin && letters && (begins || !marked) || han == 2 && len([]rune(rest)) == 2 {
			list[rest] = true
		}
	}
}

// alone is the mean of the unit vectors of the words of each term, every word
// embedded by itself, in lower case and as at the beginning of a sentence.
func alone(ctx context.Context, enc *local.Encoder, list map[string]bool) (map[wordvec.Term][]float32, map[wordvec.Term]centre.Script, error) {
	var mu sync.Mutex
	sums, script := map[wordvec.Term][]float32{}, map[wordvec.Term]centre.Script{}
	cased := slices.ContainsFunc(enc.Vocabulary(), func(p string) bool { return p == "A" || p == "\u2581A" })
	work := make(chan string)
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() {
			for w := range work {
				t, ok := wordvec.TermOf(w)
				if !ok || errs[n] != nil {
					continue
				}
				forms := []string{w}
				if up := strings.ToUpper(w[:1]) + w[1:]; cased && w[0] >= 'a' && w[0] <= 'z' {
					forms = append(forms, up)
				}
				for _, form := range forms {
					v, err := one(ctx, enc, form)
					if err != nil {
						errs[n] = err
						break
					}
					mu.Lock()
					if sums[t] == nil {
						sums[t] = make([]float32, len(v))
						if script[t] = centre.Of(w); script[t] == centre.Other {
							script[t] = centre.Latin // digits
						}
					}
					add(sums[t], v)
					mu.Unlock()
				}
			}
		})
	}
	for _, w := range sorted(list) {
		work <- w
	}
	close(work)
	wg.Wait()
	for t := range sums {
		sums[t] = unit(sums[t])
	}
	return sums, script, errors.Join(errs...)
}

func one(ctx context.Context, enc *local.Encoder, word string) ([]float32, error) {
	pieces, err := enc.EmbedPieces(ctx, embed.Passage, word)
	if err != nil {
		return nil, err
	}
	v := make([]float32, enc.Model().Dim)
	for _, p := range pieces {
		add(v, p.Vector)
	}
	return unit(v), nil
}

// queryMeans fills the means of words as they stand in queries.
func queryMeans(ctx context.Context, enc *local.Encoder, f *wordvec.File) error {
	for s := centre.Other + 1; int(s) < centre.Scripts; s++ {
		raw, err := os.ReadFile(filepath.Join(lines, s.String()+".txt"))
		if err != nil {
			return err
		}
		var vs [][]float32
		for line := range strings.Lines(string(raw)) {
			pieces, err := enc.EmbedPieces(ctx, embed.Query, strings.TrimSpace(line))
			if err != nil {
				return err
			}
			for _, w := range wordvec.Spell(pieces) {
				vs = append(vs, unit(w.Vector))
			}
		}
		if f.Means[s] = make([]float32, enc.Model().Dim); len(vs) > 0 {
			f.Means[s] = mean(vs)
		}
	}
	f.Means[centre.Other] = f.Means[centre.Latin]
	return nil
}

// principal are the n axes along which the vectors lie farthest apart.
func principal(vectors map[wordvec.Term][]float32, n int) [][]float32 {
	var all [][]float32
	for _, t := range sortedTerms(vectors) {
		all = append(all, vectors[t])
	}
	dim := len(all[0])
	cov := make([][]float32, dim)
	for i := range cov {
		cov[i] = make([]float32, dim)
	}
	for _, v := range all {
		for i, x := range v {
			for j, y := range v {
				cov[i][j] += x * y / float32(len(all))
			}
		}
	}
	axes := make([][]float32, n)
	for i := range axes {
		axes[i] = make([]float32, dim)
		for j := range axes[i] {
			axes[i][j] = float32(math.Sin(float64(i*dim + j + 1))) // any beginning does that is not flat
		}
	}
	for range rounds {
		for i, a := range axes {
			next := make([]float32, dim)
			for j := range next {
				next[j] = dot(cov[j], a)
			}
			for _, b := range axes[:i] {
				along := dot(b, next)
				for j := range next {
					next[j] -= along * b[j]
				}
			}
			axes[i] = unit(next)
		}
	}
	return axes
}

func mean(vs [][]float32) []float32 {
	m := make([]float32, len(vs[0]))
	for _, v := range vs {
		for i, x := range v {
			m[i] += x / float32(len(vs))
		}
	}
	return m
}

func dot(a, b []float32) float32 {
	var s float32
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

func add(sum, v []float32) {
	for i, x := range v {
		sum[i] += x
	}
}

func subtract(v, m []float32) {
	for i := range v {
		v[i] -= m[i]
	}
}

func unit(v []float32) []float32 {
	n := math.Sqrt(float64(dot(v, v)))
	if n == 0 {
		return v
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / n)
	}
	return out
}

func sorted(list map[string]bool) []string {
	var out []string
	for w := range list {
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

func sortedTerms(m map[wordvec.Term][]float32) []wordvec.Term {
	var out []wordvec.Term
	for t := range m {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}
