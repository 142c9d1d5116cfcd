package recall

import (
	"math"
)

// confidence estimates, from the best candidates of an answer, how likely it is that they hold what the question asks for:
// see Response.Confidence. all is sorted, best first; limit, minimum and duplicates play no part.
func (p *plan) confidence(all []*candidate) (float64, map[string]float64) {
	if p.blank || len(all) == 0 {
		return 0, nil
	}
	var strength, known, named, others float64
	isNamed, dense := false, false
	for _, c := range all[:min(len(all), confidenceDepth)] {
		t := &c.terms
		dense = dense || t.dense != 0
		strength = max(strength, t.plain/t.coreTop)
		known = max(known, c.matter.Known())
		if covered := c.matter.Coverage(c.record.Doc); t.speaker == 1 {
			isNamed, named = true, max(named, covered)
		} else {
			others = max(others, covered)
		}
	}
	speaker := 0.0
	if isNamed {
		speaker = named - others
	}
	w := confidenceLexical
	if dense {
		w = confidenceDense
	}
	z := w.base + w.strength*strength + w.known*known + w.speaker*speaker
	return 1 / (1 + math.Exp(-z)), map[string]float64{"strength": strength, "known": known, "speaker": speaker}
}

// confidenceWeights are those of a logistic regression.
type confidenceWeights struct {
	base     float64
	strength float64 // of A0 of the best candidate
	known    float64 // of the share of the question's words, by idf, that the scope knows, names of speakers left out
	speaker  float64 // of how much more of the question the items of the speaker it names hold than those of others
}
