package extract

import (
	"testing"
	"time"

	"evoke/store"
)

// A fact says from when it holds as exactly as its extractor said, whichever it is, and otherwise takes the turn's time with
// the turn's offset.
func TestFactsKeepHowExactlyTheirTimeIsKnown(t *testing.T) {
	m := newMemory(t, ReconcileOptions{})
	said := time.Date(2026, 2, 28, 16, 30, 0, 0, time.UTC)
	m.turns["t1"] = store.Item{ID: "t1", Kind: store.Episodic, Content: "I moved to Oslo last May and I paint.", ValidFrom: said, Turn: store.Turn{Thread: "th", Session: "th", Role: "user", Speaker: "user"}, Provenance: store.Provenance{Zone: "+09:00"}}
	op := func(content, subject, quote string) Operation {
		return Operation{Action: Add, Kind: store.Semantic, Category: store.Context, Content: content, Subject: subject, Turn: "t1", Quote: quote, Confidence: 0.9, Importance: 0.6}
	}
	month := op("The user lives in Oslo", "home", "I moved to Oslo last May")
	month.At, month.Precision = time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC), Month // as a model gives it: in UTC
	m.take(month, op("The user paints", "does:paint", "I paint"))
	dates := map[string]string{}
	for _, it := range m.current() {
		dates[it.Content] = it.Date() + " " + it.Provenance.Precision + " " + it.Provenance.Zone
	}
	if dates["The user lives in Oslo"] != "2025-05 month " || dates["The user paints"] != "2026-03-01  +09:00" {
		t.Errorf("%q", dates)
	}
}
