package errmap_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"evoke/cmd/internal/errmap"
	"evoke/store"
)

func TestEverySentinelHasItsOwnEntry(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		exit   int
	}{
		{store.ErrInvalid, 400, 2}, {store.Invalid("limit", "from 1 to 1000", "-1"), 400, 2}, {store.ErrNotFound, 404, 3},
		{store.ErrConflict, 409, 4}, {store.ErrUnavailable, 503, 5}, {store.ErrTenant, 403, 6}, {store.ErrBudget, 422, 7},
		{store.ErrCorrupt, 500, 8}, {store.ErrLocked, 503, 9}, {store.ErrClosed, 503, 5},
		{context.DeadlineExceeded, 504, 5}, {context.Canceled, 499, 130}, {errors.New("what"), 500, 1},
	} {
		e := errmap.Of(fmt.Errorf("ingest: %w", c.err))
		if e.Status != c.status || e.Exit != c.exit || errmap.Exit(c.err) != c.exit {
			t.Errorf("%v: status %d exit %d, want %d and %d", c.err, e.Status, e.Exit, c.status, c.exit)
		}
		if e.Title == "" || e.Class == "" {
			t.Errorf("%v: no title or class", c.err)
		}
	}
	if errmap.Exit(nil) != 0 {
		t.Error("no error must exit with 0")
	}
}

// What an internal error says may name our files and addresses; it must not reach a remote caller.
func TestOnlyTheCallersFaultsAreDetailed(t *testing.T) {
	for _, err := range []error{store.ErrCorrupt, store.ErrUnavailable, store.ErrLocked, errors.New("open /home/x: denied")} {
		if errmap.Of(err).Detail {
			t.Errorf("%v: its text would be shown to a remote caller", err)
		}
	}
}

func TestExitCodesAreListedOnce(t *testing.T) {
	seen := map[int]bool{errmap.ExitOK: true}
	for _, e := range errmap.ExitCodes() {
		if seen[e.Exit] {
			t.Errorf("exit code %d is listed twice", e.Exit)
		}
		seen[e.Exit] = true
		if e.Type() != "urn:evoke:problem:"+e.Class {
			t.Errorf("type %s of class %s", e.Type(), e.Class)
		}
	}
	if len(seen) < 9 || !seen[errmap.ExitInternal] {
		t.Errorf("only %d exit codes", len(seen))
	}
}
