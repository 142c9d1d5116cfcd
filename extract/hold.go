package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"evoke/store"
)

// ReviewMode says which changes that are distilled from conversations wait for a person.
type ReviewMode string

// The modes.
const (
	ReviewOff        ReviewMode = "off"            // none
	ReviewConfidence ReviewMode = "low_confidence" // those of a confidence under Review.Below
	ReviewCategory   ReviewMode = "category"       // those of the categories in Review.Categories
	ReviewAll        ReviewMode = "all"            // all
)

// Review selects what becomes a proposal, which waits in the quarantine, in place of a fact. The zero value: nothing.
type Review struct {
	Mode       ReviewMode
	Below      float64 // 0–1
	Categories []store.Category
}

// The reasons for which something waits that an extractor was allowed to store.
const (
	WaitsForAll        = "review_all"
	WaitsForConfidence = "review_low_confidence"
	WaitsForCategory   = "review_category"
)

// reason says why an operation on a category waits; "" when it does not.
func (v *Review) reason(confidence float64, c store.Category) string {
	switch v.Mode {
	case ReviewAll:
		return WaitsForAll
	case ReviewConfidence:
		if confidence < v.Below {
			return WaitsForConfidence
		}
	case ReviewCategory:
		if slices.Contains(v.Categories, c) {
			return WaitsForCategory
		}
	case ReviewOff, "":
	}
	return ""
}

func isReview(reason string) bool {
	return reason == WaitsForAll || reason == WaitsForConfidence || reason == WaitsForCategory
}

// Proposed is an operation as it waits for a person, in the form in which the ledger keeps it.
type Proposed struct {
	Operation
	// Replaces is the item in whose place the statement would have been put when it was proposed; "" for none.
	Replaces string `json:",omitempty"`
}

// waiting is an operation that is to be proposed.
type waiting struct {
	Proposed
	reason string
}

// hold sets an operation aside that waits for a person, and tells whether it does. What is said again changes nothing and
// does not wait.
func (r *reconciler) hold(op *Operation, target, holder *store.Item) bool {
	if r.review.Mode == "" || r.review.Mode == ReviewOff {
		return false
	}
	category := op.Category
	switch op.Action {
	case Add, Supersede:
		if !op.Exclusive {
			holder = nil
		}
		if r.counts(op) != nil {
			return false
		}
		if same := r.same(op); same != nil && (holder == nil || same == holder) {
			return false
		}
	case Retract:
		if target == nil || r.outdates(target) {
			return false
		}
		category = target.Category
	case Confirm, doubt:
		return false
	}
	reason := r.review.reason(op.Confidence, category)
	if reason == "" {
		return false
	}
	w := waiting{Proposed{Operation: *op}, reason}
	switch {
	case target != nil:
		w.Replaces = target.ID
	case holder != nil:
		w.Replaces = holder.ID
	}
	r.waiting = append(r.waiting, w)
	return true
}

// heldBack tells whether the profile's sections are to be left as they are: they would tell of what waits.
func (v *Review) heldBack(out *outcome) bool { return v.Mode == ReviewAll || len(out.waiting) > 0 }

// ProposalKey identifies what an operation would do, so that proposals of the same count as one.
func ProposalKey(op *Operation) string {
	h := sha256.New()
	for _, part := range [...]string{
		string(op.Action), op.Target, store.ContentKey(op.Kind, store.CleanText(op.Content)), op.Subject, speakerOf(op.Speaker), string(op.Durability),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// entry is an operation as the ledger keeps it.
func (a *attempt) entry(p *Proposed, reason, extractor string) (store.Quarantined, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return store.Quarantined{}, &permanentError{fmt.Errorf("encode operation: %w", store.ErrInvalid)}
	}
	return store.Quarantined{
		ID: a.opts.NewID(), Scope: a.job.Scope, Thread: a.job.Thread, Turn: p.Turn, Extractor: extractor, Reason: reason, Key: ProposalKey(&p.Operation),
		Operation: body, At: a.now(),
	}, nil
}

// quarantine lists what waits for a person: the operations that are not to be stored and can be reviewed (what they would
// have stored is there, the turn that they name, too, and no other operation says the same), and those held for review.
func (a *attempt) quarantine(ctx context.Context, f *finding, turns map[string]store.Item, o outcome) ([]store.Quarantined, error) {
	type saying struct{ turn, content string }
	seen := map[saying]bool{}
	var out []store.Quarantined
	add := func(p *Proposed, reason string) error {
		q, err := a.entry(p, reason, f.extractor)
		if !slices.ContainsFunc(out, func(o store.Quarantined) bool { return o.Key == q.Key && o.Turn == q.Turn }) {
			out = append(out, q)
		}
		return err
	}
	for i := range o.waiting {
		held := &o.waiting[i]
		seen[saying{held.Turn, held.Content}] = true
		if err := add(&held.Proposed, held.reason); err != nil {
			return nil, err
		}
	}
	refused := slices.Clone(f.Rejected)
	overruled := map[saying]bool{} // by a second look
	if f.reports {                 // rules propose much that they themselves would not keep
		refused = append(refused, o.refused...)
		for i := range o.refused {
			overruled[saying{o.refused[i].Operation.Turn, o.refused[i].Operation.Content}] = true
		}
	}
	for _, op := range f.Operations {
		turn, ok := turns[op.Turn]
		if ok && (op.Quote == "" || !strings.Contains(turn.Content, op.Quote)) {
			refused = append(refused, Rejected{Reason: "ungrounded", Operation: op})
		} else if key := (saying{op.Turn, store.CleanText(op.Content)}); !overruled[key] {
			seen[key] = true
		}
	}
	for _, r := range refused {
		op := r.Operation
		key := saying{op.Turn, store.CleanText(op.Content)}
		if _, ok := turns[op.Turn]; !ok || key.content == "" || seen[key] {
			continue
		}
		seen[key] = true
		if err := add(&Proposed{Operation: op}, r.Reason); err != nil {
			return nil, err
		}
	}
	return out, a.nameEvents(ctx, out, turns)
}
