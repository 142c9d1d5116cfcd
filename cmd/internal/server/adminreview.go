package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// AdminQuarantine lists what waits for review in the tenant.
func (h *handlers) AdminQuarantine(ctx context.Context, r api.AdminQuarantineRequestObject) (api.AdminQuarantineResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := c.Quarantined(ctx, evoke.QuarantineRequest{
		Who: evoke.Who{User: value(p.User), Agent: value(p.Agent)}, Limit: value(p.Limit), Cursor: value(p.Cursor),
	})
	if err != nil {
		return nil, err
	}
	return api.AdminQuarantine200JSONResponse(res), nil
}

// AdminApprove stores what a person vouches for.
func (h *handlers) AdminApprove(ctx context.Context, r api.AdminApproveRequestObject) (api.AdminApproveResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Approve(ctx, r.Body.Ids)
	if err != nil {
		return nil, err
	}
	return api.AdminApprove200JSONResponse(res), nil
}

// AdminReject removes entries from quarantine.
func (h *handlers) AdminReject(ctx context.Context, r api.AdminRejectRequestObject) (api.AdminRejectResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Reject(ctx, r.Body.Ids)
	if err != nil {
		return nil, err
	}
	return api.AdminReject200JSONResponse(res), nil
}
