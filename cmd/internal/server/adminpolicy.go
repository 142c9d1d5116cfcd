package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// AdminPolicy tells what the tenant has set for itself and what holds.
func (h *handlers) AdminPolicy(ctx context.Context, _ api.AdminPolicyRequestObject) (api.AdminPolicyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p, err := c.TenantPolicy(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminPolicy200JSONResponse(p), nil
}

// AdminSetPolicy puts a policy in the place of the one before.
func (h *handlers) AdminSetPolicy(ctx context.Context, r api.AdminSetPolicyRequestObject) (api.AdminSetPolicyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p, err := c.SetPolicy(ctx, evoke.SetPolicyRequest{Policy: r.Body.Policy, Version: r.Body.Version})
	if err != nil {
		return nil, err
	}
	return api.AdminSetPolicy200JSONResponse(p), nil
}

// AdminResetPolicy takes everything out of the policy.
func (h *handlers) AdminResetPolicy(ctx context.Context, r api.AdminResetPolicyRequestObject) (api.AdminResetPolicyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p, err := c.ResetPolicy(ctx, r.Params.Version)
	if err != nil {
		return nil, err
	}
	return api.AdminResetPolicy200JSONResponse(p), nil
}

// AdminPolicyHistory lists the tenant's policies.
func (h *handlers) AdminPolicyHistory(ctx context.Context, _ api.AdminPolicyHistoryRequestObject) (api.AdminPolicyHistoryResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	list, err := c.PolicyHistory(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminPolicyHistory200JSONResponse{Versions: list}, nil
}
