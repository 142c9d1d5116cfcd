package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
)

// AdminRestore brings back what was softly forgotten.
func (h *handlers) AdminRestore(ctx context.Context, r api.AdminRestoreRequestObject) (api.AdminRestoreResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, b.Thread)
	if err != nil {
		return nil, err
	}
	res, err := c.Restore(ctx, evoke.RestoreRequest{Who: c.who, IDs: value(b.Ids), Batch: value(b.Batch), Filter: b.Filter, All: value(b.All), DryRun: value(b.DryRun)})
	if err != nil {
		return nil, err
	}
	return api.AdminRestore200JSONResponse(res), nil
}

// AdminRestoreBatch brings back all that one call or operation took, or counts it.
func (h *handlers) AdminRestoreBatch(ctx context.Context, r api.AdminRestoreBatchRequestObject) (api.AdminRestoreBatchResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if value(r.Body.DryRun) {
		res, err := c.Restore(ctx, evoke.RestoreRequest{Batch: r.Body.Batch, DryRun: true, Everywhere: true})
		if err != nil {
			return nil, err
		}
		return api.AdminRestoreBatch200JSONResponse(res), nil
	}
	op, err := c.RestoreBatch(ctx, r.Body.Batch)
	if err != nil {
		return nil, err
	}
	return api.AdminRestoreBatch202JSONResponse{Operation: op}, nil
}

// AdminForgotten lists what is softly forgotten.
func (h *handlers) AdminForgotten(ctx context.Context, r api.AdminForgottenRequestObject) (api.AdminForgottenResponseObject, error) {
	p := r.Params
	c, err := h.call(ctx, p.User, p.Agent, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Forgotten(ctx, evoke.ListRequest{Who: c.who, Limit: value(p.Limit), Cursor: value(p.Cursor)})
	if err != nil {
		return nil, err
	}
	return api.AdminForgotten200JSONResponse(page(res.Items, res.Next)), nil
}

// AdminRetain begins a retention.
func (h *handlers) AdminRetain(ctx context.Context, r api.AdminRetainRequestObject) (api.AdminRetainResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	b := r.Body
	op, err := c.Retain(ctx, evoke.RetainRequest{User: value(b.User), Agent: value(b.Agent), DryRun: value(b.DryRun), Policy: b.Policy})
	if err != nil {
		return nil, err
	}
	return api.AdminRetain202JSONResponse{Operation: op}, nil
}

// AdminPurge begins a purge.
func (h *handlers) AdminPurge(ctx context.Context, _ api.AdminPurgeRequestObject) (api.AdminPurgeResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	op, err := c.Purge(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminPurge202JSONResponse{Operation: op}, nil
}

// AdminHolds lists the legal holds.
func (h *handlers) AdminHolds(ctx context.Context, _ api.AdminHoldsRequestObject) (api.AdminHoldsResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	holds, err := c.Holds(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminHolds200JSONResponse{Holds: holds}, nil
}

// AdminAddHold places a legal hold.
func (h *handlers) AdminAddHold(ctx context.Context, r api.AdminAddHoldRequestObject) (api.AdminAddHoldResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	b := r.Body
	made, err := c.AddHold(ctx, evoke.LegalHold{ID: value(b.Id), User: value(b.User), Agent: value(b.Agent), Thread: value(b.Thread), Tenant: value(b.Tenant), Reason: b.Reason})
	if err != nil {
		return nil, err
	}
	return api.AdminAddHold201JSONResponse(made), nil
}

// AdminReleaseHold ends a legal hold.
func (h *handlers) AdminReleaseHold(ctx context.Context, r api.AdminReleaseHoldRequestObject) (api.AdminReleaseHoldResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := c.ReleaseHold(ctx, r.Id); err != nil {
		return nil, err
	}
	return api.AdminReleaseHold204Response{}, nil
}

// AdminSchedules lists what starts again and again.
func (h *handlers) AdminSchedules(ctx context.Context, _ api.AdminSchedulesRequestObject) (api.AdminSchedulesResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	list, err := c.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	return api.AdminSchedules200JSONResponse{Schedules: list}, nil
}

// AdminSetSchedule sets a schedule.
func (h *handlers) AdminSetSchedule(ctx context.Context, r api.AdminSetScheduleRequestObject) (api.AdminSetScheduleResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	s, err := c.SetSchedule(ctx, evoke.Schedule{Name: r.Id, EveryHours: r.Body.EveryHours, Next: value(r.Body.Next)})
	if err != nil {
		return nil, err
	}
	return api.AdminSetSchedule200JSONResponse(s), nil
}

// AdminDropSchedule ends a schedule.
func (h *handlers) AdminDropSchedule(ctx context.Context, r api.AdminDropScheduleRequestObject) (api.AdminDropScheduleResponseObject, error) {
	c, err := h.tenantCall(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := c.DropSchedule(ctx, r.Id); err != nil {
		return nil, err
	}
	return api.AdminDropSchedule204Response{}, nil
}
