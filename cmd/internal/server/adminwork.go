package server

import (
	"context"
	"errors"
	"time"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/store"
)

// AdminErase begins an erasure.
func (h *handlers) AdminErase(ctx context.Context, r api.AdminEraseRequestObject) (api.AdminEraseResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	b := r.Body
	op, err := c.Erase(ctx, evoke.EraseRequest{User: value(b.User), Agent: value(b.Agent), Tenant: value(b.Tenant), Thread: value(b.Thread), Filter: b.Filter})
	if err != nil {
		return nil, err
	}
	return api.AdminErase202JSONResponse{Operation: op}, nil
}

// AdminOperations lists the tenant's long work.
func (h *handlers) AdminOperations(ctx context.Context, r api.AdminOperationsRequestObject) (api.AdminOperationsResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := c.Operations(ctx, evoke.OperationsRequest{Kind: value(p.Kind), State: value(p.State), Limit: value(p.Limit), Cursor: value(p.Cursor)})
	if err != nil {
		return nil, err
	}
	return api.AdminOperations200JSONResponse(res), nil
}

// AdminOperation tells where an operation stands, when it has ended or the time given is over.
func (h *handlers) AdminOperation(ctx context.Context, r api.AdminOperationRequestObject) (api.AdminOperationResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	op, err := c.Operation(ctx, r.Id)
	if wait := h.wait(r.Params.Wait); err == nil && !op.State.Ended() && wait > 0 {
		op, err = waitFor(ctx, c, r.Id, wait)
	}
	if err != nil {
		return nil, err
	}
	return api.AdminOperation200JSONResponse{Operation: op}, nil
}

func waitFor(ctx context.Context, c call, id string, wait time.Duration) (store.Operation, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	op, err := c.WaitOperation(limited, id)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return c.Operation(ctx, id)
	}
	return op, err
}

// AdminCancelOperation asks an operation to end.
func (h *handlers) AdminCancelOperation(ctx context.Context, r api.AdminCancelOperationRequestObject) (api.AdminCancelOperationResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	op, err := c.CancelOperation(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.AdminCancelOperation200JSONResponse{Operation: op}, nil
}

// AdminRetryOperation runs an operation again.
func (h *handlers) AdminRetryOperation(ctx context.Context, r api.AdminRetryOperationRequestObject) (api.AdminRetryOperationResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	op, err := c.RetryOperation(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return api.AdminRetryOperation200JSONResponse{Operation: op}, nil
}

// AdminStats tells what the tenant has.
func (h *handlers) AdminStats(ctx context.Context, r api.AdminStatsRequestObject) (api.AdminStatsResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	users := evoke.TenantStatsRequest{}
	if n := r.Params.Users; n != nil {
		if users.Users = *n; *n == 0 {
			users.Users = -1
		}
	}
	st, err := c.TenantStats(ctx, users)
	if err != nil {
		return nil, err
	}
	return api.AdminStats200JSONResponse(st), nil
}

// AdminAudit lists who did what.
func (h *handlers) AdminAudit(ctx context.Context, r api.AdminAuditRequestObject) (api.AdminAuditResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	p := r.Params
	res, err := c.Audit(ctx, evoke.AuditRequest{
		Verb: value(p.Verb), User: value(p.User), From: value(p.From), To: value(p.To), Limit: value(p.Limit), Cursor: value(p.Cursor),
	})
	if err != nil {
		return nil, err
	}
	return api.AdminAudit200JSONResponse(res), nil
}
