package page

import (
	"context"
	"time"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
)

// Caller is who uses the page, and what the key grants.
type Caller interface {
	Name() string
	Tenant() string
	// May reports whether the key's role includes the one asked for.
	May(role config.Role) bool
	// AllMemories reports whether the key grants every user and agent of its tenant.
	AllMemories() bool
	// Who checks that the key grants the user and the agent.
	Who(user, agent, thread string) (evoke.Who, error)
}

// Memory is what the page needs of the engine.
type Memory interface {
	Searcher
	Keeper
	Overseer
	Reviewer
	Operator
	Doorkeeper
	Meter
	Retainer
	Consolidator
}

// Consolidator puts summaries in the place of items.
type Consolidator interface {
	Consolidate(ctx context.Context, r evoke.ConsolidateRequest) (store.Operation, error)
	Sources(ctx context.Context, w evoke.Who, id string) ([]store.Item, error)
}

// Retainer says how long memories are kept, and brings back what was softly forgotten.
type Retainer interface {
	Restore(ctx context.Context, r evoke.RestoreRequest) (evoke.RestoreResult, error)
	Forgotten(ctx context.Context, r evoke.ListRequest) (store.Page, error)
	Retain(ctx context.Context, r evoke.RetainRequest) (store.Operation, error)
	TenantPolicy(ctx context.Context) (evoke.PolicyResult, error)
}

// Searcher finds items.
type Searcher interface {
	Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error)
	List(ctx context.Context, r evoke.ListRequest) (store.Page, error)
}

// Keeper reads and changes items.
type Keeper interface {
	Get(ctx context.Context, w evoke.Who, id string) (store.Item, error)
	History(ctx context.Context, w evoke.Who, id string) ([]store.Item, error)
	Update(ctx context.Context, r evoke.UpdateRequest) (store.Item, error)
	Forget(ctx context.Context, r evoke.ForgetRequest) (evoke.ForgetResult, error)
}

// Overseer shows and mends how the write path stands.
type Overseer interface {
	Events(ctx context.Context, r evoke.EventsRequest) (evoke.EventsResult, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	RetryEvents(ctx context.Context, ids []string) (evoke.RetryResult, error)
}

// Reviewer shows and decides what waits for review.
type Reviewer interface {
	Quarantined(ctx context.Context, r evoke.QuarantineRequest) (evoke.QuarantineResult, error)
	Approve(ctx context.Context, ids []string) (evoke.ApproveResult, error)
	EditProposal(ctx context.Context, r evoke.EditProposalRequest) (evoke.QuarantineEntry, error)
	Reject(ctx context.Context, ids []string) (evoke.RejectResult, error)
}

// Operator shows and steers long work.
type Operator interface {
	Operations(ctx context.Context, r evoke.OperationsRequest) (evoke.OperationsResult, error)
	Operation(ctx context.Context, id string) (store.Operation, error)
	CancelOperation(ctx context.Context, id string) (store.Operation, error)
	RetryOperation(ctx context.Context, id string) (store.Operation, error)
}

// Doorkeeper knows the keys that were made while running.
type Doorkeeper interface {
	Keys(ctx context.Context) ([]evoke.Key, error)
	CreateKey(ctx context.Context, r evoke.KeyRequest) (evoke.KeySecret, error)
	RotateKey(ctx context.Context, name string, grace time.Duration) (evoke.KeySecret, error)
	RevokeKey(ctx context.Context, name string) (evoke.Key, error)
}

// Meter tells how a tenant stands.
type Meter interface {
	TenantStats(ctx context.Context, r evoke.TenantStatsRequest) (evoke.TenantStats, error)
	Usage(ctx context.Context, r evoke.UsageRequest) (evoke.UsageResult, error)
	QueueStats(ctx context.Context) (evoke.QueueState, error)
	Audit(ctx context.Context, r evoke.AuditRequest) (evoke.AuditResult, error)
}
