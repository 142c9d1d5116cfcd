// Package recall answers queries: plan, arms, second stage (exact scores), near-duplicate removal, packing to an exact
// token budget, rendering and explanation. It knows the ports of store and embed, never a backend.
package recall

import (
	"time"

	"evoke/store"
)

// Request is one query.
type Request struct {
	Query string // may be empty: then recent and important items answer, and MinScore does not apply
	Limit int    // 1–1000; 0 means the default, 5
	// MinScore drops hits whose final score is lower; nil means the default, 0.1; range 0–1.
	MinScore *float64
	Kinds    []store.Kind // shorthand for Filter.Kinds
	Filter   store.Filter
	// Task names the thread at hand: what holds for its task only is seen, too. Unlike a filter, it narrows nothing.
	Task  string
	AsOf  time.Time // what was true then, which is the query's now; zero: now
	Known time.Time // by what was known then; zero: AsOf
	// Zone is where relative words of the query ("yesterday") are counted: an offset ("+09:00") or a name ("Asia/Tokyo").
	// "" is the zone of AsOf or of the clock.
	Zone    string
	Profile string   // "default" (or "") or "classic"
	Weights *Weights // overrides the profile's
	Explain bool
	// WhyNot names up to 20 items, by id, whose fate is to be told in Response.WhyNot.
	WhyNot []string
	// Timeout is how long the search may take, as if the context ended then: each step has its part of it, and one that
	// stalls is left out and named in Response.Degraded. Up to ten minutes; 0: until the context ends.
	Timeout time.Duration
}

// Weights of the parts of a final score, each 0–1, with a sum of at most 1.
type Weights struct {
	Semantic   float64 `json:"semantic"`
	Recency    float64 `json:"recency"`
	Importance float64 `json:"importance"`
}

// Response is the answer to a Request, best first.
type Response struct {
	Hits []Hit `json:"hits"`
	// PendingVectors counts items of the scopes searched that are not in the dense arm yet.
	PendingVectors int `json:"pending_vectors"`
	// Embedder is the id of the vector space searched, or "none" for a lexical-only answer.
	Embedder string `json:"embedder"`
	// Degraded names each arm or step that failed and was left out, with a safe reason.
	Degraded map[string]string `json:"degraded,omitempty"`
	// Candidates counts the items that were scored.
	Candidates int `json:"candidates"`
	// Duplicates are items left out of Hits because a better hit says the same in nearly the same words.
	Duplicates []Duplicate `json:"duplicates,omitempty"`
	// Confidence, 0–1, is how likely the best candidates hold what the query asks for, at even odds; under 0.3 most
	// likely nothing speaks of it. It looks at the best 20 candidates, whatever limit and min_score. 0 without a query
	// or candidates. It is about answers to questions: what bears on a task without sharing its words, a preference say,
	// gets a low one; and it cannot tell that a detail is missing of a matter that memory speaks of at length.
	Confidence float64 `json:"confidence"`
	// Basis is what Confidence rests on, when Request.Explain is set: "strength" of the best candidate (lexical and
	// dense), the share of the query's words "known" to memory, how well the best candidate's words have "met" the
	// query's by what they mean, and for a query that names a speaker "speaker" and "speaker_met", how much more of it
	// that speaker's items hold than others' (negative: somebody else said it).
	Basis map[string]float64 `json:"basis,omitempty"`
	// Days are those that the query was read to name, when Request.Explain or WhyNot is set: a day "2023-06-14", a month
	// "2023-06", a year "2023"; "--05-07" and "--05" leave the year open; "2023-06-05..2023-06-11" is a range. They lift
	// items of these days and are no filter.
	Days []string `json:"days,omitempty"`
	// Empty says why there are no hits: "no_items", "filtered", "below_min_score" or "no_candidates"; "" where there are some.
	// What could not be searched is named in Degraded.
	Empty Emptiness `json:"empty,omitempty"`
	// WhyNot is the fate of the items that Request.WhyNot names, in its order.
	WhyNot []Fate `json:"why_not,omitempty"`
}

// Duplicate is an item that was left out for a better one that says the same.
type Duplicate struct {
	ID string `json:"id"`
	Of string `json:"of"` // the hit that says it
}

// Hit is one recalled item.
type Hit struct {
	Item  store.Item  `json:"item"`
	Scope store.Scope `json:"-"`
	Score float64     `json:"score"` // 0–1; hits are sorted by it
	Parts Parts       `json:"parts"`
	// Explain holds the sub-terms; nil unless asked for.
	Explain *Explanation `json:"explain,omitempty"`
}

// Parts sum to the score within 1e-6: each is a weighted share.
type Parts struct {
	Semantic   float64 `json:"semantic"`
	Recency    float64 `json:"recency"`
	Importance float64 `json:"importance"`
	Update     float64 `json:"update"`
}

// Explanation shows how a hit came by its score.
type Explanation struct {
	Weights Weights            `json:"weights"`
	Raw     map[string]float64 `json:"raw"`   // unweighted parts, each 0–1: semantic, recency, importance
	Terms   map[string]float64 `json:"terms"` // sub-terms of semantic: lexical, lexical_own, lexical_prev1, lexical_prev2, dense (0 and 1 are the model's typical ends), cosine, late, speaker, when, date, user, session, chunks; of a short item name, names, asks, address, next, reply and wish: how it speaks and what stands beside it; ahead and around, what a second look goes by, and second, what it added to semantic or took from it behind the first five
	Ranks   map[store.Arm]int  `json:"ranks"` // rank in each arm that nominated the item
}
