package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// Outcome counts how it went to do what a procedural item says.
func (h *handlers) Outcome(ctx context.Context, r api.OutcomeRequestObject) (api.OutcomeResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, nil)
	if err != nil {
		return nil, err
	}
	it, err := c.Outcome(ctx, evoke.OutcomeRequest{
		Who: c.who, ID: r.Id, Outcome: b.Outcome, At: value(b.At), IdempotencyKey: value(r.Params.IdempotencyKey),
	})
	if err != nil {
		return nil, err
	}
	return api.Outcome200JSONResponse(it), nil
}
