package recall

import (
	"fmt"
	"slices"
	"strings"

	"evoke/scoring"
	"evoke/store"
)

// Shape is how a block is laid out.
type Shape string

// The shapes.
const (
	Lines    Shape = "lines"    // one list: corrections and standing instructions, profile, then hits, the best first
	Briefing Shape = "briefing" // under headings: the same, then facts and excerpts apart, excerpts in the order of time
	Full     Shape = "full"     // as lines, each with its id, origin, trust, confidence and the turns it rests on
)

func (s Shape) validate() (Shape, error) {
	switch s {
	case "":
		return Lines, nil
	case Lines, Briefing, Full:
		return s, nil
	}
	return s, store.Invalid("shape", `"lines", "briefing" or "full"`, fmt.Sprintf("%.40q", string(s)))
}

// Part is why an item is in a block.
type Part string

// The parts, in the order in which they stand.
const (
	PartStanding  Part = "standing"  // a correction or a standing instruction of the user
	PartProfile   Part = "profile"   // a section of the profile
	PartHit       Part = "hit"       // it answers the query
	PartNeighbour Part = "neighbour" // it stands before or behind a hit in its conversation
)

// head renders an item as a line of its own.
func head(it *store.Item, part Part, shape Shape, content string) string {
	var b strings.Builder
	b.WriteString("- [")
	b.WriteString(strings.Join(label(it, part, shape), " "))
	b.WriteString("] ")
	b.WriteString(spokenAs(it, content))
	return strings.TrimSpace(b.String())
}

// follow renders a turn that goes on where the line before left off; apart says that turns between are left out.
func follow(it *store.Item, apart bool, shape Shape, content string) string {
	var b strings.Builder
	b.WriteString("> ")
	if apart {
		b.WriteString("… ")
	}
	if shape == Full {
		b.WriteString("[")
		b.WriteString(strings.Join(label(it, PartNeighbour, shape), " "))
		b.WriteString("] ")
	} else if w := warning(it); w != "" {
		b.WriteString("[" + strings.Trim(w, "()") + "] ")
	}
	b.WriteString(spokenAs(it, content))
	return strings.TrimSpace(b.String())
}

func spokenAs(it *store.Item, content string) string {
	if it.Turn.Speaker == "" || it.IsProfile() || it.IsSummary() {
		return inline(content)
	}
	return speaker(&it.Turn) + ": " + inline(content)
}

// label is what stands between the brackets: a mark of what stands, the day, what the item is, and whose word it is where
// that is not the user's.
func label(it *store.Item, part Part, shape Shape) []string {
	var l []string
	if part == PartStanding {
		l = append(l, "standing")
	}
	if shape == Full {
		l = append(l, "id="+quoted(it.ID))
	}
	if part == PartProfile {
		l = append(l, "profile/"+strings.TrimPrefix(it.ContentKey, store.ProfileKey("")))
	} else {
		if d := it.Date(); d != "" {
			l = append(l, d)
		}
		what := string(it.Kind)
		if it.Category != "" {
			what += "/" + string(it.Category)
		}
		l = append(l, what)
	}
	if o := it.Outcomes; o.Last != "" {
		l = append(l, fmt.Sprintf("worked=%d/%d", o.Succeeded, o.Succeeded+o.Failed), "last="+string(o.Last))
	}
	if shape == Full {
		l = append(l, "origin="+quoted(originOf(it)), "trust="+string(trustOf(it)))
		if !it.Turn.IsTurn() {
			l = append(l, fmt.Sprintf("confidence=%.2f", it.Confidence))
		}
		if n := min(len(it.Provenance.Turns), mostSources); n > 0 {
			ids := make([]string, n)
			for i, id := range it.Provenance.Turns[:n] {
				ids[i] = quoted(id)
			}
			l = append(l, "turns="+strings.Join(ids, ","))
		}
	}
	if w := warning(it); w != "" {
		l = append(l, w)
	}
	return l
}

// mostSources is how many source turns a line of the full shape names.
const mostSources = 5

// quoted shows an id or another name that others chose: without blanks and brackets.
func quoted(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == ']' || r == '[' || r == ',' {
			return '_'
		}
		return r
	}, inline(s))
}

func originOf(it *store.Item) string {
	if it.Provenance.Origin == "" {
		return "unknown"
	}
	return it.Provenance.Origin
}

// warning marks what is not the user's word.
func warning(it *store.Item) string {
	var w string
	switch trustOf(it) {
	case OfTool:
		w = "tool, unverified"
	case OfImport:
		w = "import, unverified"
	case OfAssistant:
		if it.Turn.Speaker != "assistant" {
			w = "assistant"
		}
	case OfUser, OfApplication, Derived:
	}
	if demands(it) {
		w = strings.TrimPrefix(w+", not an instruction", ", ")
	}
	if w == "" {
		return ""
	}
	return "(" + w + ")"
}

// compact is the passage of a long text that holds most of the query's words, marked as cut; ok is false for a text of
// one passage.
func compact(it *store.Item, terms []scoring.QueryTerm) (passage string, ok bool) {
	chunks := scoring.Chunks(it.Content)
	if len(chunks) < 2 {
		return "", false
	}
	best, most := 0, 0
	for i, c := range chunks {
		have := scoring.Terms(c)
		n := 0
		for _, q := range terms {
			if slices.ContainsFunc(have, func(f scoring.TermFreq) bool { return f.Term == q.Term }) {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	passage = strings.TrimSpace(chunks[best])
	if best > 0 {
		passage = "… " + passage
	}
	return passage + " … (cut; whole text by id " + quoted(it.ID) + ")", true
}
