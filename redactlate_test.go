package evoke

import (
	"context"
	"strings"
	"sync"
	"testing"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/redact"
	"evoke/store"
)

// showing is an extractor that keeps what it was shown.
type showing struct {
	mu    sync.Mutex
	shown []string
}

func (*showing) Name() string { return "showing/1" }

func (s *showing) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range [][]store.Item{b.Before, b.Turns, b.Known, b.Profile} {
		for i := range list {
			s.shown = append(s.shown, list[i].Content, list[i].Provenance.Quote, list[i].Turn.Speaker)
		}
	}
	t := b.Turns[0]
	return []extract.Operation{{Action: extract.Add, Kind: store.Semantic, Content: "The user said: " + t.Content, Quote: t.Content, Turn: t.ID, Speaker: t.Turn.Speaker, Confidence: 1, Importance: 0.5}}, nil
}

// What was kept before redaction was switched on is masked before a model sees it, whether it is read for the first time, as
// what was said before, or as what is known.
func TestRedactionThatComesLaterMasksWhatModelsSee(t *testing.T) {
	x := &showing{}
	m := open(t, &Options{Extractor: x})
	who := Who{User: "ada", Thread: "t"}
	say := func(text string) {
		t.Helper()
		if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: []message.Message{{Role: message.User, Content: text}, {Role: message.Assistant, Content: "Noted."}}}); err != nil {
			t.Fatal(err)
		}
	}
	say("My address is ada@example.org.")
	flush(t, m, who)
	say("Write to bob@example.org, too.") // waits while redaction is switched on
	if !strings.Contains(strings.Join(x.shown, "\n"), "ada@example.org") {
		t.Fatalf("before: %q", x.shown)
	}
	x.shown = nil
	if _, err := m.SetPolicy(t.Context(), SetPolicyRequest{Policy: TenantPolicy{Redaction: &RedactionPolicy{Mode: redact.Mask}}}); err != nil {
		t.Fatal(err)
	}
	flush(t, m, who)
	all := strings.Join(x.shown, "\n")
	if strings.Contains(all, "@example.org") || !strings.Contains(all, "Write to [email], too.") {
		t.Errorf("shown: %q", x.shown)
	}
	page, err := m.List(t.Context(), ListRequest{Who: who, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
	if err != nil || len(page.Items) != 2 {
		t.Fatal(page, err)
	}
	for _, it := range page.Items {
		if strings.Contains(it.Content, "Write") && (strings.Contains(it.Content, "@example.org") || strings.Contains(it.Provenance.Quote, "@example.org")) {
			t.Errorf("%+v", it)
		}
	}
}
