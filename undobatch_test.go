package evoke

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract/rules"
	"evoke/store/lifecycle"
)

// distilledBatches is what two versions of an extractor and another extractor made: the second replaced one of the first's.
const distilledBatches = `{"id": "was", "content": "Lives in Rome", "recorded_at": "2026-01-01T09:00:00Z", "valid_from": "2026-01-01T09:00:00Z", "valid_to": "2026-01-02T09:00:00Z", "closed_at": "2026-01-02T09:00:00Z", "superseded_by": "is", "provenance": {"origin": "llm", "extractor": "m/prompt-1", "subject": "home"}}
{"id": "is", "content": "Lives in Oslo", "recorded_at": "2026-01-02T09:00:00Z", "valid_from": "2026-01-02T09:00:00Z", "supersedes": "was", "provenance": {"origin": "llm", "extractor": "m/prompt-2", "subject": "home"}}
{"id": "tea", "content": "喜欢绿茶", "recorded_at": "2026-01-01T09:00:00Z", "provenance": {"origin": "llm", "extractor": "m/prompt-1"}}
{"id": "boat", "content": "Has a boat", "recorded_at": "2026-01-02T09:00:00Z", "provenance": {"origin": "llm", "extractor": "m/prompt-2"}}
{"id": "cat", "content": "Keeps a cat", "recorded_at": "2026-01-02T09:00:00Z", "provenance": {"origin": "rules", "extractor": "rules/prompt-2"}}
`

// A batch named by its source or by the version of an extractor takes back what is of it and what it replaced comes back;
// everything else stays; undoing that brings back what there was.
func TestUndoBySourceAndByExtractor(t *testing.T) {
	t.Parallel()
	all := []string{"Lives in Oslo", "喜欢绿茶", "Has a boat", "Keeps a cat", "Plays chess", "Sails", "爱下棋"}
	for _, c := range []struct {
		name                string
		batch               lifecycle.Batch
		stays               []string
		retracted, reopened int
	}{
		{"the source remember", lifecycle.Batch{Source: "remember"}, []string{"Lives in Oslo", "喜欢绿茶", "Has a boat", "Keeps a cat", "Sails"}, 2, 0},
		{"the source import", lifecycle.Batch{Source: "import"}, []string{"Lives in Oslo", "喜欢绿茶", "Has a boat", "Keeps a cat", "Plays chess", "爱下棋"}, 1, 0},
		{"the source llm", lifecycle.Batch{Source: "llm"}, []string{"Keeps a cat", "Plays chess", "Sails", "爱下棋"}, 4, 0},
		{"the new version", lifecycle.Batch{Extractor: "m/prompt-2"}, []string{"Lives in Rome", "喜欢绿茶", "Keeps a cat", "Plays chess", "Sails", "爱下棋"}, 2, 1},
		{"both", lifecycle.Batch{Source: "rules", Extractor: "rules/prompt-2"}, []string{"Lives in Oslo", "喜欢绿茶", "Has a boat", "Plays chess", "Sails", "爱下棋"}, 1, 0},
		{"a version that nothing is of", lifecycle.Batch{Extractor: "m/prompt-3"}, all, 0, 0},
		{"a version's beginning", lifecycle.Batch{Extractor: "m/prompt"}, all, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := clockAt(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC))
			m := open(t, &Options{Clock: clock.now})
			w := Who{User: "u"}
			for _, text := range []string{"Plays chess", "爱下棋"} {
				if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: text}); err != nil {
					t.Fatal(err)
				}
			}
			if res, err := m.Import(t.Context(), w, strings.NewReader(distilledBatches+`{"content": "Sails"}`), nil); err != nil || res.Imported != 6 {
				t.Fatalf("%+v, %v", res, err)
			}
			other := Who{User: "other"}
			if _, err := m.Import(t.Context(), other, strings.NewReader(distilledBatches), nil); err != nil {
				t.Fatal(err)
			}
			elsewhere := holds(t, m, other, time.Time{})
			sees := func(want []string) {
				t.Helper()
				clock.set(clock.now().Add(time.Hour))
				want = slices.Sorted(slices.Values(want))
				if d := cmp.Diff(want, holds(t, m, w, time.Time{})); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
			sees(all)
			op, did := undo(t, m, w, c.batch)
			if did.Retracted != c.retracted || did.Reopened != c.reopened || did.Conflicts != 0 {
				t.Errorf("%+v", did)
			}
			sees(c.stays)
			undo(t, m, w, lifecycle.Batch{Operation: op})
			sees(all)
			if d := cmp.Diff(elsewhere, holds(t, m, other, time.Time{})); d != "" {
				t.Errorf("another's memory: %s", d)
			}
		})
	}
}

// What the rules distilled from conversations goes by the rules' version; the turns and what was remembered stay.
func TestUndoWhatAnExtractorDistilled(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{Extractor: rules.New(nil)})
	w := Who{User: "u"}
	turns := []string{"I live in Oslo.", "Noted.", "我喜欢绿茶。", "好的。"}
	for i := 0; i < len(turns); i += 2 {
		if _, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "u", Thread: "t"}, Messages: chat(turns[i : i+2]...)}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		settle(t, m)
	}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "Has a boat"}); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	before := holds(t, m, w, time.Time{})
	stays := slices.Sorted(slices.Values(append(turns, "Has a boat")))
	if len(before) <= len(stays) {
		t.Fatalf("nothing was distilled: %q", before)
	}
	op, did := undo(t, m, w, lifecycle.Batch{Extractor: rules.Name})
	if did.Retracted != len(before)-len(stays) || did.Conflicts != 0 {
		t.Errorf("%+v", did)
	}
	if d := cmp.Diff(stays, holds(t, m, w, time.Time{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if d := cmp.Diff(before, holds(t, m, w, time.Time{})); d != "" {
		t.Errorf("after the undo of the undo (-want +got):\n%s", d)
	}
}
