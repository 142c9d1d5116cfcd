package server

import (
	"context"
	"fmt"
	"time"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server/api"
	"evoke/store"
)

// installation is what is above tenants, for a caller who may. It is the only way from a handler to it.
func (h *handlers) installation(ctx context.Context) (*evoke.Installation, error) {
	if p, ok := principalOf(ctx); !ok || !p.allows(config.Installation) {
		return nil, fmt.Errorf("%w: the call has no caller who may", store.ErrTenant)
	}
	m, err := h.tenants(h.set.Tenant)
	if err != nil {
		return nil, err
	}
	return m.Installation(), nil
}

// Tenants lists the tenants.
func (h *handlers) Tenants(ctx context.Context, r api.TenantsRequestObject) (api.TenantsResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	res, err := all.Tenants(ctx, evoke.TenantsRequest{Limit: value(r.Params.Limit), Cursor: value(r.Params.Cursor)})
	if err != nil {
		return nil, err
	}
	return api.Tenants200JSONResponse(res), nil
}

// CreateTenant makes a tenant known.
func (h *handlers) CreateTenant(ctx context.Context, r api.CreateTenantRequestObject) (api.CreateTenantResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	t, err := all.CreateTenant(ctx, r.Body.Name)
	if err != nil {
		return nil, err
	}
	return api.CreateTenant201JSONResponse(t), nil
}

// Tenant shows one.
func (h *handlers) Tenant(ctx context.Context, r api.TenantRequestObject) (api.TenantResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	t, err := all.Tenant(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.Tenant200JSONResponse(t), nil
}

// DisableTenant has everything of a tenant refused.
func (h *handlers) DisableTenant(ctx context.Context, r api.DisableTenantRequestObject) (api.DisableTenantResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	t, err := all.DisableTenant(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.DisableTenant200JSONResponse(t), nil
}

// EnableTenant ends a DisableTenant.
func (h *handlers) EnableTenant(ctx context.Context, r api.EnableTenantRequestObject) (api.EnableTenantResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	t, err := all.EnableTenant(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.EnableTenant200JSONResponse(t), nil
}

// TenantKeys lists a tenant's keys.
func (h *handlers) TenantKeys(ctx context.Context, r api.TenantKeysRequestObject) (api.TenantKeysResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := all.Keys(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.TenantKeys200JSONResponse{Keys: keys}, nil
}

// CreateTenantKey makes a key of a tenant.
func (h *handlers) CreateTenantKey(ctx context.Context, r api.CreateTenantKeyRequestObject) (api.CreateTenantKeyResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	made, err := all.CreateKey(ctx, r.Id, keyRequest(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateTenantKey201JSONResponse(made), nil
}

// RotateTenantKey gives a key of a tenant a new secret.
func (h *handlers) RotateTenantKey(ctx context.Context, r api.RotateTenantKeyRequestObject) (api.RotateTenantKeyResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	made, err := all.RotateKey(ctx, r.Id, r.Key, time.Duration(value(r.Params.Grace))*time.Second)
	if err != nil {
		return nil, err
	}
	return api.RotateTenantKey200JSONResponse(made), nil
}

// RevokeTenantKey ends a key of a tenant.
func (h *handlers) RevokeTenantKey(ctx context.Context, r api.RevokeTenantKeyRequestObject) (api.RevokeTenantKeyResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	k, err := all.RevokeKey(ctx, r.Id, r.Key)
	if err != nil {
		return nil, err
	}
	return api.RevokeTenantKey200JSONResponse(k), nil
}

// InstallationAudit lists what was done to tenants.
func (h *handlers) InstallationAudit(ctx context.Context, r api.InstallationAuditRequestObject) (api.InstallationAuditResponseObject, error) {
	all, err := h.installation(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := all.Audit(ctx, evoke.AuditRequest{Verb: value(p.Verb), From: value(p.From), To: value(p.To), Limit: value(p.Limit), Cursor: value(p.Cursor)})
	if err != nil {
		return nil, err
	}
	return api.InstallationAudit200JSONResponse(res), nil
}

// keyRequest is what a body asks for.
func keyRequest(b *api.KeyRequest) evoke.KeyRequest {
	return evoke.KeyRequest{Name: b.Name, Role: b.Role, Agents: value(b.Agents), Users: value(b.Users), ExpiresAt: value(b.ExpiresAt)}
}
