package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// Profile answers what is known of a user as a whole.
func (h *handlers) Profile(ctx context.Context, r api.ProfileRequestObject) (api.ProfileResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Profile(ctx, evoke.ProfileRequest{Who: c.who, AsOf: value(r.Params.AsOf), Known: value(r.Params.KnownAt)})
	if err != nil {
		return nil, err
	}
	return api.Profile200JSONResponse(res), nil
}
