package evoke

import (
	"slices"
	"strconv"
	"strings"

	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

// Redactor takes personal data and secrets out of text before it is written or sent anywhere: see package
// extract/redact, whose Redactor is one. An error refuses the write and must name kinds, never content.
type Redactor interface {
	Redact(text string) (clean string, found map[string]int, err error)
}

// masker is a Redactor that can mask whatever its mode: a query is masked where a write would be refused.
type masker interface {
	MaskAll(text string) (clean string, found map[string]int)
}

// redaction goes over the texts of one call.
type redaction struct {
	by    Redactor // nil: nothing changes
	found map[string]int
	err   error // the first refusal
}

// text returns a text without what was found in it, repaired first, so that nothing hides behind a broken character.
func (r *redaction) text(s string) string {
	if r.by == nil || s == "" || r.err != nil {
		return s
	}
	clean, found, err := r.by.Redact(store.CleanText(s))
	for kind, n := range found {
		if r.found == nil {
			r.found = map[string]int{}
		}
		r.found[kind] += n
	}
	if r.err = err; len(found) == 0 {
		return s
	}
	return clean
}

// subject returns a subject, which may end in anything ("my:" and an address), or "" when something is found in it: under a
// mask two subjects would become one, and what is said of one take the place of what is said of the other.
func (r *redaction) subject(s string) string {
	_, thing, _ := strings.Cut(s, ":") // by itself, too: right behind the colon an address is none
	if r.text(s) != s || r.text(thing) != thing {
		return ""
	}
	return s
}

// metadata goes over values; a number in which something is found becomes the text of its mask. The keys are names.
func (r *redaction) metadata(md store.Metadata) store.Metadata {
	if r.by == nil || len(md) == 0 {
		return md
	}
	out := md.Clone()
	for k, v := range md {
		switch v.Kind() {
		case store.StringValue:
			out[k] = store.String(r.text(v.Str()))
		case store.ListValue:
			list := slices.Clone(v.Strings())
			for i := range list {
				list[i] = r.text(list[i])
			}
			out[k] = store.List(list...)
		case store.NumberValue:
			text := strconv.FormatFloat(v.Num(), 'f', -1, 64)
			if clean := r.text(text); clean != text {
				out[k] = store.String(clean)
			}
		case store.BoolValue: // says nothing of anyone
		}
	}
	return out
}

func (r *redaction) messages(msgs []message.Message, limits message.Options) ([]message.Message, error) {
	if r.by == nil {
		return msgs, nil
	}
	clean, err := message.Clean(msgs, &limits)
	if err != nil {
		return nil, err
	}
	for i := range clean {
		clean[i].Content, clean[i].Name = r.said(clean[i].Content), r.text(clean[i].Name)
	}
	return clean, r.err
}

// said goes over what a message says, but for the blocks that Evoke put into it: what they hold was gone over when it was
// stored, and they are not kept. A mask over the digits of a block's hash would make it unknown.
func (r *redaction) said(text string) string {
	var b strings.Builder
	at := 0
	for _, s := range recall.FindBlocks(text) {
		b.WriteString(r.text(text[at:s.Start]))
		b.WriteString(text[s.Start:s.End])
		at = s.End
	}
	b.WriteString(r.text(text[at:]))
	return b.String()
}

func (r *redaction) item(it *store.Item) {
	if r.by == nil {
		return
	}
	content := it.Content
	it.Content, it.Metadata = r.text(it.Content), r.metadata(it.Metadata)
	it.Turn.Speaker, it.Provenance.Quote = r.text(it.Turn.Speaker), r.text(it.Provenance.Quote)
	it.Provenance.Subject = r.subject(it.Provenance.Subject)
	if it.Content != content {
		it.ContentKey = store.ContentKey(it.Kind, store.CleanText(it.Content))
	}
}

// redacted tells the hooks what was found, by kind.
func (e *engine) redacted(r *redaction) {
	if e.events.Redacted == nil {
		return
	}
	for kind, n := range r.found {
		e.events.Redacted(kind, n)
	}
}

// query masks what is asked: it goes to the embedder, which may be a service of others. A question is never refused for
// what it holds, unless the Redactor can only refuse.
func (e *engine) query(set TenantOptions, q string) (string, error) {
	if m, ok := set.Redactor.(masker); ok {
		clean, _ := m.MaskAll(store.CleanText(q))
		return clean, nil
	}
	r := redaction{by: set.Redactor}
	q = r.text(q)
	return q, r.err
}

func (m *Memory) redactUpdate(r *UpdateRequest) error {
	set, err := m.settings(m.tenant)
	if err != nil {
		return err
	}
	red := redaction{by: set.Redactor}
	if r.Content != nil {
		r.Content = ptr(red.text(*r.Content))
	}
	r.Metadata = red.metadata(r.Metadata)
	m.redacted(&red)
	return red.err
}

// redact goes over one item of an import.
func (imp *importer) redact(it *store.Item) error {
	set, err := imp.m.settings(imp.m.tenant)
	if err != nil {
		return err
	}
	red := redaction{by: set.Redactor}
	red.item(it)
	imp.m.redacted(&red)
	return red.err
}
