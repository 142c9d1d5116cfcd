package benchmarks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

// Taker is what a run over conversations drives: ingest, facts and recall.
type Taker interface {
	Distiller
	Settle(ctx context.Context) error
	Recall(ctx context.Context, r evoke.RecallRequest) (evoke.RecallResult, error)
}

// FactsResult compares recall over turns and facts with recall over the turns alone.
type FactsResult struct {
	Name     string
	N        int // questions
	Turns    int
	Facts    int // current ones
	Memories int
	Bad      int // facts whose quote is not in the turn they name
	With     map[Metric]Share
	Alone    map[Metric]Share
	Versus   map[Metric]Interval // with minus alone, paired by question
	Embedder string
	Took     time.Duration // ingest and extraction, both memories
}

var factMetrics = []Metric{Recall5, Recall10}

// page is how many hits are asked for: enough that ten turns are left when repeats are dropped.
const factsPage = 60

// RunFacts ingests each conversation of a set into with, which distils facts, and into alone, which does not, and asks
// the set's questions of both. A fact counts as the turn that it quotes; repeats of a turn are dropped from the page.
func RunFacts(ctx context.Context, with, alone Taker, clock *Clock, s *Set, progress func(string)) (*FactsResult, error) {
	r := &FactsResult{Name: s.Name, Memories: len(s.Namespaces), With: map[Metric]Share{}, Alone: map[Metric]Share{}, Versus: map[Metric]Interval{}}
	began := time.Now()
	labels := make([][2]map[string]string, len(s.Namespaces)) // turn id to the set's id
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		for j, m := range [...]Taker{with, alone} {
			ids, err := ingestAll(ctx, m, clock, who(s.Name, n), n)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", s.Name, n.Name, err)
			}
			labels[i][j] = ids
		}
		items, err := listAll(ctx, with, who(s.Name, n))
		if err != nil {
			return nil, err
		}
		facts, bad := grounded(items)
		r.Turns, r.Facts, r.Bad = r.Turns+len(labels[i][0]), r.Facts+len(facts), r.Bad+bad
		progress(fmt.Sprintf("%s: took in %d of %d memories, %d facts", s.Name, i+1, len(s.Namespaces), r.Facts))
	}
	r.Took = time.Since(began)
	for _, m := range [...]Taker{with, alone} {
		if err := m.Settle(ctx); err != nil {
			return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
		}
	}
	scores := [2]map[Metric][]float64{{}, {}}
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		err := n.scored(clock, func(q Question, l Label) error {
			r.N++
			for j, m := range [...]Taker{with, alone} {
				ranking, embedder, err := askTurns(ctx, m, who(s.Name, n), q.Text, labels[i][j])
				if err != nil {
					return fmt.Errorf("ask %s/%s: %w", s.Name, l.ID, err)
				}
				r.Embedder = embedder
				got := Score(ranking, l.Relevant, nil)
				for _, k := range factMetrics {
					scores[j][k] = append(scores[j][k], got[k])
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, k := range factMetrics {
		r.With[k], r.Alone[k] = shareOf(scores[0][k]), shareOf(scores[1][k])
		diff := slices.Clone(scores[0][k])
		for i := range diff {
			diff[i] -= scores[1][k][i]
		}
		r.Versus[k] = Bootstrap(diff)
	}
	return r, nil
}

// ingestAll takes a memory's conversations in, session by session. The one who speaks first is the user, the others are
// assistants with a name. It returns which turn is which item of the set.
func ingestAll(ctx context.Context, m Taker, clock *Clock, w evoke.Who, n *Namespace) (map[string]string, error) {
	ids := map[string]string{}
	if len(n.Items) == 0 {
		return ids, nil
	}
	first := n.Items[0].Speaker
	for from := 0; from < len(n.Items); {
		to := from
		var ms []message.Message
		for ; to < len(n.Items) && n.Items[to].Session == n.Items[from].Session; to++ {
			it := &n.Items[to]
			role := message.Assistant
			if it.Speaker == first {
				role = message.User
			}
			ms = append(ms, message.Message{Role: role, Name: it.Speaker, Content: it.Text, Time: it.Time})
		}
		clock.Set(n.Items[to-1].Time)
		w.Thread = "s" + n.Items[from].Session
		res, err := m.Ingest(ctx, evoke.IngestRequest{Who: w, Messages: ms})
		if err != nil {
			return nil, err
		}
		for _, t := range res.Turns {
			ids[t.ID] = n.Items[from+t.Index].ID
		}
		if _, err := m.Flush(ctx, w); err != nil {
			return nil, err
		}
		from = to
	}
	return ids, nil
}

// askTurns ranks the set's items by a memory's answer.
func askTurns(ctx context.Context, m Taker, w evoke.Who, query string, ids map[string]string) ([]string, string, error) {
	zero := 0.0
	res, err := m.Recall(ctx, evoke.RecallRequest{Who: w, Request: recall.Request{Query: query, Limit: factsPage, MinScore: &zero}})
	if err != nil {
		return nil, "", err
	}
	ranking := []string{}
	for _, h := range res.Hits {
		id := turnOf(&h.Item, ids)
		if id != "" && !slices.Contains(ranking, id) {
			ranking = append(ranking, id)
		}
	}
	return ranking, res.Embedder, nil
}

func turnOf(it *store.Item, ids map[string]string) string {
	if it.Provenance.Extractor == "" {
		return ids[it.ID]
	}
	for _, t := range it.Provenance.Turns {
		if id := ids[t]; id != "" {
			return id
		}
	}
	return ""
}
