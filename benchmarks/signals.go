package benchmarks

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"evoke"
)

// Updates is how often, of questions whose answer was replaced in the course of a conversation, the newest statement stands
// above every older one.
type Updates struct {
	N        int      `json:"n"`
	Share    float64  `json:"share"`
	Interval Interval `json:"-"`
	each     []float64
}

// Abstention is how well Response.Confidence tells questions that memory answers from those of one category that it does
// not: the area under the ROC curve, 0.5 for a signal that tells nothing.
type Abstention struct {
	Answerable   int      `json:"answerable"`
	Unanswerable int      `json:"unanswerable"`
	AUROC        float64  `json:"auroc"`
	Interval     Interval `json:"-"`
	// Under03 are the shares with a confidence under 0.3, which a caller may take for "nothing is known of it".
	AnswerableUnder03   float64 `json:"answerable_under_0.3"`
	UnanswerableUnder03 float64 `json:"unanswerable_under_0.3"`
}

// newerFirst reports whether the first of fresh stands above every one of stale. What is not in the ranking stands behind
// all that is.
func newerFirst(ranking, fresh, stale []string) bool {
	place := func(ids []string) int {
		i := slices.IndexFunc(ranking, func(id string) bool { return slices.Contains(ids, id) })
		if i < 0 {
			return len(ranking)
		}
		return i
	}
	return place(fresh) < place(stale)
}

// update notes how one question of an update was answered.
func (r *SetResult) update(system string, newer bool) {
	u := r.Updates[system]
	if u == nil {
		u = &Updates{}
		r.Updates[system] = u
	}
	v := 0.0
	if newer {
		v = 1
	}
	u.N++
	u.each = append(u.each, v)
	u.Share, u.Interval = mean(u.each), Bootstrap(u.each)
}

// askUnanswerable asks the questions that memory does not answer and keeps their confidences by category.
func (r *SetResult) askUnanswerable(ctx context.Context, e Engine, clock *Clock, n *Namespace) error {
	for i, q := range n.Questions {
		l := n.Labels[i]
		if l.Category != "adversarial" && l.Category != "abstention" {
			continue
		}
		at := q.Time
		if at.IsZero() {
			at = n.newest()
		}
		clock.Set(at)
		res, err := e.Recall(ctx, defaultRequest(who(r.Name, n), q.Text, depth))
		if err != nil {
			return err
		}
		r.unanswered[l.Category] = append(r.unanswered[l.Category], res.Confidence)
	}
	return nil
}

// abstention compares the confidences of answerable questions with those of each unanswerable category.
func (r *SetResult) abstention() {
	for category, negative := range r.unanswered {
		if len(r.answered) == 0 {
			continue
		}
		a := &Abstention{Answerable: len(r.answered), Unanswerable: len(negative), AUROC: AUROC(r.answered, negative)}
		a.Interval = aurocInterval(r.answered, negative)
		a.AnswerableUnder03, a.UnanswerableUnder03 = shareUnder(r.answered, 0.3), shareUnder(negative, 0.3)
		r.Abstention[category] = a
	}
}

func shareUnder(x []float64, limit float64) float64 {
	n := 0.0
	for _, v := range x {
		if v < limit {
			n++
		}
	}
	return n / float64(len(x))
}

// AUROC is how likely a positive stands above a negative, equal values counting half.
func AUROC(positive, negative []float64) float64 {
	sorted := slices.Sorted(slices.Values(negative))
	sum := 0.0
	for _, p := range positive {
		below, _ := slices.BinarySearch(sorted, p)
		upTo, _ := slices.BinarySearchFunc(sorted, p, func(v, p float64) int { return cmp.Or(cmp.Compare(v, p), -1) })
		sum += float64(below) + float64(upTo-below)/2
	}
	return sum / float64(len(positive)) / float64(len(negative))
}

// aurocInterval is the percentile interval over resampled questions of both kinds.
func aurocInterval(positive, negative []float64) Interval {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i := range out {
			out[i] = x[r.IntN(len(x))]
		}
		return out
	}
	areas := make([]float64, resamples/4)
	for i := range areas {
		areas[i] = AUROC(draw(positive), draw(negative))
	}
	slices.Sort(areas)
	return Interval{areas[len(areas)*25/1000], areas[len(areas)*975/1000-1]}
}

// misspeltShare is how many of the longer words of a misspelt question have a slip, misspeltLetters how long these are at
// the least.
const (
	misspeltShare   = 0.3
	misspeltLetters = 5
)

// Misspell puts a slip into 30 % of a question's words of five letters or more: two letters swapped, one lost or one
// doubled, never the first. The same seed makes the same slips. Words that are not in the letters a–z stay.
func Misspell(question string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 5))
	words := strings.Fields(question)
	for i, w := range words {
		letters := strings.TrimFunc(w, func(c rune) bool { return !unicode.IsLetter(c) })
		plain := !strings.ContainsFunc(letters, func(c rune) bool { return c > unicode.MaxASCII || !unicode.IsLetter(c) })
		if len(letters) < misspeltLetters || !plain || r.Float64() >= misspeltShare {
			continue
		}
		at := 1 + r.IntN(len(letters)-2)
		slip := letters[:at] + letters[at+1:at+2] + letters[at:at+1] + letters[at+2:]
		switch r.IntN(3) {
		case 0:
			slip = letters[:at] + letters[at+1:]
		case 1:
			slip = letters[:at+1] + letters[at:]
		}
		words[i] = strings.Replace(w, letters, slip, 1)
	}
	return strings.Join(words, " ")
}

// Merge puts all memories of the sets into one, asked the questions of the first set alone: how much is lost when more
// stands beside what is asked for.
func Merge(sets ...Set) Set {
	all := Namespace{Name: "all"}
	var names []string
	for i := range sets {
		names = append(names, sets[i].Name)
		for _, n := range sets[i].Namespaces {
			prefix := sets[i].Name + "/" + n.Name + "/"
			for _, it := range n.Items {
				it.ID = prefix + it.ID
				if it.Session != "" {
					it.Session = prefix + it.Session
				}
				all.Items = append(all.Items, it)
			}
			for j, l := range n.Labels {
				if i > 0 || !l.Scored() {
					continue
				}
				q := n.Questions[j]
				if q.Time.IsZero() {
					q.Time = n.newest()
				}
				l.Relevant = prefixed(prefix, l.Relevant)
				l.Stale = prefixed(prefix, l.Stale)
				all.Questions, all.Labels = append(all.Questions, q), append(all.Labels, l)
			}
		}
	}
	return Set{Name: strings.Join(names, "+"), Namespaces: []Namespace{all}}
}

// Cross asks the questions of one set over the items of another that has the same memories and ids in another language.
func Cross(questions, items *Set) Set {
	out := Set{Name: questions.Name + "-over-" + items.Name}
	for _, n := range items.Namespaces {
		i := slices.IndexFunc(questions.Namespaces, func(q Namespace) bool { return q.Name == n.Name })
		if i < 0 {
			continue
		}
		n.Questions, n.Labels = questions.Namespaces[i].Questions, questions.Namespaces[i].Labels
		out.Namespaces = append(out.Namespaces, n)
	}
	return out
}

func prefixed(prefix string, ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, prefix+id)
	}
	return out
}

// Lost is what a merged set's default loses against that of the set whose questions it asks, paired by question: the means
// of apart minus merged, and their intervals. ok is false when the two did not ask the same questions.
func Lost(apart, merged *SetResult) (mean_ map[Metric]float64, interval map[Metric]Interval, ok bool) {
	a, m := apart.Systems[Default], merged.Systems[Default]
	if a == nil || m == nil || a.N != m.N {
		return nil, nil, false
	}
	mean_, interval = map[Metric]float64{}, map[Metric]Interval{}
	for _, k := range []Metric{Recall5, Recall10, NDCG10} {
		diff := make([]float64, a.N)
		for i := range diff {
			diff[i] = a.scores[k][i] - m.scores[k][i]
		}
		mean_[k], interval[k] = mean(diff), Bootstrap(diff)
	}
	return mean_, interval, true
}

func defaultRequest(w evoke.Who, text string, limit int) evoke.RecallRequest {
	r := evoke.RecallRequest{Who: w}
	zero := 0.0
	r.Query, r.Limit, r.MinScore, r.Profile = text, limit, &zero, Default
	return r
}
