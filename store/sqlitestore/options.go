package sqlitestore

import (
	"fmt"
	"log/slog"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// Durability is what an acknowledged write survives.
type Durability string

// The levels.
const (
	Full   Durability = "full"   // a loss of power
	Normal Durability = "normal" // the end of the process; a loss of power may take the last commits
)

// Options tune a store. The zero value of a field, and nil Options, mean the defaults.
type Options struct {
	Durability Durability            // default Full
	IndexBytes int64                 // memory for the indexes of all scopes together, approximate; default 1 GiB
	Readers    int                   // connections for reading; default 4, 1–64
	Limits     store.Limits          // what one item may hold
	Lexical    scoring.LexicalParams // of the lexical arm's nomination
	LockWait   time.Duration         // how long Open waits for a directory that is in use; default 0: not at all
	Logger     *slog.Logger          // default: discards
}

func (o *Options) withDefaults() (Options, error) {
	var v Options
	if o != nil {
		v = *o
	}
	if v.Durability == "" {
		v.Durability = Full
	}
	if v.Durability != Full && v.Durability != Normal {
		return v, store.Invalid("durability", `"full" or "normal"`, fmt.Sprintf("%q", string(v.Durability)))
	}
	if v.IndexBytes == 0 {
		v.IndexBytes = 1 << 30
	}
	if v.IndexBytes < 0 {
		return v, store.Invalid("index_bytes", "zero (the default) or more", fmt.Sprint(v.IndexBytes))
	}
	if v.Readers == 0 {
		v.Readers = 4
	}
	if v.Readers < 1 || v.Readers > 64 {
		return v, store.Invalid("readers", "from 1 to 64", fmt.Sprint(v.Readers))
	}
	if v.LockWait < 0 {
		return v, store.Invalid("lock_wait", "zero or more", v.LockWait.String())
	}
	if v.Logger == nil {
		v.Logger = slog.New(slog.DiscardHandler)
	}
	v.Limits = v.Limits.WithDefaults()
	return v, nil
}
