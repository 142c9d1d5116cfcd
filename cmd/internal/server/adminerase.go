package server

import (
	"context"

	"evoke/cmd/internal/server/api"
)

// AdminReceipt returns the receipt of an erasure.
func (h *handlers) AdminReceipt(ctx context.Context, r api.AdminReceiptRequestObject) (api.AdminReceiptResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	receipt, err := c.Receipt(ctx, r.Operation)
	if err != nil {
		return nil, err
	}
	return api.AdminReceipt200JSONResponse(receipt), nil
}

// AdminVerifyReceipt checks a receipt.
func (h *handlers) AdminVerifyReceipt(ctx context.Context, r api.AdminVerifyReceiptRequestObject) (api.AdminVerifyReceiptResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	receipt, err := c.VerifyReceipt(ctx, *r.Body)
	if err != nil {
		return nil, err
	}
	return api.AdminVerifyReceipt200JSONResponse(receipt), nil
}

// AdminLiftErasure lets what was erased be taken in again.
func (h *handlers) AdminLiftErasure(ctx context.Context, r api.AdminLiftErasureRequestObject) (api.AdminLiftErasureResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	n, err := c.LiftErasure(ctx, r.Body.Operation)
	if err != nil {
		return nil, err
	}
	return api.AdminLiftErasure200JSONResponse{Tombstones: n}, nil
}
