package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// fake is a Searcher over items in memory, by brute force.
type fake struct {
	scopes map[store.Scope]*fakeScope
	fail   map[store.Arm]error
	err    error                    // of Search
	broken map[string]error         // of Search, by scope key
	stall  map[string]time.Duration // of Search, by scope key
	asked  []store.Query
	pool   int // candidates beyond the arms' nominations: every item, when set
}

type fakeScope struct {
	records []store.Record
	rows    [][][]float32 // search vectors by record
	pending int
}

func newFake() *fake { return &fake{scopes: map[store.Scope]*fakeScope{}} }

// add stores an item with its search vectors, if any.
func (f *fake) add(sc store.Scope, it store.Item, rows ...[]float32) {
	s := f.scopes[sc]
	if s == nil {
		s = &fakeScope{}
		f.scopes[sc] = s
	}
	if it.ContentKey == "" {
		it.ContentKey = store.ContentKey(it.Kind, it.Content)
	}
	doc := scoring.NewDoc(it.Turn.Speaker, it.Content, it.Local())
	s.records = append(s.records, store.Record{Item: it, Doc: &doc, Embedded: len(rows) > 0})
	s.rows = append(s.rows, rows)
	if len(rows) == 0 {
		s.pending++
	}
}

// link fills Prev1 and Prev2 of every record.
func (s *fakeScope) link() {
	type place struct {
		thread, session string
		position        int
	}
	at := map[place]*scoring.Doc{}
	for i := range s.records {
		if t := s.records[i].Item.Turn; t.IsTurn() {
			at[place{t.Thread, t.Session, t.Position}] = s.records[i].Doc
		}
	}
	for i := range s.records {
		if t := s.records[i].Item.Turn; t.IsTurn() {
			s.records[i].Prev1 = at[place{t.Thread, t.Session, t.Position - 1}]
			s.records[i].Prev2 = at[place{t.Thread, t.Session, t.Position - 2}]
		}
	}
}

func (f *fake) Search(ctx context.Context, sc store.Scope, q store.Query) (*store.Candidates, error) {
	f.asked = append(f.asked, q)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d := f.stall[sc.Key()]; d > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(d):
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if err := f.broken[sc.Key()]; err != nil {
		return nil, err
	}
	c := &store.Candidates{Stats: scoring.LexicalStats{DF: map[scoring.Term]int{}}, Failed: f.fail}
	s := f.scopes[sc]
	if s == nil {
		return c, nil
	}
	s.link()
	if q.Correct {
		q.Terms = scoring.CorrectTypos(q.Terms, func(t scoring.Term) (n int) {
			for i := range s.records {
				if q.View.Sees(&s.records[i].Item) && slices.ContainsFunc(s.records[i].Doc.Terms(), func(f scoring.TermFreq) bool { return f.Term == t }) {
					n++
				}
			}
			return n
		})
	}
	c.Pending, c.Terms = s.pending, q.Terms
	var seen []int
	for i := range s.records {
		it := &s.records[i].Item
		if !q.View.Sees(it) {
			continue
		}
		c.Stats.Docs++
		own := s.records[i].Doc.Terms()
		for _, t := range q.Terms {
			if slices.ContainsFunc(own, func(f scoring.TermFreq) bool { return f.Term == t.Term }) {
				c.Stats.DF[t.Term]++
			}
		}
		if q.Filter.Match(it) {
			seen = append(seen, i)
		}
	}
	s.nominate(c, q, seen, f)
	return c, nil
}

func (s *fakeScope) nominate(c *store.Candidates, q store.Query, seen []int, f *fake) {
	lex := scoring.NewLexical(lexicalParams(false), c.Stats, q.Terms)
	dense := make([]float64, len(s.records))
	words := make([]float64, len(s.records))
	for _, i := range seen {
		for n, row := range s.rows[i] {
			if q.Vector == nil {
				break
			}
			d := 0.0
			for k := range row {
				d += float64(row[k]) * float64(q.Vector[k])
			}
			if n == 0 || d > dense[i] {
				dense[i] = d
			}
		}
		words[i], _ = lex.Score(s.records[i].Doc, s.records[i].Prev1, s.records[i].Prev2)
	}
	ranks := map[int]map[store.Arm]int{}
	arm := func(a store.Arm, n int, less func(i, j int) int, keep func(int) bool) {
		if f.fail[a] != nil {
			return
		}
		order := slices.Clone(seen)
		slices.SortStableFunc(order, less)
		rank := 0
		for _, i := range order {
			if rank == n {
				return
			}
			if keep(i) {
				rank++
				if ranks[i] == nil {
					ranks[i] = map[store.Arm]int{}
				}
				ranks[i][a] = rank
			}
		}
	}
	all := func(int) bool { return true }
	arm(store.DenseArm, q.Dense, func(i, j int) int { return cmp.Compare(dense[j], dense[i]) }, func(i int) bool { return q.Vector != nil && s.records[i].Embedded })
	arm(store.LexicalArm, q.Lexical, func(i, j int) int { return cmp.Compare(words[j], words[i]) }, func(i int) bool { return words[i] > 0 })
	arm(store.RecentArm, q.Recent, func(i, j int) int { return s.records[j].Item.ValidFrom.Compare(s.records[i].Item.ValidFrom) }, all)
	arm(store.ImportantArm, q.Important, func(i, j int) int {
		return cmp.Compare(s.records[j].Item.Importance, s.records[i].Item.Importance)
	}, all)
	for _, i := range seen {
		if ranks[i] == nil && f.pool == 0 {
			continue
		}
		r := s.records[i]
		r.Ranks, r.Dense = ranks[i], dense[i]
		r.Embedded = r.Embedded && q.Vector != nil
		c.Records = append(c.Records, r)
	}
}
