package extract

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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
}

func (o ReconcileOptions) withDefaults() (ReconcileOptions, error) {
	if o.Threshold == nil {
		t := 0.7
		o.Threshold = &t
	}
	setDefault(&o.MaxFacts, 100)
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

// mostEvidence is how many turns a fact names as its evidence; the first and the latest are kept.
const mostEvidence = 32

// facts reads the scope's current distilled items and, beside them, other current items that make one of the statements.
func (w *Worker) facts(ctx context.Context, sc store.Scope, said []Form) ([]store.Item, error) {
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}, Categories: store.Categories()},
		View:   store.Current(w.now()), Order: store.ByID, Limit: 1000,
	}
	var out []store.Item
	for {
		page, err := w.store.List(ctx, sc, q)
		if err != nil {
			return nil, fmt.Errorf("list facts: %w", err)
		}
		for _, it := range page.Items {
			if isDistilled(&it) || makesOne(&it, said) {
				out = append(out, it)
			}
		}
		if page.Next == "" {
			return out, nil
		}
		q.Cursor = page.Next
	}
}

func isDistilled(it *store.Item) bool { return it.Provenance.Extractor != "" }

func makesOne(it *store.Item, said []Form) bool {
	if len(said) == 0 {
		return false
	}
	f := NewForm(StatementOf(it))
	return slices.ContainsFunc(said, func(g Form) bool { return f.Same(&g) != Different })
}

// keysOf returns the statements that operations would store.
func keysOf(ops []Operation) []Form {
	var said []Form
	for _, op := range ops {
		if op.Action == Add || op.Action == Supersede {
			said = append(said, op.form())
		}
	}
	return said
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
	newID     func() string
	now       time.Time

	byID      map[string]*store.Item // current items, as changed so far
	forms     map[string]*Form       // of those, prepared when first compared
	bySubject map[subjectKey]*store.Item
	touched   []*store.Item // changed items, in order
	isTouched map[*store.Item]bool
	fresh     map[string]bool
	counted   map[string]bool // items that came of this extraction: added or confirmed
	rejected  map[rejection]int
}

// subjectKey: what one speaker says about a subject says nothing about another's.
type subjectKey struct{ subject, speaker string }

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
)

// outcome is what a reconciliation writes.
type outcome struct {
	put      []store.Item
	embed    []string
	facts    int
	rejected map[rejection]int
}

// note says why nothing was stored.
func (o outcome) note() string {
	if len(o.rejected) == 0 {
		return "nothing worth keeping"
	}
	var parts []string
	for _, r := range [...]rejection{lowConfidence, ungrounded, unknownTarget, malformed, notAsserted} {
		if n := o.rejected[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	return strings.Join(parts, ", ")
}

// reconcile applies operations in order to the current items. Each sees what the ones before it did.
//
//   - the same statement again (see Form.Same, or confirm) raises the confidence by a fifth of what is missing to 1
//     and adds the turn to the evidence, once a turn;
//   - another value of an exclusive subject, or supersede, closes the old item at the moment the new one begins, never
//     before the old one began, and links the two;
//   - retract closes the target;
//   - anything else is added.
//
// Last, facts over MaxFacts are retracted, those of the lowest value first (see value).
func (r *reconciler) reconcile(current []store.Item, turns map[string]store.Item, ops []Operation) outcome {
	r.byID, r.forms, r.bySubject = map[string]*store.Item{}, map[string]*Form{}, map[subjectKey]*store.Item{}
	r.fresh, r.counted, r.rejected = map[string]bool{}, map[string]bool{}, map[rejection]int{}
	r.isTouched = map[*store.Item]bool{}
	for i := range current {
		it := current[i]  // a copy: the caller's items stay as they are
		if !it.Closed() { // one whose end is set, if only in the future, has its successor
			r.index(&it)
		}
	}
	for _, op := range ops {
		turn, ok := turns[op.Turn]
		if why := r.check(&op, ok, &turn); why != "" {
			r.rejected[why]++
			continue
		}
		if op.At.IsZero() {
			op.At = turn.ValidFrom
		}
		if op.At.IsZero() {
			op.At = r.now
		}
		op.At = op.At.UTC().Truncate(time.Microsecond)
		r.apply(op)
	}
	r.evict()
	return r.outcome()
}

func (r *reconciler) check(op *Operation, known bool, turn *store.Item) rejection {
	op.Content, op.Speaker = store.CleanText(op.Content), store.CleanText(op.Speaker)
	op.About = store.CleanText(op.About)
	if op.About != "" && op.Subject != "" && !strings.HasPrefix(op.Subject, aboutPrefix) {
		op.Subject = aboutPrefix + strings.ReplaceAll(store.FoldText(op.About), " ", "_") + ":" + op.Subject
	}
	writes := op.Action == Add || op.Action == Supersede
	switch {
	case !known || op.Quote == "" || !strings.Contains(turn.Content, op.Quote):
		return ungrounded
	case !writes && op.Action != Confirm && op.Action != Retract,
		writes && op.Content == "",
		store.InUnit("", op.Confidence) != nil, store.InUnit("", op.Importance) != nil:
		return malformed
	case op.Modality != "" && op.Modality != Asserted: // a question, a plan in jest or the words of another is no fact
		return notAsserted
	case op.Confidence < *r.opts.Threshold:
		return lowConfidence
	}
	return ""
}

func (r *reconciler) apply(op Operation) {
	target := r.byID[op.Target]
	subject := subjectKey{op.Subject, op.Speaker}
	holder := r.bySubject[subject] // nil when there is none, and for an empty subject
	if target == nil && op.Action == Retract && op.Target == "" {
		target = holder
	}
	switch op.Action {
	case Confirm:
		if target == nil {
			r.rejected[unknownTarget]++
			return
		}
		r.confirm(target, op)
	case Retract:
		if target == nil {
			r.rejected[unknownTarget]++
			return
		}
		r.close(target, op.At)
		r.counted[target.ID] = true
	default:
		if same := r.same(&op); same != nil {
			r.confirm(same, op)
			return
		}
		if !op.Exclusive {
			holder = nil
		}
		r.add(op, target, holder)
	}
}

// same returns the current item that makes an operation's statement, the surest one, or nil. What holds for one task only
// is never the same as what holds on.
func (r *reconciler) same(op *Operation) *store.Item {
	f := op.form()
	var best *store.Item
	most := Different
	for id, it := range r.byID {
		if (it.Provenance.Durability == string(DurableTask)) != (op.Durability == DurableTask) {
			continue
		}
		g := r.forms[id]
		if g == nil {
			form := NewForm(StatementOf(it))
			g = &form
			r.forms[id] = g
		}
		if how := f.Same(g); how > most || how == most && best != nil && it.ID < best.ID {
			best, most = it, how
		}
	}
	return best
}

func (r *reconciler) confirm(it *store.Item, op Operation) {
	if slices.Contains(it.Provenance.Turns, op.Turn) {
		return // the same evidence is not counted twice
	}
	it.Confidence = min(1, it.Confidence+(1-it.Confidence)*0.2)
	it.Importance = max(it.Importance, op.Importance)
	ts := slices.Clone(it.Provenance.Turns)
	if len(ts) >= mostEvidence {
		ts = slices.Delete(ts, 1, 2)
	}
	it.Provenance.Turns = append(ts, op.Turn)
	it.Provenance.Evidence++
	r.counted[it.ID] = true
	r.touch(it)
}

// add stores a new item in place of the old ones, which may be nil. It links back to the first of them.
func (r *reconciler) add(op Operation, olds ...*store.Item) {
	origin, _, _ := strings.Cut(r.extractor, "/")
	it := &store.Item{
		ID: r.newID(), Kind: op.Kind, Category: op.Category, Content: op.Content,
		Importance: op.Importance, Confidence: op.Confidence, ValidFrom: op.At, RecordedAt: r.now,
		Turn:       store.Turn{Thread: r.thread, Speaker: op.Speaker},
		Provenance: store.Provenance{Origin: origin, Extractor: r.extractor, Turns: []string{op.Turn}, Quote: op.Quote, Subject: op.Subject},
		ContentKey: store.ContentKey(op.Kind, op.Content),
	}
	if op.Durability != DurableUser {
		it.Provenance.Durability = string(op.Durability)
	}
	if n := corrections(&op, olds); n > 0 {
		it.Provenance.Corrections = n
		it.Importance = max(it.Importance, correctedImportance)
	}
	for _, old := range olds {
		if old != nil && it.Supersedes == "" {
			it.Supersedes = old.ID
		}
	}
	if err := it.Prepare(store.Limits{}); err != nil {
		r.rejected[malformed]++
		return
	}
	for _, old := range olds {
		if old != nil {
			r.close(old, op.At)
			old.SupersededBy = it.ID
		}
	}
	r.index(it)
	r.fresh[it.ID], r.counted[it.ID] = true, true
	r.touch(it)
}

// correctedImportance is the least importance of what its speaker took the trouble to set right.
const correctedImportance = 0.8

// corrections is how often what an operation says was set right by its speaker, this time included.
func corrections(op *Operation, olds []*store.Item) int {
	before, own := 0, false
	for _, old := range olds {
		if old != nil && old.Turn.Speaker == op.Speaker {
			own = true
			before = max(before, old.Provenance.Corrections)
		}
	}
	if op.Category == store.Correction || own && correcting.MatchString(op.Quote) {
		return before + 1
	}
	return before
}

// correcting finds the words with which people set right what they said. It reads only quotes that already replace a
// value, where "actually" hardly means anything else.
var correcting = regexp.MustCompile(`(?i)\b(?:actually|i (?:meant|mean|misspoke|mistyped)|correction|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not right|incorrect)|` +
	`my mistake|wrong about|mis-?remember\w*|rather than|not .{1,40} but|sorry)\b|^no\b|[,;—-] ?not \S|` +
	`说错|讲错|弄错|搞错|记错|写错|更正|纠正|不对|其实|应该是|我是说|我的意思是|不是.{1,20}是|是.{1,20}不是`)

func (r *reconciler) close(it *store.Item, at time.Time) {
	if at.Before(time.Time{}.Add(time.Microsecond)) {
		at = r.now
	}
	it.Close(at, r.now)
	r.forget(it)
	r.touch(it)
}

func (r *reconciler) index(it *store.Item) {
	r.byID[it.ID] = it
	if it.Provenance.Subject != "" {
		r.bySubject[subjectKey{it.Provenance.Subject, it.Turn.Speaker}] = it
	}
}

// forget takes an item that is no longer current out of the indexes.
func (r *reconciler) forget(it *store.Item) {
	delete(r.byID, it.ID)
	delete(r.forms, it.ID)
	if k := (subjectKey{it.Provenance.Subject, it.Turn.Speaker}); r.bySubject[k] == it {
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
	out := outcome{rejected: r.rejected, facts: len(r.counted)}
	for _, it := range r.touched {
		out.put = append(out.put, *it)
		if r.fresh[it.ID] && it.RetractedAt.IsZero() {
			out.embed = append(out.embed, it.ID)
		}
	}
	return out
}
