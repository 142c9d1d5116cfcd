package extract

import "evoke/store"

// report counts the outcome that an operation tells of a procedural item. Whoever calls sees to it that a turn counts
// once.
func report(it *store.Item, op *Operation) {
	how := store.Outcome(op.Outcome)
	if it.Kind == store.Procedural && how.Validate() == nil {
		it.Outcomes.Count(how, op.At)
	}
}
