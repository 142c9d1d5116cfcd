package scoring

import (
	"math"
	"time"
)

// Worth is what the value of keeping an item is made of.
type Worth struct {
	Importance float64       // 0–1
	Confidence float64       // 0–1
	Uses       int           // how often it helped, by feedback
	Age        time.Duration // since its latest use or, unused, since it was recorded; below 0 counts as 0
	Evidence   int           // how often it was confirmed after it was first said
}

// worthHalfLife is the age at which the share of what is fresh has halved.
const worthHalfLife = 180 * 24 * time.Hour

// Value is what an item is worth keeping for, from 0 to 1:
//
//	0.4·importance + 0.25·confidence + 0.2·min(uses/10, 1) + 0.1·2^(−age/180 d) + 0.05·min(evidence/4, 1)
//
// Importance, recency by exponential decay and a weighted sum are those of Park et al. 2023 (Generative Agents); that use
// keeps a memory alive is Ebbinghaus's curve as Zhong et al. 2023 (MemoryBank) take it. The weights are our own: what
// somebody judged the item to be stands before what can be counted of it, and age alone never outweighs either.
func (w Worth) Value() float64 {
	age := max(0, w.Age)
	return 0.4*w.Importance + 0.25*w.Confidence + 0.2*min(float64(max(0, w.Uses))/10, 1) +
		0.1*math.Exp2(-float64(age)/float64(worthHalfLife)) + 0.05*min(float64(max(0, w.Evidence))/4, 1)
}
