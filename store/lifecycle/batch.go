package lifecycle

import (
	"errors"
	"time"

	"evoke/store"
)

// Batch names what an undo takes back: the items that match all of its set fields, with what they brought about. At least
// one field is set.
type Batch struct {
	Source    string    `json:"source,omitempty"`    // Provenance.Origin: "import"
	Thread    string    `json:"thread,omitempty"`    // of the conversation
	Extractor string    `json:"extractor,omitempty"` // name and version: "rules/1"
	Operation string    `json:"operation,omitempty"` // id of the operation or import that made them; one of an undo makes it undone
	From      time.Time `json:"from,omitzero"`       // recorded then or later
	To        time.Time `json:"to,omitzero"`         // recorded earlier
}

// Validate refuses a batch of everything, broken names and a reversed range.
func (b *Batch) Validate() error {
	if *b == (Batch{}) {
		return store.Invalid("batch", "told: a source, a thread, an extractor, an operation or a range of time", "")
	}
	if !b.From.IsZero() && !b.To.IsZero() && !b.From.Before(b.To) {
		return store.Invalid("batch", "a range whose from is before its to", "")
	}
	return errors.Join(store.ValidateName("source", b.Source), store.ValidateName("thread", b.Thread),
		store.ValidateName("extractor", b.Extractor), store.ValidateName("operation", b.Operation))
}

func (b *Batch) span() store.TimeRange { return store.TimeRange{From: b.From, To: b.To} }

// ofTime tells whether the batch is all that happened in a range of time.
func (b *Batch) ofTime() bool { return b.Source+b.Thread+b.Extractor+b.Operation == "" }

// added tells whether the batch made the item. What somebody made of an item of a batch by changing its words is his.
func (b *Batch) added(it *store.Item) bool {
	p := &it.Provenance
	return (b.Source == "" || b.Source == p.Origin) && (b.Thread == "" || b.Thread == it.Turn.Thread) && (b.Extractor == "" || b.Extractor == p.Extractor) &&
		(b.Operation == "" || b.Operation == p.By || b.Operation == p.Import) && b.span().Contains(it.RecordedAt) &&
		(!p.Edited || b.Source+b.Thread+b.Extractor == "")
}

// closed and retracted tell whether the batch ended the item without anything of its own in its place.
func (b *Batch) closed(it *store.Item) bool {
	return b.ofTime() && !it.ClosedAt.IsZero() && !it.ClosedAt.Equal(it.RecordedAt) && b.span().Contains(it.ClosedAt)
}

func (b *Batch) retracted(it *store.Item) bool {
	if it.RetractedAt.IsZero() {
		return false
	}
	return b.ofTime() && b.span().Contains(it.RetractedAt) || b.Operation != "" && b.Operation == it.Provenance.EndedBy && b.Source+b.Thread+b.Extractor == ""
}
