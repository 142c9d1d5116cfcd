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
	var strength, known, named, others, met, namedMet, othersMet float64
	isNamed, dense := false, false
	for _, c := range p.firstLook(all)[:min(len(all), confidenceDepth)] {
		t := &c.terms
		dense = dense || t.dense != 0
		strength = max(strength, t.plain/t.coreTop)
		known = max(known, c.matter.Known())
		covered, m := c.matter.Coverage(c.record.Doc), c.near.met(c.record.Doc)
		met = max(met, m)
		if t.speaker == 1 {
			isNamed, named, namedMet = true, max(named, covered), max(namedMet, m)
		} else {
			others, othersMet = max(others, covered), max(othersMet, m)
		}
	}
	speaker, speakerMet := 0.0, 0.0
	if isNamed {
		speaker, speakerMet = named-others, namedMet-othersMet
	}
	w := confidenceLexical
	if dense {
		w = confidenceDense
	}
	if dense && all[0].near != nil {
		w = confidenceLate
	}
	z := w.base + w.strength*strength + w.known*known + w.speaker*speaker + w.met*met + w.speakerMet*speakerMet
	return 1 / (1 + math.Exp(-z)), map[string]float64{"strength": strength, "known": known, "speaker": speaker, "met": met, "speaker_met": speakerMet}
}

// confidenceWeights are those of a logistic regression.
type confidenceWeights struct {
	base     float64
	strength float64 // of A0 of the best candidate
	known    float64 // of the share of the question's words, by idf, that the scope knows, names of speakers left out
	met      float64 // of how well the words of the best item meet those of the question, names of speakers left out
	speaker  float64 // of how much more of the question the items of the speaker it names hold than those of others
	// … and of how much better their words meet those of the question
	speakerMet float64
}
