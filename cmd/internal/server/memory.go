package server

import (
	"context"
	"io"
	"time"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/lifecycle/foreign"
)

// Tenants opens the memory of one tenant. It is called for every request and must be cheap.
type Tenants func(tenant string) (Memory, error)

// Memory is what the server needs of the engine.
type Memory interface {
	Listener
	Keeper
	Searcher
	Mover
	Overseer
	Operator
	Retainer
	Consolidator
	Doorkeeper
	Historian
	Governor
}

// Governor knows what a tenant has decided for itself.
type Governor interface {
	TenantPolicy(ctx context.Context) (evoke.PolicyResult, error)
	SetPolicy(ctx context.Context, r evoke.SetPolicyRequest) (evoke.PolicyResult, error)
	ResetPolicy(ctx context.Context, version int64) (evoke.PolicyResult, error)
	PolicyHistory(ctx context.Context) ([]evoke.PolicyVersion, error)
}

// Historian shows what became of a memory, and takes batches of writes back.
type Historian interface {
	Diff(ctx context.Context, r evoke.DiffRequest) (evoke.DiffResult, error)
	Undo(ctx context.Context, r evoke.UndoRequest) (evoke.UndoResult, error)
}

// Listener takes conversations in.
type Listener interface {
	Ingest(ctx context.Context, r evoke.IngestRequest) (evoke.IngestResult, error)
	Event(ctx context.Context, id string, wait time.Duration) (store.Event, error)
	Flush(ctx context.Context, w evoke.Who) (int, error)
	FlushAll(ctx context.Context) (int, error)
}

// Keeper reads and changes single items.
type Keeper interface {
	Remember(ctx context.Context, r evoke.RememberRequest) (evoke.RememberResult, error)
	Get(ctx context.Context, w evoke.Who, id string) (store.Item, error)
	History(ctx context.Context, w evoke.Who, id string) ([]store.Item, error)
	Update(ctx context.Context, r evoke.UpdateRequest) (store.Item, error)
	Outcome(ctx context.Context, r evoke.OutcomeRequest) (store.Item, error)
}

// Searcher answers what is relevant.
type Searcher interface {
	Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error)
	Context(ctx context.Context, r evoke.ContextRequest) (evoke.ContextResult, error)
	ShownBlock(ctx context.Context, r evoke.BlockRequest) (store.ShownBlock, error)
	Feedback(ctx context.Context, r evoke.FeedbackRequest) (evoke.FeedbackResult, error)
	Stats(ctx context.Context, w evoke.Who) (evoke.Stats, error)
	StatsAt(ctx context.Context, r evoke.StatsRequest) (evoke.Stats, error)
	Profile(ctx context.Context, r evoke.ProfileRequest) (evoke.ProfileResult, error)
}

// Overseer shows and mends how the write path stands, of a whole tenant.
type Overseer interface {
	Events(ctx context.Context, r evoke.EventsRequest) (evoke.EventsResult, error)
	RetryEvents(ctx context.Context, ids []string) (evoke.RetryResult, error)
	QueueStats(ctx context.Context) (evoke.QueueState, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	Drain(ctx context.Context) error
	Usage(ctx context.Context, r evoke.UsageRequest) (evoke.UsageResult, error)
	Quarantined(ctx context.Context, r evoke.QuarantineRequest) (evoke.QuarantineResult, error)
	Approve(ctx context.Context, ids []string) (evoke.ApproveResult, error)
	Reject(ctx context.Context, ids []string) (evoke.RejectResult, error)
	ApproveAll(ctx context.Context, r evoke.ReviewAllRequest) (evoke.ApproveResult, error)
	RejectAll(ctx context.Context, r evoke.ReviewAllRequest) (evoke.RejectResult, error)
	EditProposal(ctx context.Context, r evoke.EditProposalRequest) (evoke.QuarantineEntry, error)
}

// Operator begins, shows and steers long work of a whole tenant, and shows who did what.
type Operator interface {
	Erase(ctx context.Context, r evoke.EraseRequest) (store.Operation, error)
	Receipt(ctx context.Context, operation string) (lifecycle.SignedReceipt, error)
	VerifyReceipt(ctx context.Context, s lifecycle.SignedReceipt) (lifecycle.Receipt, error)
	LiftErasure(ctx context.Context, operation string) (int, error)
	Operations(ctx context.Context, r evoke.OperationsRequest) (evoke.OperationsResult, error)
	Operation(ctx context.Context, id string) (store.Operation, error)
	WaitOperation(ctx context.Context, id string) (store.Operation, error)
	CancelOperation(ctx context.Context, id string) (store.Operation, error)
	RetryOperation(ctx context.Context, id string) (store.Operation, error)
	Denied(ctx context.Context, of string)
	Audit(ctx context.Context, r evoke.AuditRequest) (evoke.AuditResult, error)
	TenantStats(ctx context.Context, r evoke.TenantStatsRequest) (evoke.TenantStats, error)
}

// Consolidator puts summaries in the place of items.
type Consolidator interface {
	Consolidate(ctx context.Context, r evoke.ConsolidateRequest) (store.Operation, error)
	Sources(ctx context.Context, w evoke.Who, id string) ([]store.Item, error)
}

// Retainer says how long memories are kept, and brings back what was softly forgotten.
type Retainer interface {
	Restore(ctx context.Context, r evoke.RestoreRequest) (evoke.RestoreResult, error)
	RestoreBatch(ctx context.Context, batch string) (store.Operation, error)
	Forgotten(ctx context.Context, r evoke.ListRequest) (store.Page, error)
	Retain(ctx context.Context, r evoke.RetainRequest) (store.Operation, error)
	Purge(ctx context.Context) (store.Operation, error)
	Holds(ctx context.Context) ([]evoke.LegalHold, error)
	AddHold(ctx context.Context, h evoke.LegalHold) (evoke.LegalHold, error)
	ReleaseHold(ctx context.Context, id string) error
	Schedules(ctx context.Context) ([]evoke.Schedule, error)
	SetSchedule(ctx context.Context, s evoke.Schedule) (evoke.Schedule, error)
	DropSchedule(ctx context.Context, name string) error
}

// Doorkeeper knows the keys that were made while running.
type Doorkeeper interface {
	Authenticate(secret string) (evoke.Key, bool)
	Enabled() bool
	Installation() *evoke.Installation
	Keys(ctx context.Context) ([]evoke.Key, error)
	CreateKey(ctx context.Context, r evoke.KeyRequest) (evoke.KeySecret, error)
	RotateKey(ctx context.Context, name string, grace time.Duration) (evoke.KeySecret, error)
	RevokeKey(ctx context.Context, name string) (evoke.Key, error)
}

// Mover works on many items at once.
type Mover interface {
	List(ctx context.Context, r evoke.ListRequest) (store.Page, error)
	Forget(ctx context.Context, r evoke.ForgetRequest) (evoke.ForgetResult, error)
	Export(ctx context.Context, w evoke.Who, out io.Writer) (int, error)
	Import(ctx context.Context, w evoke.Who, in io.Reader, progress func(lines int)) (evoke.ImportResult, error)
	ImportFrom(ctx context.Context, w evoke.Who, from foreign.Format, in io.Reader, progress func(entries int)) (evoke.ImportResult, error)
}
