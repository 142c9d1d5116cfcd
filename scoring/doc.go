// Package scoring holds the pure functions that decide how well an item answers a query: the text analyzer, BM25 over
// three views of a chat turn, exact int8 and float32 dot products, fixed-end normalisation and fusion, recency,
// importance, dates spoken of in questions and items, and near-duplicate detection.
//
// Nothing here reads a clock, a file or a network, and nothing keeps state between calls, so the same input gives the
// same score on every backend. Functions are safe for concurrent use.
//
// What the analyzer produces (terms, as 32-bit hashes) is stored on disk and used as sparse-vector indices. A change
// of its output must raise [AnalyzerVersion]; a reader that meets another version re-analyses the text.
package scoring
