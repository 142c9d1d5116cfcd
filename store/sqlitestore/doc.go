// Package sqlitestore keeps items and control data in one SQLite file, evoke.db, in a data directory. It implements
// store.Store, store.Ledger and store.Joint, so that a write and everything promised with it commit together.
//
// # Durability
//
// A method that returned nil has been committed; at the default level (Full) it has also been fsynced, so it survives
// the end of the process and a loss of power. Normal leaves out the fsync of each commit: a loss of power may take the
// last commits, never the database's consistency; the end of the process alone takes nothing.
//
// # Concurrency
//
//  1. One goroutine writes. Writes that wait while it commits share the next transaction, each in a savepoint of its
//     own, and are acknowledged after that transaction's COMMIT.
//  2. Reads go through a small pool and see committed data only. A call that starts after a write returned sees it.
//  3. Searches run on an index of the scope in memory, loaded on demand, changed after each COMMIT, and dropped, least
//     recently used first, when all indexes together exceed Options.IndexBytes.
//  4. A cancelled context withdraws a write that has not begun; one that has begun is waited for.
//
// # Files
//
// One process holds the directory at a time (a lock on evoke.lock). A database that is damaged, newer than this
// program or another program's is reported and left byte for byte as it was.
package sqlitestore
