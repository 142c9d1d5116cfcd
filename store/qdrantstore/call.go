package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"evoke/store"
)

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 500 * time.Millisecond
	patience   = 2 * time.Second // as long as a connection takes to come back after a restart
)

// call makes a call that may be repeated: it does so for a while when the server cannot be reached, within the call's time.
// The client takes another of its connections each time.
func call[T any](ctx context.Context, db *DB, op string, f func(context.Context) (T, error)) (T, error) {
	inner, cancel := context.WithTimeout(ctx, db.set.Timeout)
	defer cancel()
	pause, start := firstPause, time.Now()
	for {
		v, err := f(inner)
		if err == nil || code(err) != codes.Unavailable || time.Since(start) > patience || !sleep(inner, jitter(pause)) {
			return v, db.wrap(ctx, op, err)
		}
		pause = min(2*pause, maxPause)
	}
}

// once makes a call that must not be repeated blindly.
func (db *DB) once(ctx context.Context, op string, f func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, db.set.Timeout)
	defer cancel()
	return db.wrap(ctx, op, f(inner))
}

func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// sleep pauses; false when the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// code is the gRPC status of an error, also where the client wrapped it.
func code(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	var limited *qdrant.QdrantResourceExhaustedError
	if errors.As(err, &limited) {
		return codes.ResourceExhausted
	}
	return status.Code(err)
}

// errNotFound: the server knows no such point or collection. It leaves the package only as ErrUnavailable.
var errNotFound = fmt.Errorf("%w: the collection or a point is gone", store.ErrUnavailable)

// errTooLarge: the reply exceeds maxReply. Callers ask for less.
var errTooLarge = fmt.Errorf("%w: the server's reply is too large, or it limits requests", store.ErrUnavailable)

// wrap says what failed and gives the server's errors the project's meaning. ctx is the caller's.
func (db *DB) wrap(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", op, cause)
	}
	var limited *qdrant.QdrantResourceExhaustedError
	if errors.As(err, &limited) {
		return fmt.Errorf("%s: %w: the server limits requests, repeat in %d s", op, store.ErrUnavailable, limited.RetryAfterS)
	}
	switch code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Aborted, codes.Internal:
		return fmt.Errorf("%s: %w: %w", op, store.ErrUnavailable, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%s: %w: the server refuses the API key: check store.api_key: %w", op, store.ErrUnavailable, err)
	case codes.NotFound:
		return fmt.Errorf("%s: %w: %w", op, errNotFound, err)
	case codes.ResourceExhausted:
		return fmt.Errorf("%s: %w: %w", op, errTooLarge, err)
	case codes.DataLoss:
		return fmt.Errorf("%s: %w: %w", op, store.ErrCorrupt, err)
	default: // a request that the server refuses is a fault of this package
		return fmt.Errorf("%s: %w", op, err)
	}
}

// completed refuses every status of an update but Completed: a server that gave up waiting applies it later, or not.
func completed(op string, rs ...*qdrant.UpdateResult) error {
	for _, r := range rs {
		if s := r.GetStatus(); s != qdrant.UpdateStatus_Completed {
			return fmt.Errorf("%s: %w: the server has not applied it yet (%s): repeat it", op, store.ErrUnavailable, s)
		}
	}
	return nil
}

// each runs f for 0…n-1, at most width at a time, waits for all and returns the first error by number.
func each(n, width int, f func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, width)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(i)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
