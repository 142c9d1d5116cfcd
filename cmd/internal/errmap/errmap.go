// Package errmap is the one table that turns the engine's errors into what a surface shows: an HTTP status with a
// problem type, and a process exit code.
package errmap

import (
	"context"
	"errors"
	"net/http"

	"evoke/embed"
	"evoke/embed/modelstore"
	"evoke/store"
)

// Entry is how one class of error is shown.
type Entry struct {
	Class  string // short name, also the last part of the problem type
	Title  string // the same for every problem of the class
	Status int    // HTTP status
	Exit   int    // process exit code
	// Detail tells whether the error's own text may be shown to a remote caller. It may where the text is about what
	// the caller sent; it may not where it is about our machine.
	Detail bool
}

// Type is the problem type of RFC 9457.
func (e Entry) Type() string { return "urn:evoke:problem:" + e.Class }

// row joins a sentinel with its entry.
type row struct {
	err   error
	entry Entry
}

// ExitOK and ExitInternal are the exit codes outside the table.
const (
	ExitOK       = 0
	ExitInternal = 1
)

// table is searched in order; the first sentinel that the error wraps decides.
var table = []row{
	{store.ErrInvalid, Entry{"invalid", "The request is not valid", http.StatusBadRequest, 2, true}},
	{store.ErrNotFound, Entry{"not-found", "There is no such thing here", http.StatusNotFound, 3, true}},
	{store.ErrConflict, Entry{"conflict", "In conflict with what is there or under way", http.StatusConflict, 4, true}},
	{store.ErrUnavailable, Entry{"unavailable", "A part of the service cannot be reached now", http.StatusServiceUnavailable, 5, false}},
	{store.ErrTenant, Entry{"forbidden", "The credential does not grant this", http.StatusForbidden, 6, true}},
	{store.ErrBudget, Entry{"budget", "The budget cannot be met", http.StatusUnprocessableEntity, 7, true}},
	{store.ErrCorrupt, Entry{"corrupt", "Stored data cannot be read back", http.StatusInternalServerError, 8, false}},
	{store.ErrLocked, Entry{"locked", "Another process holds the data directory", http.StatusServiceUnavailable, 9, false}},
	{modelstore.ErrNotInstalled, Entry{"unavailable", "A part of the service cannot be reached now", http.StatusServiceUnavailable, 5, false}},
	{embed.ErrUnavailable, Entry{"unavailable", "A part of the service cannot be reached now", http.StatusServiceUnavailable, 5, false}},
	{embed.ErrInvalid, Entry{"embedder", "The embedder is set up wrongly", http.StatusInternalServerError, 2, false}},
	{embed.ErrDamaged, Entry{"corrupt", "Stored data cannot be read back", http.StatusInternalServerError, 8, false}},
	{store.ErrClosed, Entry{"closed", "The service is shutting down", http.StatusServiceUnavailable, 5, false}},
	{context.DeadlineExceeded, Entry{"timeout", "The request took too long", http.StatusGatewayTimeout, 5, false}},
	{context.Canceled, Entry{"canceled", "The request was given up", 499, 130, false}},
}

// internal is what everything else is.
var internal = Entry{"internal", "Something went wrong on our side", http.StatusInternalServerError, ExitInternal, false}

// Of returns the entry of an error: that of the first sentinel in the table that it wraps, else the internal one.
func Of(err error) Entry {
	for _, r := range table {
		if errors.Is(err, r.err) {
			return r.entry
		}
	}
	return internal
}

// Exit returns the exit code of an error, 0 for nil.
func Exit(err error) int {
	if err == nil {
		return ExitOK
	}
	return Of(err).Exit
}

// ExitCodes describes the exit codes for a help text, in the order of the table.
func ExitCodes() []Entry {
	entries := []Entry{internal}
	seen := map[int]bool{}
	for _, r := range table {
		if !seen[r.entry.Exit] {
			seen[r.entry.Exit] = true
			entries = append(entries, r.entry)
		}
	}
	return entries
}
