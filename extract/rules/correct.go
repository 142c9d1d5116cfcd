package rules

import (
	"strings"

	"evoke/extract"
	"evoke/store"
)

// correction recognises "B, not A". When exactly one known fact of the same speaker holds A, that fact is replaced by
// one with B in its place; otherwise the correction is kept in the speaker's words.
func (f *finder) correction(l *language, s string, corrected bool) bool {
	for _, r := range l.meant {
		if r.after && !corrected {
			continue
		}
		m := r.re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		to, from := l.trim(m[r.re.SubexpIndex("new")]), ""
		if i := r.re.SubexpIndex("old"); i >= 0 {
			from = l.trim(m[i])
		}
		if to == "" || !l.fits(to) || r.vague(l, to) || r.vague(l, from) {
			continue
		}
		op := extract.Operation{Action: extract.Add, Kind: store.Semantic, Category: store.Correction, Confidence: 0.8, Importance: 0.8}
		op.Content = strings.NewReplacer("{who}", f.who(l), "{v}", s).Replace(l.corrected)
		if old := f.holds(from); old != nil {
			op.Action, op.Target, op.Kind, op.Subject = extract.Supersede, old.ID, old.Kind, old.Provenance.Subject
			op.Exclusive = old.Provenance.Subject != ""
			if old.ID == "" { // said in the same batch: its subject brings the two together
				op.Action = extract.Add
			}
			op.Content, op.Confidence = strings.Replace(old.Content, from, to, 1), 0.9
		}
		f.add(op, s)
		return true
	}
	return false
}

// vague refuses corrections whose meaning lies outside them.
func (r meantRule) vague(l *language, v string) bool { return v != "" && l.vague.MatchString(v) }

// pending are the statements of operations that a later turn of the same batch may correct, as if they were known: those
// of a subject with one value at a time, which needs no target to be replaced.
func pending(ops []extract.Operation) (out []store.Item) {
	for _, op := range ops {
		if op.Action == extract.Add && op.Exclusive && op.Subject != "" && op.Category != store.Correction {
			out = append(out, store.Item{Kind: op.Kind, Category: op.Category, Content: op.Content, Turn: store.Turn{Speaker: op.Speaker}, Provenance: store.Provenance{Subject: op.Subject}})
		}
	}
	return out
}

// holds returns the one known fact of the speaker that holds a value, or nil.
func (f *finder) holds(v string) *store.Item {
	if v == "" {
		return nil
	}
	var found *store.Item
	for i := range f.known {
		k := &f.known[i]
		if k.Turn.Speaker != f.turn.Turn.Speaker || strings.Count(k.Content, v) != 1 {
			continue
		}
		if found != nil && found.Content == k.Content && found.Provenance.Subject == k.Provenance.Subject {
			continue // known, and said again in this batch
		}
		if found != nil {
			return nil
		}
		found = k
	}
	return found
}

// retract takes back the one known statement of the speaker that a rule's subjects and a value point at. What is not
// known cannot be taken back: the rule matches and nothing follows.
func (f *finder) retract(r *rule, v, quoted string) bool {
	for subject := range strings.FieldsSeq(r.subject) {
		subject = strings.ReplaceAll(subject, "{v}", keyOf(v))
		for i := range f.known {
			k := &f.known[i]
			if k.ID != "" && k.Provenance.Subject == subject && k.Turn.Speaker == f.turn.Turn.Speaker && strings.Contains(strings.ToLower(k.Content), strings.ToLower(v)) {
				f.add(extract.Operation{
					Action: extract.Retract, Target: k.ID, Kind: k.Kind, Category: k.Category, Content: k.Content, Subject: subject,
					Confidence: r.confidence, Importance: r.importance,
				}, quoted)
				return true
			}
		}
	}
	return true
}
