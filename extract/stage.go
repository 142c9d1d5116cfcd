package extract

import (
	"time"

	"evoke/store"
)

// The stages that WorkerOptions.Observe is told of.
const (
	StageClaim     = "claim"     // jobs were taken from the queue
	StageExtract   = "extract"   // the extractor ran over one batch
	StageInterim   = "interim"   // the interim extractor ran for turns whose extractor is away
	StageReconcile = "reconcile" // operations were brought together with what is stored
	StageStore     = "store"     // facts and the events' end were committed
	StageRetry     = "retry"     // an attempt failed, and another follows
	StageDead      = "dead"      // events were given up
)

// SpanJob is the stage that WorkerOptions.Span is told of around those of one run of a job.
const SpanJob = "extraction"

// Stage is what one step of an extraction took and came to. It never holds content.
type Stage struct {
	Tenant     string // "" for claim, which is of all tenants
	Stage      string
	Took       time.Duration
	Attempts   int // failed attempts of the job before this one; of claim: the jobs taken
	Extractor  string
	Operations map[string]int // by action and kind, "add:semantic"
	Rejected   map[string]int // by reason
	Usage      Usage
	State      store.EventState // of store and dead: what the events came to
	Err        string           // class of a failure
}
