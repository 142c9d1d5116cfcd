package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/lifecycle/foreign"
)

const importKind = "import"

// importArgs are what an import of a file was asked with. Size and time of the file tell whether it is still the same.
type importArgs struct {
	File    string         `json:"file"`
	User    string         `json:"user,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	From    foreign.Format `json:"from,omitempty"`
	Size    int64          `json:"size"`
	ModTime time.Time      `json:"mod_time"`
}

// importPoint is how far the file was read and stored.
type importPoint struct {
	Line   int          `json:"line"` // or entry, of another system's file
	Bytes  int64        `json:"bytes,omitempty"`
	Check  checkState   `json:"check,omitzero"`
	Result ImportResult `json:"result"`
}

// ImportFile is Import (or ImportFrom, when from names a format) of a file on disk as an operation, whose result is an
// ImportResult. After a crash or a stop it goes on at the line that it came to; a file that was changed since fails it. When
// the same import is under way already that one is returned.
func (m *Memory) ImportFile(ctx context.Context, w Who, file string, from foreign.Format) (store.Operation, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return store.Operation{}, fmt.Errorf("%w: file: %w", store.ErrInvalid, err)
	}
	st, err := os.Stat(file)
	if err != nil {
		return store.Operation{}, fmt.Errorf("%w: file: %w", store.ErrInvalid, err)
	}
	if !st.Mode().IsRegular() {
		return store.Operation{}, store.Invalid("file", "a regular file", "")
	}
	if from != "" && !slices.Contains(foreign.Formats(), from) {
		return store.Operation{}, store.Invalid("from", "one of "+fmt.Sprint(foreign.Formats()), string(from))
	}
	if w != (Who{}) {
		if _, err := m.memory(w); err != nil {
			return store.Operation{}, err
		}
	}
	a := importArgs{File: file, User: w.User, Agent: w.Agent, From: from, Size: st.Size(), ModTime: st.ModTime().UTC()}
	open, err := m.ledger.Unfinished(ctx)
	if err != nil {
		return store.Operation{}, fmt.Errorf("import: %w", err)
	}
	for _, op := range open {
		var b importArgs
		if op.Tenant == m.tenant && op.Kind == importKind && !op.Cancel && json.Unmarshal(op.Args, &b) == nil && b == a {
			return op, nil
		}
	}
	op, err := m.submit(ctx, importKind, a)
	if err != nil {
		m.audit(ctx, deed(importKind, w, err, nil))
	}
	return op, err
}

// importWork reads a file from its checkpoint on.
func (m *Memory) importWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	var a importArgs
	if err := p.Args(&a); err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	var at importPoint
	if _, err := p.Checkpoint(&at); err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	w := Who{User: a.User, Agent: a.Agent}
	imp := m.importer(ctx, w)
	imp.id = p.Operation().ID
	imp.res, imp.read, imp.resumed = at.Result, at.Line, true
	imp.res.ID = imp.id
	defer func() {
		if endedBy(ctx, p, err) {
			m.audit(ctx, deed(importKind, w, err, imp.res.counts(), p.Operation().ID))
		}
	}()
	defer func() {
		if err == nil { // what is shorter than a step was not counted
			p.Reached(imp.read, imp.read)
		}
	}()
	f, err := a.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if a.From != "" {
		err = m.importEntries(imp, f, a.From, at.Line, func(entry int) error {
			return p.Save(ctx, importPoint{Line: entry, Result: imp.res}, entry, 0)
		})
		return imp.res, err
	}
	r := reading{line: at.Line, bytes: at.Bytes}
	if r.check, err = at.Check.resume(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(at.Bytes, io.SeekStart); err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	err = imp.lines(f, r, func(r *reading, stored bool) error {
		if !stored || r.line-at.Line < importBatch/2 {
			return nil
		}
		at = importPoint{Line: r.line, Bytes: r.bytes, Result: imp.res}
		if at.Check, err = r.check.state(); err != nil {
			return err
		}
		total := 0
		if r.check.head != nil {
			total = r.check.head.Items + 2
		}
		return p.Save(ctx, at, r.line, total)
	})
	return imp.res, err
}

// open opens the file if it is the one that the operation was asked for.
func (a *importArgs) open() (*os.File, error) {
	f, err := os.Open(a.File)
	if err != nil {
		return nil, fmt.Errorf("%w: file: it cannot be opened any more: %w", store.ErrInvalid, withoutPath(err))
	}
	st, err := f.Stat()
	if err == nil && (st.Size() != a.Size || !st.ModTime().UTC().Equal(a.ModTime)) {
		err = store.Invalid("file", "the same as when the import began (it was changed since: import it anew)", "")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("import: %w", err), f.Close())
	}
	return f, nil
}

// withoutPath is what went wrong with a file, without its name: notes of operations are kept.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
