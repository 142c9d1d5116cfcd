// Package lifecycle is what happens to memories after they were stored: forgetting and verified erasure, retention,
// consolidation, history and undo, and moving memories in and out. Long work is an operation with an id that goes on after a
// crash; see Runner. What it needs from above (a summary by a model, a probe of recall) are small ports of its own.
package lifecycle
