package benchmarks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// Living is an Engine whose memories change, are undone and are forgotten.
type Living interface {
	Remember(ctx context.Context, r evoke.RememberRequest) (evoke.RememberResult, error)
	Update(ctx context.Context, r evoke.UpdateRequest) (store.Item, error)
	List(ctx context.Context, r evoke.ListRequest) (store.Page, error)
	Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error)
	Forget(ctx context.Context, r evoke.ForgetRequest) (evoke.ForgetResult, error)
	Undo(ctx context.Context, r evoke.UndoRequest) (evoke.UndoResult, error)
	WaitOperation(ctx context.Context, id string) (store.Operation, error)
	Settle(ctx context.Context) error
}

// The kinds of histories.
const (
	Supersede = "supersede" // a subject gets another value: the last one is seen, alone
	Revoke    = "revoke"    // something ends, and nothing takes its place
	AsOf      = "as-of"     // what was known and true then
	Undone    = "undo"      // a conversation is taken back, and the taking back too
	Erased    = "erase"     // a subject is forgotten: neither the present nor the past has it
	Scoped    = "scope"     // what is said of one user is not seen of another
)

// LifecycleKinds lists them in the order of reports.
func LifecycleKinds() []string { return []string{Supersede, Revoke, AsOf, Undone, Erased, Scoped} }

// LifecycleShare is how many checks of a kind and language came out right.
type LifecycleShare struct {
	Kind     string   `json:"kind"`
	Language string   `json:"language"`
	N        int      `json:"n"` // histories: the checks of one are not independent
	Checks   int      `json:"checks"`
	Right    float64  `json:"right"` // mean over the histories of the share of their checks
	CI       Interval `json:"ci95"`
	Wrong    []string `json:"wrong,omitempty"` // the first ten
}

// LifecycleReport is a whole run.
type LifecycleReport struct {
	Machine Machine           `json:"machine"`
	Vectors string            `json:"vectors"`
	Shares  []*LifecycleShare `json:"shares"`
}

// RunLifecycle plays every history of our own in a memory of its own and compares what is seen, by a list and by a question,
// with what the history says should be. The clock has to be the engine's.
func RunLifecycle(ctx context.Context, m Living, clock *Clock) (*LifecycleReport, error) {
	return runLifecycle(ctx, m, clock, 1)
}

// runLifecycle plays one history out of every so many.
func runLifecycle(ctx context.Context, m Living, clock *Clock, every int) (*LifecycleReport, error) {
	r := &LifecycleReport{}
	for _, kind := range LifecycleKinds() {
		for _, language := range []string{"en", "zh"} {
			share := &LifecycleShare{Kind: kind, Language: language}
			var scores []float64
			for i, s := range slices.Concat(lifeSubjects(language), moreSubjects(language)) {
				if i%every != 0 {
					continue
				}
				p := &player{m: m, clock: clock, who: evoke.Who{User: fmt.Sprintf("%s-%s-%d", kind, language, i)}, subject: s, now: lifeStart}
				if err := p.play(ctx, kind); err != nil {
					return nil, fmt.Errorf("%s %s %s: %w", kind, language, s.name, err)
				}
				scores = append(scores, float64(p.checks-len(p.wrong))/float64(p.checks))
				share.Checks += p.checks
				share.Wrong = append(share.Wrong, p.wrong...)
			}
			share.Wrong = share.Wrong[:min(len(share.Wrong), 10)]
			share.N, share.Right, share.CI = len(scores), mean(scores), Bootstrap(scores)
			r.Shares = append(r.Shares, share)
		}
	}
	return r, nil
}

var lifeStart = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// player plays one history: every step is a day.
type player struct {
	m       Living
	clock   *Clock
	who     evoke.Who
	subject lifeSubject
	now     time.Time
	last    string // id of what was said last

	checks int
	wrong  []string
}

func (p *player) day() {
	p.now = p.now.AddDate(0, 0, 1)
	p.clock.Set(p.now)
}

// say states the value of that number in a thread.
func (p *player) say(ctx context.Context, thread string, value int) error {
	p.day()
	who := p.who
	who.Thread = thread
	res, err := p.m.Remember(ctx, evoke.RememberRequest{Who: who, Content: p.subject.values[value], Subject: p.subject.name})
	p.last = res.Item.ID
	return err
}

// see checks which values the user's memory shows, at a time (zero: now), in a list and among the answers to the question.
func (p *player) see(ctx context.Context, who evoke.Who, at time.Time, what string, want ...int) error {
	if err := p.m.Settle(ctx); err != nil {
		return err
	}
	page, err := p.m.List(ctx, evoke.ListRequest{Who: who, AsOf: at, Limit: 1000})
	if err != nil {
		return err
	}
	listed := []string{}
	for i := range page.Items {
		listed = append(listed, page.Items[i].Content)
	}
	none := 0.0
	res, err := p.m.Recall(ctx, evoke.RecallRequest{Who: who, Request: recall.Request{Query: p.subject.question, AsOf: at, Limit: 20, MinScore: &none}})
	if err != nil {
		return err
	}
	recalled := []string{}
	for i := range res.Hits {
		recalled = append(recalled, res.Hits[i].Item.Content)
	}
	for n, value := range p.subject.values {
		for way, got := range map[string][]string{"list": listed, "recall": recalled} {
			p.checks++
			if slices.Contains(got, value) != slices.Contains(want, n) {
				p.wrong = append(p.wrong, fmt.Sprintf("%s: %s, %s: %q", p.who.User, what, way, value))
			}
		}
	}
	p.checks++
	if len(listed) != len(want) {
		p.wrong = append(p.wrong, fmt.Sprintf("%s: %s: %d items, want %d", p.who.User, what, len(listed), len(want)))
	}
	return nil
}

func (p *player) undo(ctx context.Context, b lifecycle.Batch) (string, error) {
	p.day()
	res, err := p.m.Undo(ctx, evoke.UndoRequest{Who: p.who, Batch: b})
	if err != nil {
		return "", err
	}
	op, err := p.m.WaitOperation(ctx, res.Operation.ID)
	if err == nil && op.State != store.OperationDone {
		err = fmt.Errorf("%w: the undo is %s: %s", store.ErrConflict, op.State, op.Note)
	}
	return op.ID, err
}

func (p *player) forget(ctx context.Context) error {
	p.day()
	page, err := p.m.List(ctx, evoke.ListRequest{Who: p.who, All: true, Limit: 1000})
	if err != nil {
		return err
	}
	ids := []string{}
	for i := range page.Items {
		if page.Items[i].Provenance.Subject == p.subject.name {
			ids = append(ids, page.Items[i].ID)
		}
	}
	_, err = p.m.Forget(ctx, evoke.ForgetRequest{Who: p.who, IDs: ids})
	return err
}
