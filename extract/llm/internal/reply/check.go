package reply

import (
	"evoke/store"
)

// Defaults of fields that a model left out. A confidence is above the usual threshold: a model that states a thing
// and forgets the number means it.
const (
	defaultConfidence = 0.75
	defaultImportance = 0.5
)

// operation checks one operation and keeps it or counts it. action is what the list's name said, if it did.
func (p *parser) operation(f *fields, action Action) {
	if len(p.res.Ops) >= p.x.MostOps {
		p.bad(TooMany, Op{})
		return
	}
	op, why := p.read(f, action)
	switch {
	case why != "":
		p.bad(why, op)
	case op.Action == Nothing:
		p.res.Nothing++
	default:
		p.res.Ops = append(p.res.Ops, op)
	}
}

// read makes an operation of an object's fields. All that can be read is set also beside a reason.
func (p *parser) read(f *fields, action Action) (op Op, why Reason) {
	op = Op{
		Content: f.text(fContent), Quote: f.text(fQuote), Speaker: f.short(fSpeaker), Subject: f.short(fSubject), About: f.short(fAbout),
		Steps: f.texts(fSteps, 20), Needs: f.texts(fNeeds, 10),
	}
	op.Outcome, _, _ = word(f, fOutcome, outcomes)
	if why = p.action(&op, f, action); why != "" || op.Action == Nothing {
		return op, why
	}
	p.words(&op, f)
	var s state
	if op.Confidence, s = f.share(fConfidence); s == missing {
		op.Confidence = defaultConfidence
		p.res.Defaults++
	} else if s == wrong {
		why = BadConfidence
	}
	if op.Importance, s = f.share(fImportance); s != good {
		op.Importance = defaultImportance
		p.res.Defaults++
	}
	if op.Time, op.Precision, s = f.moment(p.x.Zone); s == wrong {
		p.res.Defaults++
	}
	if long := len(op.Content) > maxContent || len(op.Quote) > maxQuote; long {
		op.Content, op.Quote = "", ""
		return op, TooLong
	}
	if why != "" {
		return op, why
	}
	return op, p.ids(&op, f)
}

// action finds what to do. A statement without an action in a list without one is to be added: there is nothing else
// that it could mean, unless it names an item.
func (p *parser) action(op *Op, f *fields, listed Action) Reason {
	given := foldKey(f.text(fAction))
	a, known := actions[given]
	switch {
	case known:
		op.Action = a
	case given != "" || f.has(fAction) && listed == "": // a word that is none of ours, or no word
		return UnknownAction
	case listed != "":
		op.Action = listed
	case isNone(f.text(fTarget)):
		op.Action = Add
	default:
		return UnknownAction
	}
	return ""
}

// words fills the fields that hold one of a few words.
func (p *parser) words(op *Op, f *fields) {
	kind, known, _ := word(f, fKind, kinds)
	if !known {
		p.res.Defaults++
	}
	if kind != "procedural" { // what happened is kept verbatim by its turns; distilled, it is a fact about its speaker
		kind = "semantic"
	}
	op.Kind = store.Kind(kind)
	category, known, _ := word(f, fCategory, categories)
	if !known {
		category = "context"
		if op.Kind == store.Procedural {
			category = "behavior"
		}
		p.res.Defaults++
	}
	op.Category = store.Category(category)
	modality, known, given := word(f, fModality, modalities)
	switch {
	case known:
		op.Modality = modality
	case given:
		op.Modality = "unknown"
	default:
		op.Modality = "asserted"
		p.res.Defaults++
	}
	if op.Durability, known, _ = word(f, fDurability, durabilities); !known {
		op.Durability = "user"
		p.res.Defaults++
	}
}

// ids resolves the turn and the target and checks what the action needs.
func (p *parser) ids(op *Op, f *fields) Reason {
	op.Turn, _ = f.id(fTurn, "t", p.x.Turns)
	var named bool
	if op.Action != Add {
		op.Target, named = f.id(fTarget, "k", p.x.Known)
	}
	if !named && op.Content != "" && (op.Action == Supersede || op.Action == Confirm) {
		op.Action = Add // it says what is so, and names nothing that it would change
	}
	switch {
	case op.Turn == "":
		return UnknownTurn
	case op.Quote == "":
		return NoQuote
	case named && op.Target == "",
		op.Target == "" && (op.Action == Supersede || op.Action == Confirm),
		op.Target == "" && op.Action == Retract && op.Subject == "":
		return UnknownTarget
	case op.Content == "" && (op.Action == Add || op.Action == Supersede):
		return NoContent
	}
	return ""
}
