// Package storetest is the executable contract of the ports in package store. Every backend runs the suites that concern
// it against itself:
//
//	func TestStore(t *testing.T) { storetest.RunStore(t, open) }
//
// A suite asks for a fresh, empty backend in each of its tests and closes it. Scores may differ from the reference by
// Tolerance, so items whose scores are closer than that may change places; nothing else may differ.
package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"evoke/store"
)

// Tolerance is how far a backend's scores may be from the reference, which computes in float64.
const Tolerance = 1e-4

// RunStore runs the contract of store.Store. open returns a fresh, empty store.
func RunStore(t *testing.T, open func(*testing.T) store.Store) {
	run(t, open, []check[store.Store]{
		{"PutGet", putGet}, {"Replace", replace}, {"Delete", deleteTotal}, {"RefusedItems", refusedItems}, {"OddTexts", oddTexts},
		{"Idempotent", idempotent}, {"Large", largeChange},
		{"ListOrders", listOrders}, {"ListPages", listPages}, {"ListLimits", listLimits}, {"ListMoving", listMoving},
		{"Filters", filters}, {"FilterRefused", filterRefused}, {"FilterIDs", filterIDs},
		{"Views", views}, {"AsOf", asOf}, {"Profile", profile}, {"Tasks", tasks}, {"Aside", aside}, {"Stats", stats},
		{"ArmsAgree", armsAgree}, {"ArmsWithinFilter", armsWithinFilter}, {"ArmsAsOf", armsAsOf}, {"ArmsAlone", armsAlone},
		{"ContextArm", contextArm}, {"Neighbours", neighbours}, {"Chunked", chunked}, {"FollowsWrites", followsWrites},
		{"QueryRefused", queryRefused}, {"Statistics", statistics}, {"Corrections", corrections}, {"Unwritten", unwritten},
		{"Isolation", isolation}, {"IsolationOfStatistics", isolationOfStatistics}, {"Scopes", scopes}, {"Census", census}, {"ScopeRefused", scopeRefused},
		{"Model", model}, {"ModelReplaced", modelReplaced}, {"EmbeddingRefused", embeddingRefused}, {"EmbeddingStale", embeddingStale}, {"EmbeddingKept", embeddingKept},
		{"Concurrent", concurrent}, {"Cancelled", storeCancelled}, {"Closed", storeClosed},
	})
}

// RunLedger runs the contract of store.Ledger. open returns a fresh, empty ledger.
func RunLedger(t *testing.T, open func(*testing.T) store.Ledger) {
	run(t, open, []check[store.Ledger]{
		{"Intents", intents}, {"RecordOnce", recordOnce}, {"Replies", replies}, {"Threads", threads},
		{"Debounce", debounce}, {"DebounceCap", debounceCap}, {"Generations", generations}, {"Leases", leases}, {"Retry", retry},
		{"RetryHoldsArmings", retryHoldsArmings}, {"Flush", flush}, {"Release", release}, {"ClaimOrder", claimOrder}, {"ClaimOnce", claimOnce}, {"NextDue", nextDue},
		{"LostLease", lostLease}, {"Fair", fair}, {"Extend", extend}, {"QueueStats", queueStats},
		{"Defer", deferring}, {"ClaimOfTenants", claimOfTenants}, {"FinishInParts", finishInParts}, {"Prune", prune},
		{"Operations", operations}, {"Audits", audits}, {"Tombstones", tombstones}, {"Traces", traces}, {"Settings", settings}, {"Blocks", blocks},
		{"Quarantine", quarantine}, {"QuarantineFolds", quarantineFolds}, {"Usage", usage}, {"ListEvents", listEvents}, {"ReviveEvents", reviveEvents},
		{"Embeds", embeds}, {"EmbedsPostponed", embedsPostponed}, {"EmbedsAgain", embedsAgain},
		{"Events", events}, {"EventsEndOnce", eventsEndOnce}, {"EventsOfOthers", eventsOfOthers},
		{"Refused", ledgerRefused}, {"Cancelled", ledgerCancelled}, {"Closed", ledgerClosed},
	})
}

// Pair is a Store and the Ledger that goes with it; they may be the same value.
type Pair struct {
	Store  store.Store
	Ledger store.Ledger
}

// Close closes both, once when they are one.
func (p Pair) Close() error {
	if any(p.Store) == any(p.Ledger) {
		return p.Store.Close()
	}
	return errors.Join(p.Store.Close(), p.Ledger.Close())
}

// RunCommit runs the contract of store.Commit and store.Replay over a pair.
func RunCommit(t *testing.T, open func(*testing.T) (store.Store, store.Ledger)) {
	run(t, func(t *testing.T) Pair {
		s, l := open(t)
		return Pair{s, l}
	}, []check[Pair]{
		{"Commit", commit}, {"CommitOnce", commitOnce}, {"CommitConflict", commitConflict}, {"CommitRefused", commitRefused},
		{"CommitExtraction", commitExtraction}, {"Replay", replay}, {"CommitParallel", commitParallel},
	})
}

type check[T any] struct {
	name string
	f    func(*testing.T, T)
}

type closer interface{ Close() error }

func run[T closer](t *testing.T, open func(*testing.T) T, checks []check[T]) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			v := open(t)
			defer func() {
				if err := v.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.f(t, v)
		})
	}
}

// now is the present of the tests.
var now = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

var (
	alice = store.Scope{Tenant: "acme", User: "alice"}
	bob   = store.Scope{Tenant: "acme", User: "bob"}
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func put(t *testing.T, s store.Store, sc store.Scope, items ...store.Item) {
	t.Helper()
	must(t, s.Apply(context.Background(), sc, store.Change{Put: items}))
}

// item makes a plain fact, recorded at now.
func item(id, content string) store.Item {
	return store.Item{ID: id, Kind: store.Semantic, Content: content, Importance: 0.5, Confidence: 1, RecordedAt: now, ValidFrom: now}
}

// turn makes a turn of a session.
func turn(id, session string, position int, content string) store.Item {
	it := item(id, content)
	it.Kind = store.Episodic
	it.Turn = store.Turn{Thread: session, Session: session, Position: position, Speaker: "Ann", Role: "user"}
	return it
}

func ids(items []store.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}
