package server

import (
	"context"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/store/lifecycle"
)

// AdminDiff tells what became of a memory between two moments.
func (h *handlers) AdminDiff(ctx context.Context, r api.AdminDiffRequestObject) (api.AdminDiffResponseObject, error) {
	p := r.Params
	c, err := h.call(ctx, p.User, p.Agent, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Diff(ctx, evoke.DiffRequest{Who: c.who, From: p.From, To: value(p.To), Limit: value(p.Limit), Cursor: value(p.Cursor)})
	if err != nil {
		return nil, err
	}
	return api.AdminDiff200JSONResponse(res), nil
}

// AdminUndo takes a batch of writes back, or tells what that would do.
func (h *handlers) AdminUndo(ctx context.Context, r api.AdminUndoRequestObject) (api.AdminUndoResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, nil)
	if err != nil {
		return nil, err
	}
	p, _ := principalOf(ctx)
	res, err := c.Undo(ctx, evoke.UndoRequest{
		Who: c.who, DryRun: value(b.DryRun), Everywhere: value(b.Operation) != "" && c.who.User == "" && c.who.Agent == "" && p.grantsTenant(),
		Batch: lifecycle.Batch{Source: value(b.Source), Thread: value(b.Thread), Extractor: value(b.Extractor), Operation: value(b.Operation), From: value(b.From), To: value(b.To)},
	})
	if err != nil {
		return nil, err
	}
	if res.Preview != nil {
		return api.AdminUndo200JSONResponse(res), nil
	}
	return api.AdminUndo202JSONResponse(res), nil
}
