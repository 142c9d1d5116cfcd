package benchmarks

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Metric names a quality measure of one ranking, 0 to 1.
type Metric string

// The metrics. Relevance is binary; a ranking is looked at down to rank 20.
const (
	Recall5       Metric = "recall@5"  // share of the relevant items among the first 5
	Recall10      Metric = "recall@10" // … the first 10
	Recall20      Metric = "recall@20"
	Hit5          Metric = "hit@5"           // 1 when any relevant item is among the first 5
	NDCG10        Metric = "ndcg@10"         // discounted gain over that of an ideal ranking, Järvelin and Kekäläinen 2002
	MRR           Metric = "mrr"             // 1 / rank of the first relevant item within 20, else 0
	AllEvidence10 Metric = "all-evidence@10" // 1 when every relevant item is among the first 10
	SessionAny5   Metric = "session-any@5"   // 1 when a session with a relevant item is among those of the first 5
)

// Metrics lists them in the order of reports.
func Metrics() []Metric {
	return []Metric{Recall5, Recall10, Recall20, Hit5, NDCG10, MRR, AllEvidence10, SessionAny5}
}

// Score measures one ranking of ids. session maps an id to its session; "" is no session.
func Score(ranking, relevant []string, session map[string]string) map[Metric]float64 {
	found := func(k int) (n float64) {
		for _, id := range ranking[:min(k, len(ranking))] {
			if slices.Contains(relevant, id) {
				n++
			}
		}
		return n
	}
	n := float64(len(relevant))
	m := map[Metric]float64{
		Recall5: found(5) / n, Recall10: found(10) / n, Recall20: found(20) / n,
		Hit5: math.Min(found(5), 1), AllEvidence10: math.Floor(found(10) / n),
	}
	var gain, ideal float64
	for i, id := range ranking[:min(20, len(ranking))] {
		if !slices.Contains(relevant, id) {
			continue
		}
		if i < 10 {
			gain += discount(i)
		}
		if m[MRR] == 0 {
			m[MRR] = 1 / float64(i+1)
		}
	}
	for i := range min(10, len(relevant)) {
		ideal += discount(i)
	}
	m[NDCG10] = gain / ideal
	for _, id := range ranking[:min(5, len(ranking))] {
		if s := session[id]; s != "" && slices.ContainsFunc(relevant, func(r string) bool { return session[r] == s }) {
			m[SessionAny5] = 1
		}
	}
	return m
}

func discount(i int) float64 { return 1 / math.Log2(float64(i+2)) }

// Interval is a 95 % confidence interval.
type Interval struct {
	Low, High float64
}

// resamples of a bootstrap.
const resamples = 2000

// Bootstrap is the percentile interval of the mean, over resampled questions. The seed is fixed, so a report can be
// made again.
func Bootstrap(x []float64) Interval {
	if len(x) == 0 {
		return Interval{}
	}
	r := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for i := range means {
		var sum float64
		for range x {
			sum += x[r.IntN(len(x))]
		}
		means[i] = sum / float64(len(x))
	}
	slices.Sort(means)
	return Interval{means[resamples*25/1000], means[resamples*975/1000-1]}
}

func mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// Quantiles of a latency sample, in milliseconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   int     `json:"n"`
}

// quantiles sorts its argument.
func quantiles(ms []float64) Quantiles {
	if len(ms) == 0 {
		return Quantiles{}
	}
	slices.Sort(ms)
	at := func(q float64) float64 { return ms[min(int(math.Ceil(q*float64(len(ms))))-1, len(ms)-1)] }
	return Quantiles{at(0.50), at(0.95), at(0.99), len(ms)}
}
