package server

import (
	"context"
	"errors"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// queue does something to the tenant's queue, if anything, and tells how it stands.
func (h *handlers) queue(ctx context.Context, do func(context.Context, Memory) error) (evoke.QueueState, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return evoke.QueueState{}, err
	}
	if do != nil {
		if err := do(ctx, c.Memory); err != nil {
			return evoke.QueueState{}, err
		}
	}
	return c.QueueStats(ctx)
}

// AdminQueue tells how the tenant's queue stands.
func (h *handlers) AdminQueue(ctx context.Context, _ api.AdminQueueRequestObject) (api.AdminQueueResponseObject, error) {
	st, err := h.queue(ctx, nil)
	if err != nil {
		return nil, err
	}
	return api.AdminQueue200JSONResponse(st), nil
}

// AdminPause lets no further extraction of the tenant begin.
func (h *handlers) AdminPause(ctx context.Context, _ api.AdminPauseRequestObject) (api.AdminPauseResponseObject, error) {
	st, err := h.queue(ctx, func(ctx context.Context, m Memory) error { return m.Pause(ctx) })
	if err != nil {
		return nil, err
	}
	return api.AdminPause200JSONResponse(st), nil
}

// AdminResume ends a pause.
func (h *handlers) AdminResume(ctx context.Context, _ api.AdminResumeRequestObject) (api.AdminResumeResponseObject, error) {
	st, err := h.queue(ctx, func(ctx context.Context, m Memory) error { return m.Resume(ctx) })
	if err != nil {
		return nil, err
	}
	return api.AdminResume200JSONResponse(st), nil
}

// drainSeconds is how long a drain waits that says nothing else.
const drainSeconds = 20

// AdminDrain pauses and waits for what runs. When the time is over before that ends the answer says what still runs.
func (h *handlers) AdminDrain(ctx context.Context, r api.AdminDrainRequestObject) (api.AdminDrainResponseObject, error) {
	seconds := r.Params.Wait
	if seconds == nil {
		seconds = new(float32)
		*seconds = drainSeconds
	}
	wait := h.wait(seconds)
	st, err := h.queue(ctx, func(ctx context.Context, m Memory) error {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		err := m.Drain(limited)
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return m.Pause(ctx) // whatever the time allowed
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.AdminDrain200JSONResponse(st), nil
}
