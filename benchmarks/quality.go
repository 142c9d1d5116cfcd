package benchmarks

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"evoke"
	"evoke/recall"
	"evoke/recall/tokens"
	"evoke/scoring"
)

// Engine is what a quality run drives: the façade of an open memory.
type Engine interface {
	Import(ctx context.Context, w evoke.Who, in io.Reader, progress func(lines int)) (evoke.ImportResult, error)
	Settle(ctx context.Context) error
	Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error)
}

// Clock is a settable clock: the engine's time during a set is the question's.
type Clock struct{ now atomic.Pointer[time.Time] }

// Now returns the time set last, or the real time.
func (c *Clock) Now() time.Time {
	if t := c.now.Load(); t != nil {
		return *t
	}
	return time.Now()
}

// Set makes t the time; zero means the real time.
func (c *Clock) Set(t time.Time) {
	if t.IsZero() {
		c.now.Store(nil)
		return
	}
	c.now.Store(&t)
}

// The systems compared. All come out of the same engine and index in the same process.
const (
	Default = "default" // the engine's default profile
	Classic = "classic" // 0.5 semantic + 0.3 recency + 0.2 importance
	Lexical = "lexical" // the lexical score alone
	Dense   = "dense"   // the dense score alone
	Fused   = "rrf"     // reciprocal-rank fusion, k = 60, of the first 100 of lexical and dense
	// Misspelt is the default profile asked with slips in the words of the questions: see Misspell.
	Misspelt = "misspelt"
	// Timeless is the default profile with recency and importance off and nothing lifted above the older: the semantic score alone.
	Timeless = "timeless"
)

// Systems lists them in the order of reports.
func Systems() []string {
	return []string{Default, Timeless, Classic, Lexical, Dense, Fused, Misspelt}
}

const (
	depth       = 20   // results asked for
	baseline    = 1000 // candidates that the single-signal systems rank
	fusionDepth = 100
	minScore    = 0.1 // the engine's default, whose loss is reported
)

// answer is one question's rankings and what they cost.
type answer struct {
	rankings map[string][]string
	strict   []string // Default's ranking at the default min_score
	ms       map[string]float64
	tokens   int // of the five first texts of Default

	confidence    float64
	wide, classic []string // rankings of all candidates; of classic only where asked for
}

// SetResult is the measured quality of one set.
type SetResult struct {
	Name       string
	N          int
	Systems    map[string]*SystemResult
	Categories map[string]*SystemResult // of Default
	Embedder   string
	Took       time.Duration          // import and vectors
	Updates    map[string]*Updates    // by system: the default and classic
	Abstention map[string]*Abstention // by category of unanswerable questions
	Refused    int                    // items that Import refused, such as blank ones; they count as not found

	answered   []float64            // confidences of the questions that count
	unanswered map[string][]float64 // … of those that memory does not answer, by category
}

// SystemResult is the quality of one system.
type SystemResult struct {
	N         int
	Mean      map[Metric]float64
	Interval  map[Metric]Interval // of the mean
	Versus    map[Metric]Interval // of Default minus this system, paired by question; nil for Default
	LatencyMS Quantiles
	Tokens    float64            // mean over questions; Default only
	Strict    map[Metric]float64 // at the default min_score; Default only
	scores    map[Metric][]float64
}

// RunSet imports a set and asks its questions. progress, if not nil, is told what is being done.
func RunSet(ctx context.Context, e Engine, clock *Clock, s *Set, progress func(string)) (*SetResult, error) {
	if progress == nil {
		progress = func(string) {}
	}
	began := time.Now()
	r := newResult(s.Name)
	for i := range s.Namespaces {
		refused, err := importNamespace(ctx, e, clock, s.Name, &s.Namespaces[i])
		if err != nil {
			return nil, err
		}
		r.Refused += refused
		progress(fmt.Sprintf("%s: imported %d of %d memories", s.Name, i+1, len(s.Namespaces)))
	}
	if err := e.Settle(ctx); err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
	}
	r.Took = time.Since(began)
	for i := range s.Namespaces {
		if err := r.ask(ctx, e, clock, &s.Namespaces[i]); err != nil {
			return nil, err
		}
		progress(fmt.Sprintf("%s: asked %d of %d memories, %d questions", s.Name, i+1, len(s.Namespaces), r.N))
	}
	r.summarise()
	return r, nil
}

// importNamespace loads one memory and returns how many of its items the engine refused.
func importNamespace(ctx context.Context, e Engine, clock *Clock, set string, n *Namespace) (refused int, err error) {
	if len(n.Items) == 0 {
		return 0, nil
	}
	lines, err := n.ImportLines()
	if err != nil {
		return 0, err
	}
	clock.Set(n.newest())
	res, err := e.Import(ctx, who(set, n), bytes.NewReader(lines), nil)
	if err != nil {
		return 0, fmt.Errorf("import %s/%s: %w", set, n.Name, err)
	}
	if res.FailedN == len(n.Items) {
		return 0, fmt.Errorf("import %s/%s: every line failed, the first: %s", set, n.Name, res.Failed[0].Error)
	}
	return res.FailedN, nil
}

func who(set string, n *Namespace) evoke.Who { return evoke.Who{User: set + "/" + n.Name} }

func newResult(name string) *SetResult {
	return &SetResult{Name: name, Systems: map[string]*SystemResult{}, Categories: map[string]*SystemResult{}, Updates: map[string]*Updates{}, Abstention: map[string]*Abstention{}, unanswered: map[string][]float64{}}
}

func (r *SetResult) ask(ctx context.Context, e Engine, clock *Clock, n *Namespace) error {
	if err := r.askUnanswerable(ctx, e, clock, n); err != nil {
		return fmt.Errorf("ask %s/%s: %w", r.Name, n.Name, err)
	}
	session := n.sessions()
	return n.scored(clock, func(q Question, l Label) error {
		a, embedder, err := askAll(ctx, e, who(r.Name, n), q, uint64(r.N), len(l.Stale) > 0)
		if err != nil {
			return fmt.Errorf("ask %s/%s: %w", r.Name, l.ID, err)
		}
		r.N++
		r.Embedder = embedder
		r.answered = append(r.answered, a.confidence)
		if len(l.Stale) > 0 {
			r.update(Default, newerFirst(a.wide, l.Relevant, l.Stale))
			r.update(Classic, newerFirst(a.classic, l.Relevant, l.Stale))
		}
		for name, ranking := range a.rankings {
			r.system(r.Systems, name).add(Score(ranking, l.Relevant, session), a.ms[name])
		}
		d := r.Systems[Default]
		d.Tokens += float64(a.tokens)
		for m, v := range Score(a.strict, l.Relevant, session) {
			d.Strict[m] += v
		}
		r.system(r.Categories, l.Category).add(Score(a.rankings[Default], l.Relevant, session), a.ms[Default])
		return nil
	})
}

// sessions maps each item to its session.
func (n *Namespace) sessions() map[string]string {
	m := map[string]string{}
	for _, it := range n.Items {
		m[it.ID] = it.Session
	}
	return m
}

// scored calls f for each question that counts, with the clock set to the question's time, or to the newest item's.
func (n *Namespace) scored(clock *Clock, f func(Question, Label) error) error {
	for i, q := range n.Questions {
		if !n.Labels[i].Scored() {
			continue
		}
		at := q.Time
		if at.IsZero() {
			at = n.newest()
		}
		clock.Set(at)
		if err := f(q, n.Labels[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *SetResult) system(in map[string]*SystemResult, name string) *SystemResult {
	s := in[name]
	if s == nil {
		s = &SystemResult{Mean: map[Metric]float64{}, Interval: map[Metric]Interval{}, Strict: map[Metric]float64{}, scores: map[Metric][]float64{}}
		in[name] = s
	}
	return s
}

func (s *SystemResult) add(m map[Metric]float64, ms float64) {
	s.N++
	for _, k := range Metrics() {
		s.scores[k] = append(s.scores[k], m[k])
	}
	s.scores["ms"] = append(s.scores["ms"], ms)
}

// askAll asks one question in every way. Only the question reaches the engine. seed makes its slips; whole asks for the whole
// ranking of classic, too.
func askAll(ctx context.Context, e Engine, w evoke.Who, q Question, seed uint64, whole bool) (*answer, string, error) {
	a := &answer{rankings: map[string][]string{}, ms: map[string]float64{}}
	text := q.Text
	request := func(profile string, limit int, explain bool) (evoke.RecallResult, float64, error) {
		r := defaultRequest(w, text, limit)
		r.Profile, r.Explain = profile, explain
		began := time.Now()
		res, err := e.Recall(ctx, r)
		return res, float64(time.Since(began).Microseconds()) / 1000, err
	}
	res, ms, err := request(Default, depth, false)
	if err != nil {
		return nil, "", err
	}
	a.ms[Default], a.confidence = ms, res.Confidence
	count, err := tokens.For("")
	if err != nil {
		return nil, "", err
	}
	for i, h := range res.Hits {
		a.rankings[Default] = append(a.rankings[Default], h.Item.ID)
		if h.Score >= minScore {
			a.strict = append(a.strict, h.Item.ID)
		}
		if i < 5 {
			a.tokens += count.Count(h.Item.Content)
		}
	}
	if a.rankings[Default] == nil {
		a.rankings[Default] = []string{}
	}
	classic, ms, err := request(Classic, depth, false)
	if err != nil {
		return nil, "", err
	}
	a.ms[Classic] = ms
	a.rankings[Classic] = ids(classic.Hits)
	began := time.Now()
	r := defaultRequest(w, text, depth)
	r.Profile, r.Weights = Classic, &recall.Weights{Semantic: 1} // the default profile would lift the newer, whatever its weights
	timeless, err := e.Recall(ctx, r)
	if err != nil {
		return nil, "", err
	}
	a.ms[Timeless], a.rankings[Timeless] = float64(time.Since(began).Microseconds())/1000, ids(timeless.Hits)
	wide, _, err := request(Default, baseline, true)
	if err != nil {
		return nil, "", err
	}
	a.baselines(wide.Hits)
	a.wide = ids(wide.Hits)
	if whole {
		classic, _, err := request(Classic, baseline, false)
		if err != nil {
			return nil, "", err
		}
		a.classic = ids(classic.Hits)
	}
	text = Misspell(q.Text, seed)
	misspelt, ms, err := request(Default, depth, false)
	if err != nil {
		return nil, "", err
	}
	a.ms[Misspelt], a.rankings[Misspelt] = ms, ids(misspelt.Hits)
	return a, res.Embedder, nil
}

func ids(hits []recall.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.Item.ID
	}
	return out
}

// baselines ranks the candidates by one signal at a time, newest first where it is equal.
func (a *answer) baselines(hits []recall.Hit) {
	by := func(term string) []string {
		h := slices.Clone(hits)
		slices.SortStableFunc(h, func(x, y recall.Hit) int {
			return cmp.Or(cmp.Compare(y.Explain.Terms[term], x.Explain.Terms[term]), y.Item.ValidFrom.Compare(x.Item.ValidFrom), cmp.Compare(y.Item.Turn.Position, x.Item.Turn.Position), cmp.Compare(x.Item.ID, y.Item.ID))
		})
		ids := make([]string, 0, fusionDepth)
		for _, h := range h[:min(fusionDepth, len(h))] {
			ids = append(ids, h.Item.ID)
		}
		return ids
	}
	a.rankings[Lexical], a.rankings[Dense] = by("lexical"), by("dense")
	a.rankings[Fused] = []string{}
	for _, r := range scoring.RRF(60, a.rankings[Lexical], a.rankings[Dense]) {
		a.rankings[Fused] = append(a.rankings[Fused], r.ID)
	}
}

func (r *SetResult) summarise() {
	r.abstention()
	d := r.Systems[Default]
	for _, group := range []map[string]*SystemResult{r.Systems, r.Categories} {
		for _, s := range group {
			for _, m := range Metrics() {
				s.Mean[m] = mean(s.scores[m])
				s.Interval[m] = Bootstrap(s.scores[m])
			}
			s.LatencyMS = quantiles(s.scores["ms"])
		}
	}
	for name, s := range r.Systems {
		if name == Default {
			continue
		}
		s.Versus = map[Metric]Interval{}
		for _, m := range Metrics() {
			diff := make([]float64, s.N)
			for i := range diff {
				diff[i] = d.scores[m][i] - s.scores[m][i]
			}
			s.Versus[m] = Bootstrap(diff)
		}
	}
	if d != nil && d.N > 0 {
		d.Tokens /= float64(d.N)
		for m := range d.Strict {
			d.Strict[m] /= float64(d.N)
		}
	}
}
