package llm

import (
	"maps"
	"sync"

	"evoke/extract"
	"evoke/extract/llm/internal/reply"
)

// Reason says why an operation, or a section, was refused.
type Reason string

// The reasons: what could not be read, and what could but must not be stored.
const (
	NotAnObject   = Reason(reply.NotAnObject)   // a list element that is no object
	UnknownAction = Reason(reply.UnknownAction) // none of the five actions
	UnknownTurn   = Reason(reply.UnknownTurn)   // a turn that was not shown
	UnknownTarget = Reason(reply.UnknownTarget) // a known item that was not shown
	NoContent     = Reason(reply.NoContent)     // nothing to store
	NoQuote       = Reason(reply.NoQuote)       // nothing that it rests on
	BadConfidence = Reason(reply.BadConfidence) // a number that cannot be a confidence
	TooLong       = Reason(reply.TooLong)       // longer than a statement
	TooMany       = Reason(reply.TooMany)       // more than a conversation holds
	Truncated     = Reason(reply.Truncated)     // cut off in the middle
	Malformed     = Reason(reply.Malformed)     // JSON beyond repair

	Ungrounded    Reason = "ungrounded"     // its quote is not in the turn it names
	NotAsserted   Reason = "not_asserted"   // hypothetical, a question, quoted, role-play, or of a modality unknown
	WrongSpeaker  Reason = "wrong_speaker"  // it names another speaker than the turn's
	AssistantOnly Reason = "assistant_only" // what an assistant said, and no user
	Duplicate     Reason = "duplicate"      // the same operation came before, on the same turn
	Refused       Reason = "refused"        // a turn that the service would not read
	OtherOwner    Reason = "other_owner"    // another user's or another project's matter

	// Of sections of the profile.
	SectionUnknown       Reason = "section_unknown"        // none of the six
	SectionUnknownTurn   Reason = "section_unknown_turn"   // it rests on no turn, or on one that was not shown
	SectionNoContent     Reason = "section_no_content"     // nothing to write
	SectionTooLong       Reason = "section_too_long"       // its first sentence alone is longer than a section
	SectionUngrounded    Reason = "section_ungrounded"     // too little of it was said, or a number in it was not
	SectionHidden        Reason = "section_hidden"         // it stands, and there was no room to show it
	SectionAssistantOnly Reason = "section_assistant_only" // it rests on what an assistant said, and no user
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{NotAnObject, UnknownAction, UnknownTurn, UnknownTarget, NoContent, NoQuote, BadConfidence, TooLong, TooMany, Truncated, Malformed,
		Ungrounded, NotAsserted, WrongSpeaker, AssistantOnly, Duplicate, Refused, OtherOwner,
		SectionUnknown, SectionUnknownTurn, SectionNoContent, SectionTooLong, SectionUngrounded, SectionHidden, SectionAssistantOnly}
}

// Stats count what an Extractor did since it was made.
type Stats struct {
	Extractions      int // that gave a result
	Calls            int // requests sent
	Failures         int // of them, without an answer
	Retries          int // requests repeated after a failure
	Rereads          int // answers asked for again because they could not be read
	Splits           int // batches split because an answer reached the token cap, or a request was too long or refused
	Repairs          int // answers whose JSON was mended
	Defaults         int // fields that a model left out
	PromptTokens     int // as the service counts; estimated where it does not
	CompletionTokens int
	Operations       map[extract.Action]int // taken
	Sections         int                    // of profiles, to be written anew
	Nothing          int                    // answers and operations that say that there is nothing
	Rejected         map[Reason]int
}

// counters are Stats with a lock.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func (c *counters) read() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.s
	s.Operations, s.Rejected = maps.Clone(s.Operations), maps.Clone(s.Rejected)
	if s.Operations == nil {
		s.Operations = map[extract.Action]int{}
	}
	if s.Rejected == nil {
		s.Rejected = map[Reason]int{}
	}
	return s
}

func (c *counters) count(f func(s *Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.s)
}

func (c *counters) called(u extract.Usage) {
	c.count(func(s *Stats) {
		s.Calls += u.Calls
		s.PromptTokens += u.PromptTokens
		s.CompletionTokens += u.CompletionTokens
	})
}

func (c *counters) failed()  { c.count(func(s *Stats) { s.Failures++ }) }
func (c *counters) retried() { c.count(func(s *Stats) { s.Retries++ }) }
func (c *counters) reread()  { c.count(func(s *Stats) { s.Rereads++ }) }
func (c *counters) split()   { c.count(func(s *Stats) { s.Splits++ }) }

// answered counts what an answer held before its operations were judged.
func (c *counters) answered(r *reply.Result) {
	c.count(func(s *Stats) {
		s.Defaults += r.Defaults
		s.Nothing += r.Nothing
		if r.Repaired {
			s.Repairs++
		}
		if r.Nothing == 0 && len(r.Ops)+len(r.Bad)+len(r.Sections)+len(r.BadSections) == 0 {
			s.Nothing++
		}
	})
}

// ended counts what an extraction gave.
func (c *counters) ended(rep *extract.Report) {
	c.count(func(s *Stats) {
		s.Extractions++
		s.Sections += len(rep.Sections)
		if s.Operations == nil {
			s.Operations, s.Rejected = map[extract.Action]int{}, map[Reason]int{}
		}
		for i := range rep.Operations {
			s.Operations[rep.Operations[i].Action]++
		}
		for i := range rep.Rejected {
			s.Rejected[Reason(rep.Rejected[i].Reason)]++
		}
	})
}
