package extract

import (
	"regexp"
	"slices"

	"evoke/store"
)

// How sure a fact is, and how important, changes with what is said of it. All of it stays from 0 to 1:
//
//   - said again or agreed to (raise), with c the greater of both confidences and i of both importances:
//     confidence = c + (1−c)/5, importance = i + (0.9−i)/10 as long as i is below 0.9, evidence = evidence + 1;
//   - set right by its speaker (correct): the new one counts one correction more than the one before and is at least
//     correctedImportance important; the old one is closed and, like one that its speaker denies, lowered:
//     confidence = confidence/2.
const (
	raiseConfidence     = 0.2
	raiseImportance     = 0.1
	mostRaised          = 0.9 // importance that repetition alone approaches: what is corrected or asked for may be above
	correctedImportance = 0.8
	lowered             = 0.5
)

// mostEvidence is how many turns a fact names as its evidence; the first and the latest are kept.
const mostEvidence = 32

// doubt is the action of a denial: the statement of item Target was said to be wrong, and not what is right. Nothing but
// this package proposes it.
const doubt Action = "doubt"

// raise takes account of one more time that a statement was made, with the confidence and importance of that time.
func raise(it *store.Item, confidence, importance float64) {
	c, i := max(it.Confidence, confidence), max(it.Importance, importance)
	it.Confidence = min(1, c+(1-c)*raiseConfidence)
	it.Importance = max(i, min(mostRaised, i+(mostRaised-i)*raiseImportance))
	it.Provenance.Evidence++
	it.Provenance.Interim = false // whoever confirms it, it stands
}

func lower(it *store.Item) { it.Confidence *= lowered }

// confirm counts a turn as evidence, once, and returns the item. An operation that rests on no turn, as a write of the API does, counts always.
func (r *reconciler) confirm(it *store.Item, op Operation) *store.Item {
	if slices.Contains(it.Provenance.Turns, op.Turn) {
		return it
	}
	confidence := op.Confidence
	if op.Action == Confirm { // how sure it is that the statement was confirmed, not how sure the statement is
		confidence = 0
	}
	raise(it, confidence, op.Importance)
	report(it, &op)
	if it.Provenance.Said.Before(r.said) {
		it.Provenance.Said = r.said
	}
	if op.Turn != "" {
		it.Provenance.Turns = withTurn(it.Provenance.Turns, op.Turn)
	}
	r.counted[it.ID] = true
	r.touch(it)
	return it
}

func (r *reconciler) doubt(it *store.Item, op Operation) {
	if slices.Contains(it.Provenance.Turns, op.Turn) {
		return
	}
	lower(it)
	it.Provenance.Turns = withTurn(it.Provenance.Turns, op.Turn) // so that a repeated extraction lowers it no further
	r.touch(it)
}

func withTurn(turns []string, id string) []string {
	turns = slices.Clone(turns)
	if len(turns) >= mostEvidence {
		turns = slices.Delete(turns, 1, 2)
	}
	return append(turns, id)
}

// correct marks an item that sets right what its speaker said before, and reports whether it does.
func (r *reconciler) correct(it *store.Item, op *Operation, olds []*store.Item) bool {
	before, own := 0, false
	for _, old := range olds {
		if old != nil && sameSpeaker(old, it) {
			own = true
			before = max(before, old.Provenance.Corrections)
		}
	}
	now := op.Category == store.Correction || own && correcting.MatchString(op.Quote)
	if it.Provenance.Corrections = before; now {
		it.Provenance.Corrections++
	}
	if it.Provenance.Corrections > 0 {
		it.Importance = max(it.Importance, correctedImportance)
	}
	return now
}

func sameSpeaker(a, b *store.Item) bool {
	return speakerOf(a.Turn.Speaker) == speakerOf(b.Turn.Speaker)
}

// correcting finds the words with which people set right what they said. It reads only quotes that already replace a
// value, where "actually" hardly means anything else.
var correcting = regexp.MustCompile(`(?i)\b(?:actually|i (?:meant|mean|misspoke|mistyped)|correction|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not right|incorrect)|` +
	`my mistake|wrong about|mis-?remember\w*|rather than|not .{1,40} but|sorry)\b|^no\b|[,;—-] ?not \S|` +
	`说错|讲错|弄错|搞错|记错|写错|更正|纠正|不对|其实|应该是|我是说|我的意思是|不是.{1,20}是|是.{1,20}不是`)
