package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// AdminConsolidate begins a consolidation.
func (h *handlers) AdminConsolidate(ctx context.Context, r api.AdminConsolidateRequestObject) (api.AdminConsolidateResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	b := r.Body
	op, err := c.Consolidate(ctx, evoke.ConsolidateRequest{User: value(b.User), Agent: value(b.Agent), DryRun: value(b.DryRun), Merge: value(b.Merge), Policy: b.Policy})
	if err != nil {
		return nil, err
	}
	return api.AdminConsolidate202JSONResponse{Operation: op}, nil
}

// Sources lists what a summary stands for.
func (h *handlers) Sources(ctx context.Context, r api.SourcesRequestObject) (api.SourcesResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	items, err := c.Sources(ctx, c.who, r.Id)
	if err != nil {
		return nil, err
	}
	return api.Sources200JSONResponse(page(items, "")), nil
}
