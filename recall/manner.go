package recall

import (
	"cmp"
	"strings"

	"evoke/embed/centre"
	"evoke/scoring"
	"evoke/store"
)

// spot is a place in a conversation.
type spot struct {
	thread, session string
	position        int
}

// scoreManner fills what tells statements from what only keeps a conversation going: how a short item speaks, and the
// turns beside it. named says that people with names talk, otherwise it is a person and an assistant.
//
// Between people a question rarely holds what is asked for later, and names and titles often do. What a person asks an
// assistant does tell of that person, but what is said to "you" there is courtesy or general advice. Who asks an assistant
// for help wants their lasting wishes heeded, which rarely have the words of the request. A reply to a question
// shares its subject with it, and so does a turn with the one behind it, which often names what the turn itself only
// refers to.
//
// How an item speaks counts only in the script of the question: each marks names and questions in its own way or not at
// all, and nothing shall stand back for being in another language.
func (p *plan) scoreManner(all []*candidate, named bool) {
	known, nameless := speakerNames(all)
	places := placesOf(all)
	for _, c := range all {
		if short(c.record.Doc) {
			c.manner = scoring.MannerOf(c.record.Item.Content, known)
		}
	}
	script := centre.Of(p.req.Query)
	for _, c := range all {
		t, turn := &c.terms, &c.record.Item.Turn
		c.personal = named && turn.IsTurn() && !nameless[turn.Speaker]
		if !short(c.record.Doc) || c.record.Item.IsSummary() { // it speaks as several do, and holds what stood beside each
			continue
		}
		alike := centre.Of(c.record.Item.Content) == script
		if p.asksName && alike {
			t.name = c.manner.Names
		}
		if !turn.IsTurn() {
			continue
		}
		switch {
		case !alike: // tells nothing
		case named && !nameless[turn.Speaker]:
			t.asks, t.names = c.manner.Asks, c.manner.Names
		default:
			t.address = c.manner.Address
			if !p.asksTold && trustOf(&c.record.Item) == OfUser && scoring.Wishes(c.record.Item.Content) {
				t.wish = 1
			}
		}
		c.after = places[spot{turn.Thread, turn.Session, turn.Position + 1}]
		if before := places[spot{turn.Thread, turn.Session, turn.Position - 1}]; before != nil && before.asked() {
			c.question = before
		}
	}
}

// placesOf are the candidates that are turns, by their places.
func placesOf(all []*candidate) map[spot]*candidate {
	places := make(map[spot]*candidate, len(all))
	for _, c := range all {
		if turn := &c.record.Item.Turn; turn.IsTurn() {
			at := spot{turn.Thread, turn.Session, turn.Position}
			if had := places[at]; had == nil || firstAt(c, had) {
				places[at] = c
			}
		}
	}
	return places
}

// asked reports whether a turn, however long, ends with a question.
func (c *candidate) asked() bool {
	if short(c.record.Doc) {
		return c.manner.Ends
	}
	return scoring.MannerOf(tail(c.record.Item.Content), nil).Ends
}

// tail is the end of a long text: enough to see how it ends.
func tail(s string) string {
	const bytes = 300
	if len(s) > bytes {
		s = strings.ToValidUTF8(s[len(s)-bytes:], "")
	}
	return s
}

// firstAt decides which of two candidates at one place stands for it: the turn itself, not what was distilled from it.
func firstAt(a, b *candidate) bool {
	x, y := &a.record.Item, &b.record.Item
	if x, y := x.Kind == store.Episodic, y.Kind == store.Episodic; x != y {
		return x
	}
	return cmp.Less(x.ID, y.ID)
}

// short reports whether an item is one whose neighbours count as its context.
func short(d *scoring.Doc) bool { return len(d.Chunks) <= 1 && d.Words <= contextWords }

// speakerNames are the words of the speakers' names, in lower case, and for each speaker whether it is no name but a role.
func speakerNames(all []*candidate) (names []string, nameless map[string]bool) {
	nameless = map[string]bool{}
	for _, c := range all {
		who := c.record.Item.Turn.Speaker
		if _, seen := nameless[who]; seen {
			continue
		}
		if nameless[who] = scoring.GenericSpeaker(who); !nameless[who] {
			names = append(names, strings.Fields(strings.ToLower(who))...)
		}
	}
	return names, nameless
}

// mannerCredit is what manner adds to A or takes from it. It needs every candidate's A0.
func (c *candidate) mannerCredit() float64 {
	t := &c.terms
	t.next, t.reply = 0, 0
	if c.after != nil {
		t.next = c.after.terms.core - nextMiddle
	}
	if c.question != nil {
		t.reply = c.question.terms.core
	}
	return weightName*t.name + weightNames*t.names - weightAsks*t.asks - weightAddress*t.address + weightNext*t.next + weightReply*t.reply + weightWish*t.wish
}
