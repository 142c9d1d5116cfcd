package server

import (
	"context"
	"time"

	"evoke/cmd/internal/server/api"
)

// AdminKeys lists the tenant's keys.
func (h *handlers) AdminKeys(ctx context.Context, _ api.AdminKeysRequestObject) (api.AdminKeysResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	keys, err := c.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminKeys200JSONResponse{Keys: keys}, nil
}

// AdminCreateKey makes a key.
func (h *handlers) AdminCreateKey(ctx context.Context, r api.AdminCreateKeyRequestObject) (api.AdminCreateKeyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	made, err := c.CreateKey(ctx, keyRequest(r.Body))
	if err != nil {
		return nil, err
	}
	return api.AdminCreateKey201JSONResponse(made), nil
}

// AdminRotateKey gives a key a new secret.
func (h *handlers) AdminRotateKey(ctx context.Context, r api.AdminRotateKeyRequestObject) (api.AdminRotateKeyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	made, err := c.RotateKey(ctx, r.Id, time.Duration(value(r.Params.Grace))*time.Second)
	if err != nil {
		return nil, err
	}
	return api.AdminRotateKey200JSONResponse(made), nil
}

// AdminRevokeKey ends a key.
func (h *handlers) AdminRevokeKey(ctx context.Context, r api.AdminRevokeKeyRequestObject) (api.AdminRevokeKeyResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	k, err := c.RevokeKey(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.AdminRevokeKey200JSONResponse(k), nil
}
