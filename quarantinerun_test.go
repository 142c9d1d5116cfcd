package evoke

import (
	"context"
	"testing"
	"time"

	"evoke/extract"
	"evoke/store"
)

// dreamer proposes what nobody said, and writes a section.
type dreamer struct{}

func (dreamer) Name() string { return "dreamer/1" }

func (dreamer) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	return []extract.Operation{{
		Action: extract.Add, Kind: store.Semantic, Category: store.Knowledge, Content: "Owns a boat.", Turn: b.Turns[0].ID, Quote: "my boat",
		Speaker: "user", Confidence: 0.9, Importance: 0.5,
	}}, nil
}

func (x dreamer) Report(ctx context.Context, b extract.Batch) (extract.Report, error) {
	ops, err := x.Extract(ctx, b)
	return extract.Report{Operations: ops, Sections: []extract.Section{{Name: "personal", Content: "Dreams.", Turns: []string{b.Turns[0].ID}}},
		Usage: extract.Usage{Calls: 2, PromptTokens: 30, CompletionTokens: 4}}, err
}

// From a conversation to the surfaces: what is not borne out waits for review, the profile is written, usage is counted.
func TestWhatAnExtractorProposesIsReviewed(t *testing.T) {
	m := open(t, &Options{Extractor: dreamer{}})
	ctx := t.Context()
	who := Who{User: "ann", Thread: "t"}
	in, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat("I dream of the sea.", "Nice.")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(ctx, who); err != nil {
		t.Fatal(err)
	}
	if ev, err := m.Event(ctx, in.EventID, 10*time.Second); err != nil || ev.State != store.EventQuarantined || ev.Extractor != "dreamer/1" {
		t.Fatalf("%+v, %v", ev, err)
	}
	events, err := m.Events(ctx, EventsRequest{State: store.EventQuarantined})
	if err != nil || len(events.Events) != 1 || events.Counts[store.EventQuarantined] != 1 || events.Counts[store.EventPending] != 0 {
		t.Errorf("%+v, %v", events, err)
	}
	page, err := m.Quarantined(ctx, QuarantineRequest{Who: Who{User: "ann"}})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Event != in.EventID || page.Entries[0].Operation.Content != "Owns a boat." {
		t.Fatalf("%+v, %v", page, err)
	}
	if res, err := m.Approve(ctx, []string{page.Entries[0].ID}); err != nil || res.Approved != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	items, err := m.List(ctx, ListRequest{Who: Who{User: "ann"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
	if err != nil || len(items.Items) != 1 || items.Items[0].Provenance.Extractor != "review/dreamer/1" {
		t.Errorf("%+v, %v", items, err)
	}
	p, err := m.Profile(ctx, ProfileRequest{Who: who})
	if s := sectionOf(t, p, "personal"); err != nil || s.Content != "Dreams." || len(s.Sources) != 1 || s.Sources[0] != in.Turns[0].ID {
		t.Errorf("%+v, %v", p, err)
	}
	if u, err := m.Usage(ctx, UsageRequest{}); err != nil || u.Total != (UsageSum{2, 30, 4}) {
		t.Errorf("%+v, %v", u, err)
	}
}
