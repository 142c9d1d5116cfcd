package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/store"
)

// Forget removes one item; one that is not there is not found.
func (h *handlers) Forget(ctx context.Context, r api.ForgetRequestObject) (api.ForgetResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Forget(ctx, evoke.ForgetRequest{Who: c.who, IDs: []string{r.Id}})
	if err != nil {
		return nil, err
	}
	if res.Forgotten == 0 {
		return nil, fmt.Errorf("item: %w in this memory; user and agent say whose it is", store.ErrNotFound)
	}
	return api.Forget200JSONResponse(res), nil
}

// AdminForget removes items by ids, by a filter, or all of a memory.
func (h *handlers) AdminForget(ctx context.Context, r api.AdminForgetRequestObject) (api.AdminForgetResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, b.Thread)
	if err != nil {
		return nil, err
	}
	req := evoke.ForgetRequest{Who: c.who, IDs: value(b.Ids), Filter: b.Filter, Query: value(b.Query), All: value(b.All), DryRun: value(b.DryRun), Soft: value(b.Soft), Until: value(b.Until)}
	if err := h.notTooMuch(ctx, c, req); err != nil {
		return nil, err
	}
	res, err := c.Forget(ctx, req)
	if err != nil {
		return nil, err
	}
	return api.AdminForget200JSONResponse(res), nil
}

// mostForgotten bounds what one request forgets: it is to end within its time, and more is an operation's work.
const mostForgotten = 10_000

// notTooMuch refuses to forget more at once than a request has time for.
func (h *handlers) notTooMuch(ctx context.Context, c call, r evoke.ForgetRequest) error {
	if r.DryRun || !r.All && r.Filter == nil {
		return nil
	}
	r.DryRun = true
	would, err := c.Forget(ctx, r)
	if err != nil {
		return err
	}
	if n := would.Forgotten; n > h.mostForgotten {
		return invalid(fmt.Sprintf("filter: selects %d items, and one request forgets at most %d (narrow it, or use /v1/admin/erase, which is an operation)", n, h.mostForgotten))
	}
	return nil
}

// AdminExport streams a memory, or the tenant.
func (h *handlers) AdminExport(ctx context.Context, r api.AdminExportRequestObject) (api.AdminExportResponseObject, error) {
	c, err := h.tenantCall(ctx, r.Params.User, r.Params.Agent)
	if err != nil {
		return nil, err
	}
	return export{ctx, c, h.timeout}, nil
}

// export writes the lines as they are read, so that a large memory needs little of ours.
type export struct {
	ctx  context.Context // of the one request that it answers
	c    call
	idle time.Duration // how long a client may take for one write
}

// VisitAdminExportResponse writes the answer. When the export fails midway the connection is cut: a client must not take
// half of it for the whole.
func (e export) VisitAdminExportResponse(w http.ResponseWriter) error {
	started := &firstWrite{w: w, control: http.NewResponseController(w), idle: e.idle}
	_, err := e.c.Export(e.ctx, e.c.who, started)
	if err != nil && started.done {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the way to cut a connection in net/http
	}
	if err == nil && !started.done {
		started.begin()
	}
	return err
}

// firstWrite sends the head with the first line, so that a failure before it can still be a problem. A client that does
// not read is given up.
type firstWrite struct {
	w       http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	done    bool
}

func (f *firstWrite) begin() {
	f.done = true
	f.w.Header().Set("Content-Type", "application/x-ndjson")
	f.w.WriteHeader(http.StatusOK)
}

func (f *firstWrite) Write(p []byte) (int, error) {
	if !f.done {
		f.begin()
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(f.idle)) // see bound
	return f.w.Write(p)
}

// AdminImport reads items from JSON Lines, or from another system's file.
func (h *handlers) AdminImport(ctx context.Context, r api.AdminImportRequestObject) (api.AdminImportResponseObject, error) {
	c, err := h.tenantCall(ctx, r.Params.User, r.Params.Agent)
	if err != nil {
		return nil, err
	}
	var res evoke.ImportResult
	if r.Params.From == nil {
		res, err = c.Import(ctx, c.who, r.Body, nil)
	} else {
		res, err = c.ImportFrom(ctx, c.who, *r.Params.From, r.Body, nil)
	}
	if err != nil {
		return nil, err
	}
	return api.AdminImport200JSONResponse(res), nil
}
