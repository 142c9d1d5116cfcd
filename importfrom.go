package evoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

// ImportFrom is Import of a file that another memory system or a chat service wrote. Ids are made from the file's, so that a
// second import changes nothing. Conversations come in as turns, from which nothing is distilled; a section of a
// profile takes the place of none that is there. ImportLine.Line counts the file's entries: memories or conversations, not lines.
// progress, if not nil, is called with the number of entries read so far. A file of another format is store.ErrInvalid.
func (m *Memory) ImportFrom(ctx context.Context, w Who, from foreign.Format, in io.Reader, progress func(entries int)) (_ ImportResult, err error) {
	imp := m.importer(ctx, w)
	defer func() { m.audit(ctx, deed("import", w, err, imp.res.counts())) }()
	err = m.importEntries(imp, in, from, 0, func(entry int) error {
		if progress != nil {
			progress(entry)
		}
		return nil
	})
	return imp.res, err
}

// importEntries imports the entries after the first skip. stored is called now and then with an entry up to which all are stored.
func (m *Memory) importEntries(imp *importer, in io.Reader, from foreign.Format, skip int, stored func(entry int) error) error {
	last := skip
	for line, err := range foreign.Lines(from, in) {
		var bad *foreign.EntryError
		if errors.As(err, &bad) {
			if imp.read = bad.Entry; bad.Entry > skip {
				imp.fail(bad.Entry, bad.Err)
			}
			continue
		}
		if err != nil {
			return errors.Join(fmt.Errorf("import: %w", err), imp.flush())
		}
		if imp.read = line.Entry; line.Entry <= skip {
			continue
		}
		// An entry may be many lines, a conversation for one: only between two of them all is known to be stored.
		if line.Entry-last > 100 {
			if err := imp.flush(); err != nil {
				return err
			}
			last = line.Entry - 1
			if err := stored(last); err != nil {
				return err
			}
		}
		if err := imp.line(line.Entry, line.JSON); err != nil {
			return fmt.Errorf("import: entry %d: %w", line.Entry, err)
		}
	}
	return imp.flush()
}

// openSections tells which sections the profile has now, when any of the items is one: a section has one current version.
func (imp *importer) openSections(sc store.Scope, items []store.Item) (map[string]bool, error) {
	open := map[string]bool{}
	if !slices.ContainsFunc(items, func(it store.Item) bool { return it.IsProfile() }) {
		return open, nil
	}
	current, err := imp.m.profileItems(imp.ctx, sc, store.Current(imp.m.now()))
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	for i := range current {
		open[current[i].ContentKey] = true
	}
	return open, nil
}
