package recall

import (
	"sync"
	"time"
)

// breaker spares calls a step that stalls: after some timeouts in a row it is left out for a while, which doubles each time
// the one call that then tries it again runs into its timeout, too. It is about real time, as timeouts are, not about the
// clock that memories are dated by. It is safe for concurrent use.
type breaker struct {
	mu      sync.Mutex
	stalls  int // in a row
	rest    time.Duration
	until   time.Time
	probing bool // a call is trying it again
}

// The breaker's constants.
const (
	breakerStalls   = 3                      // timeouts in a row until the step is left out
	breakerPatience = 250 * time.Millisecond // a call that had less time than this says nothing
	breakerRest     = 2 * time.Second
	breakerLongest  = time.Minute
	breakerSays     = "left out after it stalled"
)

// allow reports whether the step may be tried now. Whoever may has to call done or withdraw.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stalls < breakerStalls {
		return true
	}
	if b.probing || time.Now().Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

// done tells how the step went.
func (b *breaker) done(stalled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if !stalled {
		b.stalls, b.rest = 0, 0
		return
	}
	if b.stalls++; b.stalls < breakerStalls {
		return
	}
	b.rest = min(max(2*b.rest, breakerRest), breakerLongest)
	b.until = time.Now().Add(b.rest)
}

// withdraw is for a call that gave up for a reason of its own, which says nothing of the step.
func (b *breaker) withdraw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
