package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/store"
)

// AdminQuarantine lists what waits for review in the tenant.
func (h *handlers) AdminQuarantine(ctx context.Context, r api.AdminQuarantineRequestObject) (api.AdminQuarantineResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := c.Quarantined(ctx, evoke.QuarantineRequest{
		Who: evoke.Who{User: value(p.User), Agent: value(p.Agent), Thread: value(p.Thread)}, Extractor: value(p.Extractor), Reason: value(p.Reason),
		Category: store.Category(value(p.Category)), Before: value(p.Before), Limit: value(p.Limit), Cursor: value(p.Cursor),
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
	var res evoke.ApproveResult
	if r.Body.Ids != nil {
		res, err = c.Approve(ctx, *r.Body.Ids)
	} else {
		res, err = c.ApproveAll(ctx, reviewAll(r.Body))
	}
	if err != nil {
		return nil, err
	}
	return api.AdminApprove200JSONResponse(res), nil
}

func reviewAll(b *api.ReviewRequest) evoke.ReviewAllRequest {
	return evoke.ReviewAllRequest{
		Filter: evoke.ReviewFilter{
			Who: evoke.Who{User: value(b.User), Agent: value(b.Agent), Thread: value(b.Thread)}, Extractor: value(b.Extractor), Reason: value(b.Reason),
			Category: store.Category(value(b.Category)), Before: value(b.Before),
		},
		Limit: value(b.Limit), Cursor: value(b.Cursor),
	}
}

// AdminEditProposal puts a person's words in the place of what an entry would store.
func (h *handlers) AdminEditProposal(ctx context.Context, r api.AdminEditProposalRequestObject) (api.AdminEditProposalResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	b := r.Body
	e, err := c.EditProposal(ctx, evoke.EditProposalRequest{ID: b.Id, Content: b.Content, Category: b.Category, Importance: b.Importance})
	if err != nil {
		return nil, err
	}
	return api.AdminEditProposal200JSONResponse(e), nil
}

// AdminReject removes entries from quarantine.
func (h *handlers) AdminReject(ctx context.Context, r api.AdminRejectRequestObject) (api.AdminRejectResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	var res evoke.RejectResult
	if r.Body.Ids != nil {
		res, err = c.Reject(ctx, *r.Body.Ids)
	} else {
		res, err = c.RejectAll(ctx, reviewAll(r.Body))
	}
	if err != nil {
		return nil, err
	}
	return api.AdminReject200JSONResponse(res), nil
}
