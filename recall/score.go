package recall

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"evoke/scoring"
	"evoke/store"
)

// candidate is a record on its way through the second stage.
type candidate struct {
	scope  store.Scope
	place  int // of the scope in the call
	record *store.Record
	words  *scoring.Lexical // the query in the statistics of the scope; nil without a query
	matter *scoring.Lexical // … without the names of speakers
	near   *lateScorer      // the same, word by word; nil without a table of words
	terms  terms
	hit    Hit

	manner          scoring.Manner // of a short item
	after, question *candidate     // the turn behind a short one; the turn before it when that ends with a question
	personal        bool           // a turn between people with names
}

// terms are the parts of "semantic", each in [0,1] unless said.
type terms struct {
	lexical float64
	views   [3]float64
	cosine  float64 // the mean cosine of own and context vector, in [-1,1]
	dense   float64 // 0 and 1 are the model's typical ends; less the chunk penalty
	plain   float64 // lexical and dense
	late    float64 // how close the query's words come to the item's; 0 where they were not compared
	core    float64 // A0: lexical, dense and late
	coreTop float64 // what A0 comes to when lexical and dense are 1
	speaker, when, date, user,
	session float64
	// How it speaks, and its neighbours: see scoreManner.
	name, names, asks, address float64 // name where the question asks for one
	wish                       float64 // a lasting wish, where the question may ask for help
	next                       float64 // A0 of the turn behind it, less nextMiddle
	reply                      float64 // A0 of the question it answers
	ahead                      float64 // what A0 of the better of the two turns behind it has more than its own
	around                     float64 // the best A0 of its session, between people
	second                     float64 // what the second look added to the sum or took from it
	chunks                     int
	rerank                     float64 // what the reranker said, where there is one
	sum                        float64 // A, divided by its greatest possible value and clamped
}

// score scores one scope's candidates against its own statistics. It does not depend on their order. partial is true when
// the time for comparing words was over: then nothing of it counts.
func (p *plan) score(ctx context.Context, sc store.Scope, place int, found *store.Candidates) (_ []*candidate, partial bool) {
	all := make([]*candidate, len(found.Records))
	for i := range found.Records {
		all[i] = &candidate{scope: sc, place: place, record: &found.Records[i]}
	}
	if !p.blank {
		denseAnswered := p.vector != nil && found.Failed[store.DenseArm] == nil
		partial = !p.scoreTerms(ctx, all, found, denseAnswered)
	}
	for _, c := range all {
		p.finish(c)
	}
	if !p.blank {
		p.secondLook(all)
	}
	return all, partial
}

func (p *plan) scoreTerms(ctx context.Context, all []*candidate, found *store.Candidates, dense bool) (complete bool) {
	p.pastStats(found)
	words, stats := found.Terms, found.Stats
	lex := scoring.NewLexical(lexicalParams(dense), stats, words)
	named, mixed := cast(all)
	without := matter(words, all)
	matter := scoring.NewLexical(lexicalParams(false), stats, without)
	near := p.newLate(found, without)
	asked := map[string]bool{} // whether the question names the speaker
	for _, c := range all {
		r, t := c.record, &c.terms
		c.words, c.matter, c.near = lex, matter, near
		turn := &r.Item.Turn
		t.lexical, t.views = lex.Score(r.Doc, r.Prev1, r.Prev2)
		t.chunks = max(len(r.Doc.Chunks), 1)
		p.scoreCore(r, t, dense)
		if named {
			if _, known := asked[turn.Speaker]; !known {
				asked[turn.Speaker] = scoring.NamesSpeaker(p.tokens, turn.Speaker)
			}
			if asked[turn.Speaker] {
				t.speaker = 1
			}
		}
		if p.when && r.Doc.Timed {
			t.when = 1
		}
		t.date = scoring.DateMatch(p.dates, r.Item.Local(), r.Doc.Ranges)
		if mixed && !fromAssistant(turn) {
			t.user = 1
		}
	}
	p.scoreManner(all, named)
	sum(all, dense)
	if complete = p.scoreLate(ctx, all, found, dense); complete {
		sum(all, dense)
	}
	return complete
}

// sum adds the terms up to A. The greatest possible value leaves out what manner adds: it parts items that say much the
// same of what is asked for, and a score means what it would without it.
func sum(all []*candidate, dense bool) {
	sessionCredit(all)
	top := weightLexical + weightDense
	if !dense {
		top = weightAlone
	}
	greatest := top*(1+weightSession) + weightSpeaker + weightWhen + weightDate + weightUser
	for _, c := range all {
		t := &c.terms
		a := t.core + weightSpeaker*t.speaker + weightWhen*t.when + weightDate*t.date + weightUser*t.user + weightSession*t.session + c.mannerCredit()
		t.sum = scoring.Normalize(a, 0, greatest)
	}
}

// matter is what the question asks for: its terms without those that name a speaker of the candidates.
func matter(words []scoring.QueryTerm, all []*candidate) []scoring.QueryTerm {
	names := map[string]bool{}
	seen := map[string]bool{}
	for _, c := range all {
		if who := c.record.Item.Turn.Speaker; !seen[who] {
			seen[who] = true
			if !scoring.GenericSpeaker(who) {
				for _, tok := range scoring.Tokens(who) {
					names[tok] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(words), func(t scoring.QueryTerm) bool { return names[t.Token] })
}

// scoreCore fills the dense score and A0.
func (p *plan) scoreCore(r *store.Record, t *terms, dense bool) {
	if !dense {
		t.core, t.coreTop = weightAlone*t.lexical, weightAlone
		t.plain = t.core
		return
	}
	if r.Embedded {
		t.cosine = r.Dense / 2
		// Not clamped: beyond its typical ends a model still tells better from worse.
		t.dense = (r.Dense-p.lowHigh[0])/(p.lowHigh[1]-p.lowHigh[0]) - chunkPenalty*math.Log(float64(t.chunks))
	} else {
		t.dense = expectedDenseBase + expectedDenseSlope*t.lexical
	}
	t.core, t.coreTop = weightLexical*t.lexical+weightDense*t.dense, weightLexical+weightDense
	t.plain = t.core
}

// cast tells whether the candidates have two or more speakers with a name, and whether they have both assistant's and
// other items.
func cast(all []*candidate) (named, mixed bool) {
	first := ""
	assistant, other := false, false
	for _, c := range all {
		turn := &c.record.Item.Turn
		if fromAssistant(turn) {
			assistant = true
		} else {
			other = true
		}
		if named || scoring.GenericSpeaker(turn.Speaker) {
			continue
		}
		if first == "" {
			first = turn.Speaker
		}
		named = turn.Speaker != first
	}
	return named, assistant && other
}

func fromAssistant(t *store.Turn) bool {
	return strings.EqualFold(t.Role, "assistant") || t.Role == "" && strings.EqualFold(t.Speaker, "assistant")
}

// sessionCredit gives each chat turn the mean of the best three A0 among the candidates of its session.
func sessionCredit(all []*candidate) {
	sessions := map[[2]string][]*candidate{}
	for _, c := range all {
		if turn := &c.record.Item.Turn; turn.IsTurn() {
			key := [2]string{turn.Thread, turn.Session}
			sessions[key] = append(sessions[key], c)
		}
	}
	for _, members := range sessions {
		best := make([]float64, len(members))
		for i, c := range members {
			best[i] = c.terms.core
		}
		slices.Sort(best)
		best = best[max(len(best)-sessionBest, 0):]
		sum := 0.0
		for _, b := range best {
			sum += b
		}
		for _, c := range members {
			c.terms.session = sum / float64(len(best))
		}
	}
}

// finish makes the final score and its parts.
func (p *plan) finish(c *candidate) {
	it := &c.record.Item
	recency := undatedRecency
	if !it.ValidFrom.IsZero() {
		recency = scoring.Recency(p.now.Sub(it.ValidFrom), p.opts.halfLife(it.Kind))
	}
	importance := scoring.Importance(it.Importance, it.Uses)
	c.hit = Hit{Item: *it, Scope: c.scope, Parts: Parts{
		Semantic:   p.weights.Semantic * c.terms.sum,
		Recency:    p.weights.Recency * recency,
		Importance: p.weights.Importance * importance,
	}}
	sum := c.hit.Parts.Semantic + c.hit.Parts.Recency + c.hit.Parts.Importance
	c.hit.Score = min(sum, 1)
	c.hit.Parts.Update = c.hit.Score - sum // not 0 only when rounding went past 1
	if p.req.Explain {
		c.hit.Explain = p.explain(c, recency, importance)
	}
}

func (p *plan) explain(c *candidate, recency, importance float64) *Explanation {
	t := &c.terms
	x := &Explanation{
		Weights: p.weights,
		Raw:     map[string]float64{"semantic": t.sum, "recency": recency, "importance": importance},
		Terms: map[string]float64{
			"lexical": t.lexical, "lexical_own": t.views[0], "lexical_prev1": t.views[1], "lexical_prev2": t.views[2],
			"dense": t.dense, "cosine": t.cosine, "late": t.late, "speaker": t.speaker, "when": t.when, "date": t.date, "user": t.user,
			"session": t.session, "chunks": float64(t.chunks),
			"name": t.name, "names": t.names, "asks": t.asks, "address": t.address, "next": t.next, "reply": t.reply, "ahead": t.ahead, "around": t.around, "second": t.second, "wish": t.wish,
		},
		Ranks: maps.Clone(c.record.Ranks),
	}
	if p.opts.Reranker != nil {
		x.Terms["rerank"] = t.rerank
	}
	return x
}

// compare orders candidates: best first, then newest, then by place in the conversation, then by id. It is a total
// order, so an answer does not depend on the order in which candidates came.
func compare(a, b *candidate) int {
	if c := cmp.Compare(b.hit.Score, a.hit.Score); c != 0 {
		return c
	}
	return compareTies(a, b)
}

// compareTies orders candidates of one score.
func compareTies(a, b *candidate) int {
	x, y := &a.hit.Item, &b.hit.Item
	if c := y.ValidFrom.Compare(x.ValidFrom); c != 0 {
		return c
	}
	if c := cmp.Compare(y.Turn.Session, x.Turn.Session); c != 0 {
		return c
	}
	if c := cmp.Compare(y.Turn.Position, x.Turn.Position); c != 0 {
		return c
	}
	if c := cmp.Compare(x.ID, y.ID); c != 0 {
		return c
	}
	return cmp.Compare(a.place, b.place)
}
