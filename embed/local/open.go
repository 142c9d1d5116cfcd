package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"evoke/embed"
	"evoke/embed/internal/bert"
	"evoke/embed/internal/e5s1"
	"evoke/embed/internal/onnx"
	"evoke/embed/internal/unigram"
	"evoke/embed/internal/wordpiece"
)

// Pooling is how a text's vector is made from its tokens' vectors.
type Pooling string

// The two ways known here.
const (
	Mean Pooling = "mean" // the mean over all tokens
	CLS  Pooling = "cls"  // the first token alone
)

// Spec says what the files of a model are and how its authors meant it to be
// used.
type Spec struct {
	// Name of the model, part of its identity.
	Name string
	// Weights is the name of the weights file: an E5S1 file or an ONNX file,
	// which its first bytes tell.
	Weights string
	// Tokenizer is the name of the tokenizer.json that goes with an ONNX file;
	// an E5S1 file holds its own.
	Tokenizer string
	// Heads is the number of attention heads of an ONNX file, which the file
	// does not tell. An E5S1 file does.
	Heads int
	// Pooling of the model.
	Pooling Pooling
	// QueryPrefix and PassagePrefix are put before a text, space included.
	QueryPrefix, PassagePrefix string
	// Low and High are the ends of the raw cosines (see embed.Model).
	Low, High float64
}

func (s *Spec) check() error {
	switch {
	case s.Name == "" || s.Weights == "":
		return fmt.Errorf("%w: a model needs a name and a weights file", embed.ErrInvalid)
	case s.Pooling != Mean && s.Pooling != CLS:
		return fmt.Errorf("%w: pooling %q: set mean or cls", embed.ErrInvalid, s.Pooling)
	case !(s.Low < s.High):
		return fmt.Errorf("%w: ends %g and %g: Low must be below High", embed.ErrInvalid, s.Low, s.High)
	}
	return nil
}

// maxFile bounds the size of a model file: more does not fit the memory that a
// small model may take.
const maxFile = 2 << 30

// tokenizer is what the encoder needs of one.
type tokenizer interface {
	Encode(text string, limit int) []int32
	Piece(id int32) string
	Size() int
}

// Open loads a model from the files in dir. Nil options are the defaults. Errors
// wrap embed.ErrInvalid for settings, embed.ErrDamaged for files that are not
// what the spec says, or tell what the file system said.
func Open(dir string, spec Spec, opts *Options) (*Encoder, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("open model %q: %w", spec.Name, err)
	}
	weights, err := readFile(filepath.Join(dir, spec.Weights))
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", spec.Name, err)
	}
	sum := make(chan [sha256.Size]byte, 1)
	go func() { sum <- sha256.Sum256(weights) }()
	w, tok, err := parse(dir, &spec, weights)
	hash := <-sum
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", spec.Name, err)
	}
	return newEncoder(spec, hex.EncodeToString(hash[:revisionBytes]), w, tok, opts)
}

// revisionBytes of the weights' hash are a revision.
const revisionBytes = 6

func parse(dir string, spec *Spec, weights []byte) (bert.Weights, tokenizer, error) {
	if len(weights) >= len(e5s1.Magic) && string(weights[:len(e5s1.Magic)]) == e5s1.Magic {
		m, err := e5s1.Parse(weights)
		if err != nil {
			return bert.Weights{}, nil, damaged(spec.Weights, err)
		}
		tok, err := unigram.New(m.Vocabulary)
		if err != nil {
			return bert.Weights{}, nil, damaged(spec.Weights, err)
		}
		return m.Weights, tok, nil
	}
	if spec.Tokenizer == "" {
		return bert.Weights{}, nil, damaged(spec.Weights, errors.New("not an E5S1 file, and an ONNX file needs a tokenizer beside it"))
	}
	raw, err := readFile(filepath.Join(dir, spec.Tokenizer))
	if err != nil {
		return bert.Weights{}, nil, err
	}
	tok, err := wordpiece.Parse(raw)
	if err != nil {
		return bert.Weights{}, nil, damaged(spec.Tokenizer, err)
	}
	w, err := onnx.Parse(weights, spec.Heads)
	if err != nil {
		return bert.Weights{}, nil, damaged(spec.Weights, err)
	}
	return w, tok, nil
}

func damaged(file string, err error) error {
	return fmt.Errorf("%w: %s: %w", embed.ErrDamaged, file, err)
}

// readFile reads a file of bounded size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%w: %s is no regular file of at most %d bytes", embed.ErrDamaged, filepath.Base(path), maxFile)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return data, nil
}
