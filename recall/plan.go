package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"evoke/recall/wordvec"
	"evoke/scoring"
	"evoke/store"
)

// plan is a request made ready: checked, filled with defaults, analysed.
type plan struct {
	opts    *Options
	req     Request
	weights Weights
	minimum float64
	now     time.Time // the moment asked about
	view    store.View
	filter  store.Filter

	blank    bool // no query: recent and important items answer
	terms    []scoring.QueryTerm
	tokens   []string // of the query, for names
	dates    []scoring.DateWindow
	when     bool
	asksName bool // for a name, a title or a place
	asksTold bool // for what was said, done or counted, not for help
	update   bool // the profile lifts newer items above the older they replace
	past     bool // the question is about the past
	present  bool // … about the present state of things
	vector   []float32
	spelling *wordvec.Table // knows the words that are no slips of others
	table    *wordvec.Table // nil: no comparison word by word
	words    []wordvec.Word // of the query
	lowHigh  [2]float64     // ends of the sum of two cosines
}

func (e *Engine) plan(scopes []store.Scope, req Request) (*plan, error) {
	if len(scopes) == 0 || len(scopes) > maxScopes {
		return nil, store.Invalid("scopes", fmt.Sprintf("1 to %d", maxScopes), fmt.Sprint(len(scopes)))
	}
	for i, sc := range scopes {
		if err := sc.Validate(); err != nil {
			return nil, err
		}
		if sc.Tenant != scopes[0].Tenant {
			return nil, fmt.Errorf("%w: scopes of two tenants in one recall", store.ErrTenant)
		}
		if slices.Contains(scopes[:i], sc) {
			return nil, store.Invalid("scopes", "all different", "one twice")
		}
	}
	p := &plan{opts: &e.opts, spelling: e.spelling, now: req.AsOf, minimum: *e.opts.MinScore, lowHigh: [2]float64{2 * e.model.Low, 2 * e.model.High}}
	if req.Limit == 0 {
		req.Limit = e.opts.Limit
	}
	if req.Limit < 1 || req.Limit > maxLimit {
		return nil, store.Invalid("limit", fmt.Sprintf("from 1 to %d", maxLimit), fmt.Sprint(req.Limit))
	}
	if req.MinScore != nil {
		if err := store.InUnit("min_score", *req.MinScore); err != nil {
			return nil, err
		}
		p.minimum = *req.MinScore
	}
	if len(req.Query) > e.opts.QueryBytes {
		return nil, store.Invalid("query", fmt.Sprintf("at most %d bytes (ask with the question alone, without the text around it)", e.opts.QueryBytes), fmt.Sprintf("%d bytes", len(req.Query)))
	}
	if err := checkWhyNot(req.WhyNot); err != nil {
		return nil, err
	}
	if req.Timeout < 0 || req.Timeout > maxTimeout {
		return nil, store.Invalid("timeout", "from 0 to "+maxTimeout.String(), req.Timeout.String())
	}
	var err error
	if p.weights, err = weightsOf(&req); err != nil {
		return nil, err
	}
	if p.filter, err = mergeFilter(&req); err != nil {
		return nil, err
	}
	if p.now.IsZero() {
		p.now = e.opts.Clock()
	}
	p.view = store.At(p.now, req.AsOf, req.Known)
	if p.now, err = inZone(p.now, req.Zone); err != nil {
		return nil, err
	}
	if p.view.Threads = p.filter.NamedThreads(); req.Task != "" {
		if err := store.ValidateName("task", req.Task); err != nil {
			return nil, err
		}
		p.view.Threads = append(p.view.Threads, req.Task)
	}
	req.Query = cleanQuery(req.Query)
	p.req = req
	p.update = req.Profile != "classic"
	p.analyse()
	return p, nil
}

// analyse reads the query's words, dates and intent.
func (p *plan) analyse() {
	q := p.req.Query
	p.blank = q == ""
	if p.blank {
		return
	}
	p.terms = scoring.QueryTerms(q)
	for i := range p.terms {
		t := &p.terms[i]
		p.tokens = append(p.tokens, t.Token)
		t.Known = p.spelling.Has(t.Term)
	}
	p.dates = scoring.QueryDatesAt(q, p.now)
	p.when, p.asksName, p.asksTold = scoring.WhenQuestion(q), scoring.AsksName(q), scoring.AsksTold(q)
	p.past, p.present = scoring.AsksPast(q), scoring.AsksPresent(q)
}

func weightsOf(req *Request) (Weights, error) {
	w, ok := profiles[req.Profile]
	if !ok {
		return w, store.Invalid("profile", `"default" or "classic"`, fmt.Sprintf("%.40q", req.Profile))
	}
	if req.Weights == nil {
		return w, nil
	}
	w = *req.Weights
	for _, f := range []struct {
		name string
		v    float64
	}{{"weights.semantic", w.Semantic}, {"weights.recency", w.Recency}, {"weights.importance", w.Importance}} {
		if err := store.InUnit(f.name, f.v); err != nil {
			return w, err
		}
	}
	if sum := w.Semantic + w.Recency + w.Importance; sum > 1+roundingRoom {
		return w, store.Invalid("weights", "of a sum of at most 1 (divide each by the sum)", fmt.Sprintf("%g", sum))
	}
	return w, nil
}

// mergeFilter joins Kinds to the filter by AND.
func mergeFilter(req *Request) (store.Filter, error) {
	if err := req.Filter.Validate(); err != nil {
		return store.Filter{}, err
	}
	for _, k := range req.Kinds {
		if err := k.Validate(); err != nil {
			return store.Filter{}, err
		}
	}
	switch {
	case len(req.Kinds) == 0:
		return req.Filter, nil
	case req.Filter.IsZero():
		return store.Filter{Kinds: req.Kinds}, nil
	case len(req.Filter.Kinds) == 0:
		f := req.Filter
		f.Kinds = req.Kinds
		return f, nil
	}
	f := store.Filter{Kinds: req.Kinds, All: []store.Filter{req.Filter}}
	return f, f.Validate()
}

// cleanQuery repairs UTF-8, drops NUL and surrounding blanks.
func cleanQuery(q string) string {
	if !utf8.ValidString(q) {
		q = strings.ToValidUTF8(q, "\uFFFD")
	}
	return strings.TrimSpace(strings.ReplaceAll(q, "\x00", ""))
}

// query is what the store is asked for.
func (p *plan) query() store.Query {
	arm := func(n int) int {
		if n < 0 {
			return 0
		}
		return max(n, p.req.Limit)
	}
	q := store.Query{Filter: p.filter, View: p.view, Vector: p.vector, Terms: p.terms, Correct: true, Recent: arm(p.opts.Recent), Important: arm(p.opts.Important)}
	if p.vector != nil {
		q.Dense = arm(p.opts.Dense)
	}
	if len(p.terms) > 0 {
		q.Lexical = arm(p.opts.Lexical)
	}
	return q
}
