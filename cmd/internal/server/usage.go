package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// Usage tells what the tenant took of hosted models.
func (h *handlers) Usage(ctx context.Context, r api.UsageRequestObject) (api.UsageResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Usage(ctx, evoke.UsageRequest{From: value(r.Params.From), To: value(r.Params.To)})
	if err != nil {
		return nil, err
	}
	return api.Usage200JSONResponse(res), nil
}
