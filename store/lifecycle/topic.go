package lifecycle

import (
	"maps"
	"math"
	"slices"

	"evoke/scoring"
	"evoke/store"
)

// alike is how near, as the cosine of its words weighed by their rarity, an item must be to those of a topic.
const alike = 0.35

// topic is a group in the making.
type topic struct {
	items   []store.Item
	words   int
	speaker string
	sum     map[scoring.Term]float64
}

// byTopic puts each item, the oldest first, to the topic whose words it shares most, if it shares enough.
func (g Grouping) byTopic(items []store.Item) []Group {
	items = slices.Clone(items)
	slices.SortFunc(items, asSaid)
	weights := weigh(items)
	var topics []*topic
	having := map[scoring.Term][]*topic{}
	for i := range items {
		w, words := weights[i], scoring.WordCount(items[i].Content)
		if len(w) == 0 {
			continue
		}
		near := map[*topic]float64{}
		for _, t := range w {
			for _, c := range having[t.term] {
				near[c] += t.weight * c.sum[t.term]
			}
		}
		var best *topic
		most := 0.0
		for _, c := range topics {
			s, ok := near[c]
			if ok && c.speaker == items[i].Turn.Speaker && c.words+words <= g.Words {
				if s /= c.norm(); s > most && s >= alike {
					best, most = c, s
				}
			}
		}
		if best == nil {
			best = &topic{speaker: items[i].Turn.Speaker, sum: map[scoring.Term]float64{}}
			topics = append(topics, best)
		}
		best.items, best.words = append(best.items, items[i]), best.words+words
		for _, t := range w {
			if best.sum[t.term] == 0 {
				having[t.term] = append(having[t.term], best)
			}
			best.sum[t.term] += t.weight
		}
	}
	var out []Group
	for _, c := range topics {
		if len(c.items) >= g.Least {
			out = append(out, Group{ByTopic, c.items})
		}
	}
	return out
}

func (c *topic) norm() float64 {
	n := 0.0
	for _, t := range slices.Sorted(maps.Keys(c.sum)) { // one order of summation: the same groups to the last bit
		n += c.sum[t] * c.sum[t]
	}
	return math.Sqrt(n)
}

type weighted struct {
	term   scoring.Term
	weight float64
}

// weigh gives each item the weights of the words that it shares with others, of unit length; the rarer among the items the
// heavier.
func weigh(items []store.Item) [][]weighted {
	df := map[scoring.Term]int{}
	terms := make([][]scoring.TermFreq, len(items))
	for i := range items {
		terms[i] = scoring.Terms(items[i].Content)
		for _, t := range terms[i] {
			df[t.Term]++
		}
	}
	out := make([][]weighted, len(items))
	for i := range items {
		n := 0.0
		for _, t := range terms[i] {
			idf := math.Log(1 + float64(len(items))/float64(df[t.Term]))
			n += idf * idf
			if df[t.Term] > 1 {
				out[i] = append(out[i], weighted{t.Term, idf})
			}
		}
		for j := range out[i] {
			out[i][j].weight /= math.Sqrt(n)
		}
	}
	return out
}
