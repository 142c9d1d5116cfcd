// Package foreign reads the files of other memory systems and the conversation exports of chat services as lines of Evoke's
// own import format. Ids are made from those in the file, so that a second import of it finds everything there.
package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"evoke/store"
)

// Format names what wrote a file.
type Format string

// The formats.
const (
	DeerFlow Format = "deer-flow"       // memory.json: profile sections and facts
	Registry Format = "memory-registry" // JSON Lines of id, type, content, metadata, created_at, updated_at, access_count, importance
	Mem0     Format = "mem0"            // the answer of get_all or of an export: a list of memories, alone or under "results" or "memories"
	ChatGPT  Format = "chatgpt"         // conversations.json of an export of ChatGPT
	Claude   Format = "claude"          // conversations.json of an export of Claude
)

// Formats lists every format.
func Formats() []Format { return []Format{DeerFlow, Registry, Mem0, ChatGPT, Claude} }

// Line is one item in Evoke's import format.
type Line struct {
	Entry int    // of the file that it is from, from 1: a line, a memory, a conversation
	JSON  []byte // one object
}

// EntryError is about one entry; the others are read nevertheless.
type EntryError struct {
	Entry int
	Err   error
}

func (e *EntryError) Error() string { return fmt.Sprintf("entry %d: %v", e.Entry, e.Err) }
func (e *EntryError) Unwrap() error { return e.Err }

// Lines reads a file. An error that is no *EntryError ends it: the file is of another format or broken off. Memory is bounded by
// the largest entry, which is at most MaxEntry bytes, but for a DeerFlow file, which is one entry.
func Lines(f Format, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s := &sink{yield: yield}
		var err error
		switch f {
		case DeerFlow:
			err = s.deerFlow(r)
		case Registry:
			err = s.registry(r)
		case Mem0:
			err = s.list(r, []string{"results", "memories"}, s.mem0)
		case ChatGPT:
			err = s.list(r, []string{"conversations"}, s.chatGPT)
		case Claude:
			err = s.list(r, []string{"conversations"}, s.claude)
		default:
			err = store.Invalid("format", "one of "+names(), string(f))
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, err)
		}
	}
}

func names() string {
	var all []string
	for _, f := range Formats() {
		all = append(all, string(f))
	}
	return strings.Join(all, ", ")
}

// MaxEntry bounds an entry of a file, in bytes.
const MaxEntry = 64 << 20

// errStopped ends the reading when the caller wants no more.
var errStopped = errors.New("stopped")

type sink struct {
	yield func(Line, error) bool
	entry int
}

// record is an item and whose it is.
type record struct {
	store.Item
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
}

func (s *sink) put(r record) error {
	if r.Confidence == 0 {
		r.Confidence = 1
	}
	if r.Provenance.Origin == "" {
		r.Provenance.Origin = "import"
	}
	b, err := json.Marshal(r)
	if err != nil {
		return s.bad(store.Invalid("entry", "valid JSON", ""))
	}
	if !s.yield(Line{s.entry, b}, nil) {
		return errStopped
	}
	return nil
}

func (s *sink) bad(err error) error {
	if !s.yield(Line{}, &EntryError{s.entry, err}) {
		return errStopped
	}
	return nil
}

// list reads a list of objects, alone or as the member of an object that has one of the names, one at a time.
func (s *sink) list(r io.Reader, members []string, each func(json.RawMessage) error) error {
	lr := &entryReader{r: r}
	d := json.NewDecoder(lr)
	if err := enter(d, members); err != nil {
		return err
	}
	for d.More() {
		s.entry++
		lr.left = MaxEntry
		var b json.RawMessage
		if err := d.Decode(&b); err != nil {
			return broken(err)
		}
		if err := each(b); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	return nil
}

// enter goes to the first element of the list.
func enter(d *json.Decoder, members []string) error {
	t, err := d.Token()
	if err != nil {
		return broken(err)
	}
	if t == json.Delim('[') {
		return nil
	}
	if t != json.Delim('{') {
		return otherFormat()
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return broken(err)
		}
		for _, m := range members {
			if name != m {
				continue
			}
			if t, err = d.Token(); err == nil && t == json.Delim('[') {
				return nil
			}
			return otherFormat()
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return broken(err)
		}
	}
	return otherFormat()
}

func otherFormat() error {
	return fmt.Errorf("%w: the file is not of this format (choose another of %s)", store.ErrInvalid, names())
}

func broken(err error) error {
	if errors.Is(err, errLarge) || errors.Is(err, store.ErrInvalid) {
		return err
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the file is not JSON to its end (was it copied whole?)", store.ErrInvalid)
	}
	return fmt.Errorf("read: %w", err)
}

var errLarge = store.Invalid("entry", fmt.Sprintf("at most %d bytes long", MaxEntry), "")

// entryReader refuses to read more than left bytes, so that no entry fills the memory. What its reader buffers beyond an entry
// counts for the next, which makes the bound one buffer loose.
type entryReader struct {
	r    io.Reader
	left int
	any  bool
}

func (e *entryReader) Read(p []byte) (int, error) {
	if !e.any {
		e.left, e.any = MaxEntry, true
	}
	if e.left <= 0 {
		return 0, errLarge
	}
	n, err := e.r.Read(p)
	e.left -= n
	return n, err //nolint:wrapcheck // a reader hands its error on, io.EOF as it is
}

// when is a time as such files write it: RFC 3339, the same without a zone (UTC), or seconds since 1970.
type when struct{ time.Time }

func (w *when) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		var sec float64
		if err := json.Unmarshal(b, &sec); err != nil {
			return errWhen
		}
		if sec < 0 || sec > 253402300799 { // the year 9999
			return errWhen
		}
		if sec > 0 {
			w.Time = time.UnixMicro(int64(sec * 1e6)).UTC()
		}
		return nil
	}
	if s == "" {
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			w.Time = t.UTC()
			return nil
		}
	}
	return errWhen
}

var errWhen = store.Invalid("time", "RFC 3339 or seconds since 1970", "")

// decode reads an entry; what is wrong is said without repeating the entry.
func decode(b []byte, into any) error {
	err := json.Unmarshal(b, into)
	var t *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrInvalid):
		return err //nolint:wrapcheck // our own, from an UnmarshalJSON
	case errors.As(err, &t) && t.Field != "":
		return store.Invalid(t.Field, "of the kind that the format has there", "a JSON "+t.Value)
	}
	return store.Invalid("entry", "one JSON object", "")
}

// metadata keeps what Evoke can keep as it is, and anything nested as its JSON text.
func metadata(raw map[string]json.RawMessage) store.Metadata {
	md := store.Metadata{}
	for k, b := range raw {
		if string(b) == "null" || k == "" {
			continue
		}
		var v store.Value
		if v.UnmarshalJSON(b) != nil {
			v = store.String(string(b))
		}
		md[k] = v
	}
	if len(md) == 0 {
		return nil
	}
	return md
}
