package store

import (
	"errors"
	"fmt"
)

// The sentinels of the project. Everything that reaches a caller wraps exactly one of them, or is internal.
var (
	// ErrNotFound: no such item, thread or event within the scope. Another tenant's id is not found either.
	ErrNotFound = errors.New("not found")
	// ErrForgotten is ErrNotFound of an item that is softly forgotten: it can be restored.
	ErrForgotten = fmt.Errorf("%w: it was softly forgotten", ErrNotFound)
	// ErrConflict: the id or the idempotency key is taken by something else.
	ErrConflict = errors.New("conflict")
	// ErrInvalid: the caller's input is out of its range. The message names the field, the limit and the mend.
	ErrInvalid = errors.New("invalid")
	// ErrUnavailable: a backend, embedder or model cannot be reached now; the same call may succeed later.
	ErrUnavailable = errors.New("unavailable")
	// ErrTenant: the scope has no tenant, or the credential does not grant what the call names.
	ErrTenant = errors.New("tenant")
	// ErrBudget: a token budget or quota cannot be met.
	ErrBudget = errors.New("budget")
	// ErrCorrupt: stored data cannot be read back. It is reported and left alone.
	ErrCorrupt = errors.New("corrupt")
	// ErrLocked: another process holds the data directory.
	ErrLocked = errors.New("locked")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("closed")
)

// FieldError says which input was refused and how to mend it. It is an ErrInvalid.
type FieldError struct {
	Field string // "importance", "messages[3].role"
	Want  string // "a number from 0 to 1"
	Got   string // a short, safe form of what came; never content
}

func (e *FieldError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: must be %s", e.Field, e.Want)
	}
	return fmt.Sprintf("%s: must be %s, got %s", e.Field, e.Want, e.Got)
}

// Is makes every FieldError an ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Invalid returns a FieldError.
func Invalid(field, want, got string) error { return &FieldError{Field: field, Want: want, Got: got} }
