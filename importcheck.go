package evoke

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"evoke/store"
)

// exportCheck follows the lines of a file and tells where an export in it was altered or ends too soon. Lines that no export
// wrote pass; so does an export of a version that wrote lines of items only.
type exportCheck struct {
	head    *exportHead // of the export that the lines are in; nil outside of one
	hash    hash.Hash   // of its lines so far
	items   int
	altered bool // a line of it was found altered
}

// checkState is an exportCheck between two lines, as a checkpoint keeps it.
type checkState struct {
	Head    *exportHead `json:"head,omitempty"`
	Hash    []byte      `json:"hash,omitempty"`
	Items   int         `json:"items,omitempty"`
	Altered bool        `json:"altered,omitempty"`
}

var (
	headBefore = []byte(`{"evoke_export":`)
	endBefore  = []byte(`{"evoke_export_end":`)
)

// line takes the next line. skip tells that it holds no item; an error that it is not as it was written.
func (c *exportCheck) line(b []byte) (skip bool, err error) {
	switch {
	case bytes.HasPrefix(b, headBefore):
		was := c.end()
		h := exportHead{}
		if json.Unmarshal(b, &h) != nil || h.Format < 1 {
			return true, store.Invalid("line", "the first of an export as it was written", "")
		}
		c.head, c.hash = &h, sha256.New()
		return true, was
	case bytes.HasPrefix(b, endBefore):
		return true, c.close(b)
	}
	if c.head != nil {
		c.hash.Write(b)
		c.hash.Write([]byte{'\n'})
		c.items++
	}
	if !bytes.HasPrefix(b, []byte(sumBefore)) {
		return false, nil
	}
	sum, rest, ok := bytes.Cut(b[len(sumBefore):], []byte(sumAfter))
	if !ok || lineSum(append([]byte{'{'}, rest...)) != string(sum) {
		c.altered = true
		return true, store.Invalid("sum", "that of the line, which was altered or damaged (without the field the line is taken as it is)", "")
	}
	return false, nil
}

// tooLong notes a line of which nothing is known but that it was there.
func (c *exportCheck) tooLong() { c.items, c.altered = c.items+1, true }

// newer tells that the export is of a format that this program does not know.
func (c *exportCheck) newer() error {
	if c.head != nil && c.head.Format > ExportFormat {
		return fmt.Errorf("%w: the export is of format %d and this program knows formats up to %d: it was written by a newer Evoke (%.40q), use that one",
			store.ErrInvalid, c.head.Format, ExportFormat, c.head.Engine)
	}
	return nil
}

// close compares an export with what its last line says.
func (c *exportCheck) close(b []byte) error {
	var e exportEnd
	if json.Unmarshal(b, &e) != nil {
		return store.Invalid("line", "the last of an export as it was written", "")
	}
	head, items, altered := c.head, c.items, c.altered
	if head == nil {
		return store.Invalid("line", "the last of an export whose first one stands before it", "")
	}
	sum := hex.EncodeToString(c.hash.Sum(nil))
	*c = exportCheck{}
	switch {
	case items != e.Items:
		return store.Invalid("export", fmt.Sprintf("complete: its last line tells of %d items", e.Items), fmt.Sprint(items))
	case sum != e.SHA256 && !altered: // an altered line was told
		return store.Invalid("export", "as it was written: its lines have another checksum than its last one tells (lines were altered, exchanged or moved)", "")
	}
	return nil
}

// end tells whether the file ends within an export, or another one begins.
func (c *exportCheck) end() error {
	if c.head == nil {
		return nil
	}
	head, items := c.head, c.items
	*c = exportCheck{}
	return store.Invalid("export", fmt.Sprintf("complete: its last line is missing, it was cut off (it began with %d items)", head.Items), fmt.Sprint(items))
}

func (c *exportCheck) state() (checkState, error) {
	s := checkState{Head: c.head, Items: c.items, Altered: c.altered}
	if c.hash == nil {
		return s, nil
	}
	m, ok := c.hash.(encoding.BinaryMarshaler)
	if !ok {
		return s, fmt.Errorf("%w: the hash cannot be kept", store.ErrInvalid)
	}
	var err error
	if s.Hash, err = m.MarshalBinary(); err != nil {
		return s, fmt.Errorf("keep the hash: %w", err)
	}
	return s, nil
}

func (s checkState) resume() (exportCheck, error) {
	c := exportCheck{head: s.Head, items: s.Items, altered: s.Altered}
	if s.Head == nil {
		return c, nil
	}
	c.hash = sha256.New()
	if m, ok := c.hash.(encoding.BinaryUnmarshaler); !ok || m.UnmarshalBinary(s.Hash) != nil {
		return c, fmt.Errorf("%w: the checkpoint of the import cannot be read", store.ErrInvalid)
	}
	return c, nil
}
