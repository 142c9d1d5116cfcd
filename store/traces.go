package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Traced names what was erased from one memory, and what is to stand where control data still names it.
type Traced struct {
	Scope   Scope
	IDs     map[string]string // items
	Threads map[string]string // conversations of which nothing is left
	All     bool              // nothing is left of the memory at all: whatever control data keeps of it
}

// ErasedPrefix begins what stands in place of the name of something that was erased; the rest is a keyed hash of the name.
const ErasedPrefix = "erased:"

// Traces counts, by place, the entries of control data that name what was erased: "replies", "events", "threads",
// "quarantine", "blocks", "audit", "operations". Keys are the idempotency keys of the replies.
type Traces struct {
	Counts map[string]int
	Keys   []string
}

// Total is how many entries there are.
func (t *Traces) Total() int {
	n := 0
	for _, c := range t.Counts {
		n += c
	}
	return n
}

// Tracer finds and removes what control data keeps of erased items: never their texts, but their names.
type Tracer interface {
	// TracedScopes lists every scope of the tenant of which control data was ever kept, ordered by Key, whether or not it holds
	// items.
	TracedScopes(ctx context.Context, tenant string) ([]Scope, error)
	// Traces finds what EraseTraces would change.
	Traces(ctx context.Context, t Traced) (Traces, error)
	// EraseTraces drops the replies that name an item, the state and the jobs of the threads, and the names from blocks,
	// quarantined operations, the audit log and ended operations. Events of the threads stay, without the thread's name;
	// those that are pending or dead end as nothing, with the note "erased". A second time it changes nothing.
	EraseTraces(ctx context.Context, t Traced) error
}

// Disk is a Ledger or a Store whose data lie in files of its own.
type Disk interface {
	// Scrub brings what a log still holds into its place and empties the log; with rewrite, the file is written anew, so that
	// unused space holds nothing of what was deleted. ErrUnavailable while a reader is in the way.
	Scrub(ctx context.Context, rewrite bool) error
	// Raw hands over every byte of every file, with the file's name. There are none in memory.
	Raw(ctx context.Context, visit func(name string, r io.Reader) error) error
	// Texts hands over every value that is stored, with the table that it is in.
	Texts(ctx context.Context, visit func(table string, value []byte) error) error
}

// Rename replaces every string of a JSON text that names holds, and tells how many there were. A text without one is
// returned as it is.
func Rename(text []byte, names map[string]string) (renamed []byte, n int, err error) {
	if len(names) == 0 || !mayName(text, names) {
		return text, 0, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, 0, fmt.Errorf("%w: a stored JSON text", ErrCorrupt)
	}
	if v = rename(v, names, &n); n == 0 {
		return text, 0, nil
	}
	if renamed, err = json.Marshal(v); err != nil {
		return nil, 0, fmt.Errorf("encode: %w", err)
	}
	return renamed, n, nil
}

// mayName tells, without decoding, whether a JSON text may hold one of the names: false is certain.
func mayName(text []byte, names map[string]string) bool {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return false
		}
		text = text[i+1:]
		end := bytes.IndexAny(text, `"\\`)
		if end < 0 || text[end] == '\\' {
			return true // escaped: only decoding tells
		}
		if _, ok := names[string(text[:end])]; ok {
			return true
		}
		text = text[end+1:]
	}
}

func rename(v any, names map[string]string, n *int) any {
	switch x := v.(type) {
	case string:
		if to, ok := names[x]; ok {
			*n++
			return to
		}
	case []any:
		for i := range x {
			x[i] = rename(x[i], names, n)
		}
	case map[string]any:
		for _, k := range slices.Collect(maps.Keys(x)) {
			val := rename(x[k], names, n)
			if to, ok := names[k]; ok {
				delete(x, k)
				k = to
				*n++
			}
			x[k] = val
		}
	}
	return v
}
