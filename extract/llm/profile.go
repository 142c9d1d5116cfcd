package llm

import (
	"slices"
	"time"

	"evoke/extract"
	"evoke/extract/llm/internal/reply"
	"evoke/store"
)

// profile is the user's profile as a run goes on: later calls are shown what earlier ones wrote.
type profile struct {
	sections map[string]*section
}

type section struct {
	content string
	since   time.Time // when it was written
	shown   bool      // in the call at hand
	turns   []string  // ids of the batch's turns that it was written anew from; none: as it was before the run
}

// begin takes the sections that stand. One of which a source was forgotten is left out (see store.StaleSection).
func (p *profile) begin(items []store.Item) {
	p.sections = map[string]*section{}
	for i := range items {
		it := &items[i]
		for _, name := range store.ProfileSections() {
			if it.Provenance.Subject == store.ProfileKey(name) && it.Content != "" && !it.Closed() && !it.ProfileStale() {
				p.sections[name] = &section{content: it.Content, since: it.ValidFrom}
			}
		}
	}
}

// show chooses the sections to be shown, within max tokens. One that is not shown is not written anew: what still holds
// of it would be lost.
func (p *profile) show(max int, cost func(string) int) []string {
	var out []string
	for _, name := range store.ProfileSections() {
		if s := p.sections[name]; s != nil {
			n := cost(s.content)
			if s.shown = n <= max; s.shown {
				max -= n
				out = append(out, name)
			}
		}
	}
	return out
}

// changed are the sections that were written anew.
func (p *profile) changed() []extract.Section {
	var out []extract.Section
	for _, name := range store.ProfileSections() {
		if s := p.sections[name]; s != nil && len(s.turns) > 0 {
			out = append(out, extract.Section{Name: name, Content: s.content, Turns: s.turns})
		}
	}
	return out
}

// sectionReasons are the parser's reasons for sections.
var sectionReasons = map[reply.Reason]Reason{
	reply.UnknownSection: SectionUnknown, reply.UnknownTurn: SectionUnknownTurn, reply.NoContent: SectionNoContent, reply.TooLong: SectionTooLong,
}

// takeSections judges the sections of an answer: it keeps those that rest on what users said.
func (r *run) takeSections(parsed *reply.Result, said *sources, units []unit) {
	turns, ids := map[string]*store.Item{}, shortIDs(units)
	for _, u := range units {
		turns[ids[u.item.ID]] = u.item
	}
	for i := range parsed.BadSections {
		b := &parsed.BadSections[i]
		r.rejectSection(sectionReasons[b.Reason], &b.Section, turns)
	}
	for i := range parsed.Sections {
		s := &parsed.Sections[i]
		if why := r.judgeSection(s, turns, said); why != "" {
			r.rejectSection(why, s, turns)
			continue
		}
		r.write(s, turns)
	}
}

func (r *run) judgeSection(s *reply.Section, turns map[string]*store.Item, said *sources) Reason {
	users := slices.ContainsFunc(s.Turns, func(id string) bool {
		t := turns[id]
		return t.Turn.Role != "assistant" || r.x.opts.Assistants && isName(t.Turn.Speaker)
	})
	old := r.profile.sections[s.Name]
	switch {
	case !users:
		return SectionAssistantOnly
	case old != nil && !old.shown:
		return SectionHidden
	case !said.bears(s.Content):
		return SectionUngrounded
	}
	return ""
}

// write puts a new text in a section's place. It rests on the turns of the text before it, too.
func (r *run) write(s *reply.Section, turns map[string]*store.Item) {
	old := r.profile.sections[s.Name]
	if old == nil {
		old = &section{shown: true}
		r.profile.sections[s.Name] = old
	}
	if old.content == s.Content {
		return
	}
	old.content, old.since = s.Content, r.now()
	for _, id := range s.Turns {
		if real := turns[id].ID; !slices.Contains(old.turns, real) {
			old.turns = append(old.turns, real)
		}
	}
}

// rejectSection counts a section. Its text is left out: it is no statement that could be approved.
func (r *run) rejectSection(why Reason, s *reply.Section, turns map[string]*store.Item) {
	op := extract.Operation{Subject: store.ProfileKey(s.Name)}
	if len(s.Turns) > 0 {
		if t := turns[s.Turns[0]]; t != nil {
			op.Turn, op.Speaker = t.ID, t.Turn.Speaker
		}
	}
	r.reject(why, op)
}
