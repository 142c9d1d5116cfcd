package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// AdminEvents lists events of the tenant.
func (h *handlers) AdminEvents(ctx context.Context, r api.AdminEventsRequestObject) (api.AdminEventsResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := c.Events(ctx, evoke.EventsRequest{
		Who:   evoke.Who{User: value(p.User), Agent: value(p.Agent), Thread: value(p.Thread)},
		State: value(p.State), Limit: value(p.Limit), Cursor: value(p.Cursor),
	})
	if err != nil {
		return nil, err
	}
	return api.AdminEvents200JSONResponse(res), nil
}

// AdminRetryEvents gives dead events another try.
func (h *handlers) AdminRetryEvents(ctx context.Context, r api.AdminRetryEventsRequestObject) (api.AdminRetryEventsResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.RetryEvents(ctx, r.Body.Ids)
	if err != nil {
		return nil, err
	}
	return api.AdminRetryEvents200JSONResponse(res), nil
}
