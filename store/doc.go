// Package store holds Evoke's vocabulary (Item, Scope, Filter, View) and its two ports: Store, which keeps items and
// finds candidates for a query, and Ledger, which keeps control data (write intents, the debounced extraction queue,
// vectors still to be computed, idempotent replies, events). Every backend passes the contract suites of package
// storetest.
//
// # What a write guarantees
//
// A change of one or more items goes through Commit. When Store and Ledger share one database (sqlitestore) it is a
// single transaction. Otherwise the change is recorded in the ledger first, as an intent, and applied to the store
// afterwards; Replay applies what a crash left unapplied. Store.Apply is idempotent, so a replay never stores twice.
//
// # Concurrency
//
// All methods of both ports may be called from several goroutines. Two writes to one Scope must be ordered by the
// caller when the second depends on what the first wrote (the façade holds one lock a scope).
package store
