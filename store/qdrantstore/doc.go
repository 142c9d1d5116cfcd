// Package qdrantstore keeps items in a Qdrant server (tested with 1.17.1). It implements store.Store; the ledger stays elsewhere,
// so a write goes through store.Commit as an intent and store.Replay completes what a crash or an outage left.
//
// # Layout
//
// All scopes share one collection, reached by an alias ("evoke"). A point is an item: its id is a UUIDv5 of the scope's
// key and the item's id, its payload holds the whole item, its analysed text and what filters ask for; its vectors are
// "lexical" (sparse: scoring.Doc.Weights) and, once it is embedded, "dense" (all rows of store.Embedding.Rows, quantised
// as sqlitestore quantises them, compared by their greatest dot product).
//
// The server cannot add a vector to a live collection, so a collection is never changed in shape: it is replaced. A new
// store has a collection without "dense"; SetModel makes one that has it, copies the points and moves the alias. Open does
// the same when the layout or the analyzer is of an older version. The space that vectors are in (model, dimension) is
// written in the collection's metadata. One process at a time may do this; writes of this process wait meanwhile.
//
// # What the server does not do, and who does
//
//  1. It would silently answer too little from a graph that does not fit the filter: dense queries are exact, and no graph
//     is built.
//  2. Its IDF counts all tenants: frequencies are counted within the scope and put into the query's weights.
//  3. It takes NaN and, in a batch, applies what it likes before it refuses the rest: vectors and items are checked before
//     anything is sent, and Apply can be repeated.
//  4. It never says how many points a write touched: what a write depends on is read first, a condition in the write guards
//     against what happens in between, and writes of one scope follow each other in this process.
//  5. "Completed" is the only status that counts as done; its client does not retry: each call has a deadline and is
//     repeated, with increasing pauses, while the server cannot be reached.
//  6. Points of one score come in any order: the recent and the important arm break ties by a hash of the item's id; scores
//     are tied by id as far as a margin of 16 beyond the arm's size reaches.
//
// What was acknowledged survives the end of the server's process; whether it survives a loss of power is for the server's
// machine to say.
//
// The scope is a condition at the root of every request, added in one place (within); upserts carry it as a guard too.
package qdrantstore
