package llm

import (
	"strconv"
	"strings"

	"evoke/extract"
	"evoke/extract/llm/internal/reply"
	"evoke/store"
)

// take judges what an answer holds: it keeps what is grounded and asserted and rejects the rest with its reason.
func (r *run) take(parsed *reply.Result, known []*store.Item, said *sources, units []unit) {
	turns, ids := map[string]*store.Item{}, shortIDs(units)
	speakers := map[string]bool{}
	for _, u := range units {
		turns[ids[u.item.ID]] = u.item
		speakers[store.FoldText(u.item.Turn.Speaker)], speakers[store.FoldText(u.item.Turn.Role)] = true, true
	}
	for i := range parsed.Bad {
		r.reject(Reason(parsed.Bad[i].Reason), r.operation(&parsed.Bad[i].Op, turns, known))
	}
	for i := range parsed.Ops {
		o := &parsed.Ops[i]
		op := r.operation(o, turns, known)
		why := r.judge(&op, turns[o.Turn], o.Speaker, speakers)
		target := r.target(&op, known)
		if why == "" && !said.bear(o, contentOf(target)) {
			why = Ungrounded
		}
		if why == "" && target != nil && !r.touches(&op, target, turns[o.Turn]) {
			if op.Action == extract.Retract {
				why = Ungrounded
			} else {
				op.Action, op.Target = extract.Add, "" // it is a statement, and takes the place of nothing
			}
		}
		if why != "" {
			r.reject(why, op)
			continue
		}
		r.ops = append(r.ops, op)
	}
}

// target is the known item that an operation names, or nil.
func (r *run) target(op *extract.Operation, known []*store.Item) *store.Item {
	for _, it := range known {
		if op.Target != "" && it.ID == op.Target {
			return it
		}
	}
	return nil
}

func contentOf(it *store.Item) string {
	if it == nil {
		return ""
	}
	return it.Content
}

// touches reports whether an operation that closes a known item rests on something that is about it: a model that names the
// wrong one must not cost it.
func (r *run) touches(op *extract.Operation, target *store.Item, turn *store.Item) bool {
	if op.Action != extract.Retract && op.Action != extract.Supersede {
		return true
	}
	subject := target.Provenance.Subject
	return subject != "" && subject == op.Subject || concerns(turn.Content+"\n"+op.Content, target.Content)
}

// operation translates what the model gave, short ids into those of the store.
func (r *run) operation(o *reply.Op, turns map[string]*store.Item, known []*store.Item) extract.Operation {
	op := extract.Operation{
		Action: extract.Action(o.Action), Kind: o.Kind, Category: o.Category, Content: r.withSteps(o), Quote: o.Quote, Speaker: o.Speaker,
		At: o.Time, Precision: extract.Precision(o.Precision), Confidence: o.Confidence, Importance: o.Importance,
		About: o.About, Modality: extract.Modality(o.Modality), Durability: extract.Durability(o.Durability),
		Outcome: outcomeOf(o),
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(o.Target, "k")); err == nil && n >= 1 && n <= len(known) {
		op.Target = known[n-1].ID
	}
	if t := turns[o.Turn]; t != nil {
		op.Turn, op.Speaker = t.ID, t.Turn.Speaker
		if about := store.FoldText(op.About); about == store.FoldText(speakerOf(t)) || about == "user" || about == "the user" || about == "用户" || about == "self" {
			op.About = ""
		}
		if latest := t.ValidFrom; op.At.After(latest) && (!latest.IsZero() || op.At.After(r.now())) {
			op.At, op.Precision = latest, "" // what is planned is a fact from the moment it was said
		}
	}
	op.Subject, op.Exclusive = subjectOf(o.Subject, op.About)
	return op
}

// judge says why an operation must not be stored, or "". It puts the turn's own text in place of the quote.
func (r *run) judge(op *extract.Operation, turn *store.Item, speaker string, speakers map[string]bool) Reason {
	span := r.ground(turn).find(op.Quote)
	if span == "" || op.Content != "" && !r.ground(turn).carries(span) {
		return Ungrounded
	}
	op.Quote = span
	said := store.FoldText(speaker)
	switch {
	case op.Modality != extract.Asserted:
		return NotAsserted
	case said != "" && speakers[said] && said != store.FoldText(turn.Turn.Speaker) && said != store.FoldText(turn.Turn.Role):
		return WrongSpeaker
	case op.Durability == extract.DurableOther:
		return OtherOwner
	case turn.Turn.Role == "assistant" && op.Kind != store.Procedural && !(r.x.opts.Assistants && isName(turn.Turn.Speaker)):
		return AssistantOnly
	}
	key := seenKey{action: op.Action, target: op.Target, turn: op.Turn, content: store.ContentKey(op.Kind, op.Content)}
	if r.seen[key] {
		return Duplicate
	}
	r.seen[key] = true
	return ""
}

func (r *run) ground(turn *store.Item) *grounding {
	g := r.grounds[turn.ID]
	if g == nil {
		g = newGrounding(turn.Content)
		r.grounds[turn.ID] = g
	}
	return g
}

// isName reports whether a speaker is more than a role.
func isName(speaker string) bool {
	switch strings.ToLower(speaker) {
	case "", "user", "assistant", "human", "ai", "bot":
		return false
	}
	return true
}
