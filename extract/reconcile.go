package extract

import (
	"fmt"
	"strings"
	"time"

	"evoke/store"
)

// ReconcileOptions say what becomes a fact and how many are kept. The zero value of a field means its default.
type ReconcileOptions struct {
	// Threshold is memory.fact_confidence_threshold: operations below it are not stored; nil means 0.7, from 0 to 1.
	Threshold *float64
	// MaxFacts is memory.max_facts: how many current distilled facts a scope keeps; default 100, 10–500.
	MaxFacts int
	// CategoryCaps is memory.category_caps: how many current distilled facts of a category a scope keeps, beside
	// MaxFacts; 1–500. A category that is not named, or has 0, is bounded by MaxFacts alone.
	CategoryCaps map[store.Category]int
	// TaskTTL is memory.task_hours: what holds for one task only ends so long after its thread's last turn; default 24 h,
	// 1–8760 h.
	TaskTTL time.Duration
}

func (o ReconcileOptions) withDefaults() (ReconcileOptions, error) {
	if o.Threshold == nil {
		t := 0.7
		o.Threshold = &t
	}
	setDefault(&o.MaxFacts, 100)
	setDefault(&o.TaskTTL, 24*time.Hour)
	if err := checkTaskTTL(o.TaskTTL); err != nil {
		return o, err
	}
	if err := store.InUnit("memory.fact_confidence_threshold", *o.Threshold); err != nil {
		return o, err
	}
	if o.MaxFacts < 10 || o.MaxFacts > 500 {
		return o, store.Invalid("memory.max_facts", "from 10 to 500", fmt.Sprint(o.MaxFacts))
	}
	for c, n := range o.CategoryCaps {
		if err := c.Validate(); err != nil {
			return o, err
		}
		if n < 0 || n > 500 {
			return o, store.Invalid("memory.category_caps."+string(c), "from 1 to 500, or 0 for none", fmt.Sprint(n))
		}
	}
	return o, nil
}

func (op *Operation) form() Form {
	s := Statement{Kind: op.Kind, Content: store.CleanText(op.Content), Speaker: op.Speaker, About: op.About}
	if rest, ok := strings.CutPrefix(op.Subject, aboutPrefix); ok {
		s.About, _, _ = strings.Cut(rest, ":")
	}
	return NewForm(s)
}

// reconciler turns operations into changes of items. It reads and writes nothing itself.
type reconciler struct {
	opts      ReconcileOptions
	extractor string
	thread    string
	last      time.Time // of the thread's last turn; zero: now
	newID     func() string
	now       time.Time
	review    Review              // what waits for a person
	waiting   []waiting           // what was held for that
	vouched   bool                // a person says that the operations are right: how their words look decides nothing
	near      map[string][]string // content of a statement → ids of items that lie near it in the vector space; nil: unknown

	byID      map[string]*store.Item // current items, as changed so far
	forms     map[string]*Form       // of those, prepared when first compared
	bySubject map[subjectKey]*store.Item
	past      map[string]*store.Item // closed versions, see backfill
	said      time.Time              // when the operation at hand was said
	zone      string                 // of the time from which it holds
	finished  *store.Item            // what the operation at hand stores, when that is given; see Placement
	touched   []*store.Item          // changed items, in order
	isTouched map[*store.Item]bool
	fresh     map[string]bool
	redated   map[string]bool // ids of new versions of what ended otherwise than was known, see redate
	counted   map[string]bool // items that came of this extraction: added or confirmed
	rejected  map[rejection]int
	refused   []Rejected // of them, what a person may overrule
}

// subjectKey: what one speaker says about a subject says nothing about another's.
type subjectKey struct{ subject, speaker string }

func subjectOf(subject, speaker string) subjectKey { return subjectKey{subject, speakerOf(speaker)} }

// aboutPrefix begins the subjects of what is said about another person than the speaker: "about:mia:home". So it never
// shares a subject with what the speaker says about himself.
const aboutPrefix = "about:"

// rejection says why an operation was not taken.
type rejection string

const (
	lowConfidence rejection = "below the confidence threshold"
	ungrounded    rejection = "quoted text not found in the turn"
	unknownTarget rejection = "unknown target"
	malformed     rejection = "malformed"
	notAsserted   rejection = "not asserted"
	aboutAnother  rejection = "about somebody else"
	outdated      rejection = "said before what it takes back"
)

// outcome is what a reconciliation writes.
type outcome struct {
	put      []store.Item
	embed    []string
	redated  map[string]bool // ids of those of put that are there in another version and end otherwise
	facts    int
	rejected map[rejection]int
	refused  []Rejected // what was not asserted, or is of somebody else, for review
	waiting  []waiting
}

// reviewable are the refusals of a second look that a person may overrule, by the names that extractors have for them.
var reviewable = map[rejection]string{notAsserted: "not_asserted", aboutAnother: "other_owner"}

// note says why nothing was stored, when so many of the operations wait for a person.
func (o outcome) note(waits int) string {
	var parts []string
	switch {
	case waits == 1:
		parts = append(parts, "1 waits for review")
	case waits > 1:
		parts = append(parts, fmt.Sprintf("%d wait for review", waits))
	case len(o.rejected) == 0:
		return "nothing worth keeping"
	}
	for _, r := range [...]rejection{lowConfidence, ungrounded, unknownTarget, malformed, notAsserted, aboutAnother, outdated} {
		if n := o.rejected[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	return strings.Join(parts, ", ")
}

// reconcile applies operations in order to the current items. Each sees what the ones before it did.
//
//   - the same statement again (see Form.Same, Form.Near and Confirm) is confirmed, once a turn (see raise);
//   - another value of an exclusive subject, or supersede, closes the old item at the moment the new one begins, never
//     before the old one began, and links the two; one that was said before the old one goes behind it (see backfill);
//   - retract closes the target;
//   - anything else is added.
//
// Last, facts over MaxFacts are retracted, those of the lowest value first (see value).
func (r *reconciler) reconcile(current []store.Item, turns map[string]store.Item, ops []Operation) outcome {
	r.begin()
	for i := range current {
		it := current[i] // a copy: the caller's items stay as they are
		if holds(&it) {
			r.index(&it)
		} else {
			r.past[it.ID] = &it
		}
	}
	r.prolong()
	for _, op := range ops {
		turn, ok := turns[op.Turn]
		if why := r.check(&op, ok, &turn); why != "" {
			r.rejected[why]++
			if reason := reviewable[why]; reason != "" {
				r.refused = append(r.refused, Rejected{Reason: reason, Operation: op})
			}
			continue
		}
		r.zone = store.ZoneOf(op.At)
		if op.At.IsZero() {
			op.At, op.Precision, r.zone = turn.ValidFrom, "", turn.Provenance.Zone
		}
		if op.At.IsZero() {
			op.At = r.now
		}
		op.At = op.At.UTC().Truncate(time.Microsecond)
		r.said = saidNow(turn.ValidFrom, r.now)
		r.apply(op)
	}
	r.evict()
	return r.outcome()
}

func (r *reconciler) begin() {
	r.byID, r.past, r.forms, r.bySubject = map[string]*store.Item{}, map[string]*store.Item{}, map[string]*Form{}, map[subjectKey]*store.Item{}
	r.fresh, r.counted, r.rejected = map[string]bool{}, map[string]bool{}, map[rejection]int{}
	r.isTouched, r.redated = map[*store.Item]bool{}, map[string]bool{}
}

func (r *reconciler) check(op *Operation, known bool, turn *store.Item) rejection {
	op.Content, op.Speaker = store.CleanText(op.Content), store.CleanText(op.Speaker)
	op.About = store.CleanText(op.About)
	op.Subject = op.subject()
	writes := op.Action == Add || op.Action == Supersede
	switch {
	case !known || op.Quote == "" || !strings.Contains(turn.Content, op.Quote):
		return ungrounded
	case !writes && op.Action != Confirm && op.Action != Retract && op.Action != doubt,
		writes && op.Content == "",
		store.InUnit("", op.Confidence) != nil, store.InUnit("", op.Importance) != nil:
		return malformed
	case op.Modality != "" && op.Modality != Asserted,
		writes && !r.vouched && (unasserted(turn.Content, op.Quote) || denied(turn.Content, op.Quote, op.Content)): // a question, a plan in jest or the words of another is no fact
		return notAsserted
	case !r.vouched && (anothers(op) || writes && (saidOfAnother(op, turn.Content) || forAnother(turn.Content, op.Quote, op.Speaker))):
		return aboutAnother
	case op.Confidence < *r.opts.Threshold:
		return lowConfidence
	}
	return ""
}

// subject is the operation's subject, under the name of whom it is about.
func (op *Operation) subject() string {
	if about := store.CleanText(op.About); about != "" && op.Subject != "" && !strings.HasPrefix(op.Subject, aboutPrefix) {
		return aboutPrefix + strings.ReplaceAll(store.FoldText(about), " ", "_") + ":" + op.Subject
	}
	return op.Subject
}

func (r *reconciler) apply(op Operation) {
	target := r.byID[op.Target]
	if target != nil && op.Action != Confirm && op.Action != doubt && !r.sameTerm(target, &op) {
		target = nil // what holds for one task leaves what holds on as it is
	}
	holder := r.bySubject[op.key()] // nil when there is none, and for an empty subject
	if target == nil && op.Action == Retract && op.Target == "" {
		target = holder
	}
	if r.hold(&op, target, holder) {
		return
	}
	switch op.Action {
	case Confirm:
		if target == nil {
			r.rejected[unknownTarget]++
			return
		}
		r.confirm(target, op)
	case doubt:
		if target == nil {
			r.rejected[unknownTarget]++
			return
		}
		if !r.outdates(target) {
			r.doubt(target, op)
		}
	case Retract:
		if target == nil {
			r.rejected[unknownTarget]++
			return
		}
		if r.outdates(target) {
			r.rejected[outdated]++
			return
		}
		r.close(target, op.At)
		r.counted[target.ID] = true
	default:
		r.write(op, target, holder)
	}
}

// write takes a statement in and returns the item that makes it now, or nil when none can. Another one of its subject,
// the holder, may be nil, as may be the target that it is to replace.
func (r *reconciler) write(op Operation, target, holder *store.Item) *store.Item {
	if !op.Exclusive {
		holder = nil
	}
	if old := r.counts(&op); old != nil {
		return old
	}
	same := r.same(&op)
	switch {
	case same != nil && same != holder:
		return r.again(same, holder, op)
	case same != nil:
		return r.confirm(same, op)
	case r.outdates(target):
		return r.backfill(target, op)
	case r.outdates(holder):
		return r.backfill(holder, op)
	case holder == target:
		return r.add(op, target)
	}
	return r.add(op, target, holder)
}

// same returns the current item that makes an operation's statement, the surest one, or nil. What holds for one task only
// is never the same as what holds on.
func (r *reconciler) same(op *Operation) *store.Item {
	f := op.form()
	var best *store.Item
	most := Different
	consider := func(it *store.Item, how Sameness) {
		if how > most || how == most && best != nil && it.ID < best.ID {
			best, most = it, how
		}
	}
	for _, it := range r.byID {
		if r.sameTerm(it, op) {
			consider(it, f.Same(r.form(it)))
		}
	}
	if best != nil {
		return best
	}
	for _, id := range r.near[op.Content] {
		if it := r.byID[id]; it != nil && r.sameTerm(it, op) && f.Near(r.form(it)) {
			consider(it, Alike)
		}
	}
	return best
}

func (r *reconciler) sameTerm(it *store.Item, op *Operation) bool {
	return (it.Provenance.Durability == string(DurableTask)) == (op.Durability == DurableTask)
}

func (r *reconciler) form(it *store.Item) *Form {
	g := r.forms[it.ID]
	if g == nil {
		form := NewForm(StatementOf(it))
		g = &form
		r.forms[it.ID] = g
	}
	return g
}

// add stores a new item in place of the old ones, which may be nil.
func (r *reconciler) add(op Operation, olds ...*store.Item) *store.Item {
	it := r.item(op)
	if it != nil {
		r.insert(it, op, olds...)
	}
	return it
}

// item is the new item of an operation, or nil when it cannot be one.
func (r *reconciler) item(op Operation) *store.Item {
	if r.finished != nil {
		return r.finished
	}
	origin, _, _ := strings.Cut(r.extractor, "/")
	it := &store.Item{
		ID: r.newID(), Kind: op.Kind, Category: op.Category, Content: op.Content,
		Importance: op.Importance, Confidence: op.Confidence, ValidFrom: op.At, RecordedAt: r.now,
		Turn:       store.Turn{Thread: r.thread, Speaker: op.Speaker},
		Provenance: store.Provenance{Origin: origin, Extractor: r.extractor, Turns: []string{op.Turn}, Quote: op.Quote, Subject: op.Subject, Said: r.said},
		ContentKey: store.ContentKey(op.Kind, op.Content),
	}
	it.Provenance.Zone, it.Provenance.Precision = r.zone, string(op.Precision)
	if op.Durability != DurableUser {
		it.Provenance.Durability = string(op.Durability)
	}
	if op.Durability == DurableTask {
		r.bind(it)
	}
	report(it, &op)
	if err := it.Prepare(store.Limits{}); err != nil {
		r.rejected[malformed]++
		return nil
	}
	return it
}

// insert takes an item in, in place of the old ones, which may be nil. It links back to the first of them.
func (r *reconciler) insert(it *store.Item, op Operation, olds ...*store.Item) {
	corrected := r.correct(it, &op, olds)
	for _, old := range olds {
		if old != nil && it.Supersedes == "" {
			it.Supersedes = old.ID
		}
	}
	for _, old := range olds {
		if old != nil {
			if corrected && sameSpeaker(old, it) {
				lower(old)
			}
			r.close(old, op.At)
			old.SupersededBy = it.ID
			it.RecordedAt = store.Later(it.RecordedAt, old.ClosedAt) // the clock may have gone back since
		}
	}
	r.shorten(it)
	r.index(it)
	r.fresh[it.ID], r.counted[it.ID] = true, true
	r.touch(it)
}

func (r *reconciler) close(it *store.Item, at time.Time) {
	if at.Before(time.Time{}.Add(time.Microsecond)) {
		at = r.now
	}
	it.Close(at, r.now)
	r.forget(it)
	r.past[it.ID] = it
	r.touch(it)
}

func (r *reconciler) index(it *store.Item) {
	r.byID[it.ID] = it
	if it.Provenance.Subject != "" {
		r.bySubject[keyOfItem(it)] = it
	}
}

// forget takes an item that is no longer current out of the indexes.
func (r *reconciler) forget(it *store.Item) {
	delete(r.byID, it.ID)
	delete(r.forms, it.ID)
	if k := keyOfItem(it); r.bySubject[k] == it {
		delete(r.bySubject, k)
	}
}

func (r *reconciler) touch(it *store.Item) {
	if !r.isTouched[it] {
		r.isTouched[it] = true
		r.touched = append(r.touched, it)
	}
}

func (r *reconciler) outcome() outcome {
	out := outcome{redated: r.redated, rejected: r.rejected, facts: len(r.counted), waiting: r.waiting, refused: r.refused}
	for _, it := range r.touched {
		out.put = append(out.put, *it)
		if (r.fresh[it.ID] || r.redated[it.ID]) && it.RetractedAt.IsZero() {
			out.embed = append(out.embed, it.ID)
		}
	}
	return out
}
