package evoke

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

func importLines(t *testing.T, m *Memory, w Who, lines []byte) {
	t.Helper()
	if res, err := m.Import(t.Context(), w, bytes.NewReader(lines), nil); err != nil || res.FailedN > 0 {
		t.Fatal(res, err)
	}
}

// Facts that say the same become one with the evidence of all; those that differ in a number, a name, a negation, a speaker or
// their metadata do not; undoing the operation brings all of them back.
func TestMerge(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{})
	w := Who{User: "u"}
	importLines(t, m, w, []byte(strings.Join([]string{
		`{"id":"a1","type":"semantic","text":"The user likes oolong tea"}`,
		`{"id":"a2","type":"semantic","text":"The user is fond of oolong tea"}`,
		`{"id":"a3","type":"semantic","text":"the user really likes oolong tea."}`,
		`{"id":"b1","type":"semantic","text":"The user has 3 cats"}`,
		`{"id":"b2","type":"semantic","text":"The user has 5 cats"}`,
		`{"id":"c1","type":"semantic","text":"The user does not like rain"}`,
		`{"id":"c2","type":"semantic","text":"The user likes rain"}`,
		`{"id":"d1","type":"semantic","text":"用户住在杭州"}`,
		`{"id":"d2","type":"semantic","text":"我目前居住在杭州"}`,
		`{"id":"e1","type":"semantic","text":"The user plays chess","meta":{"project":"x"}}`,
		`{"id":"e2","type":"semantic","text":"The user plays chess a lot","meta":{"project":"y"}}`,
		`{"id":"f1","type":"semantic","speaker":"Ann","text":"I like oolong tea"}`,
	}, "\n")))
	before := holds(t, m, w, time.Time{})
	never := &ConsolidationPolicy{Grouping: lifecycle.Grouping{By: []string{lifecycle.ByDay}}}
	_, found := consolidate(t, m, ConsolidateRequest{User: "u", Merge: true, DryRun: true, Policy: never})
	if found.Merged != 3 || len(found.Merges) != 2 || !slices.Equal(holds(t, m, w, time.Time{}), before) {
		t.Fatalf("%+v", found)
	}
	op, did := consolidate(t, m, ConsolidateRequest{User: "u", Merge: true, Policy: never})
	now := holds(t, m, w, time.Time{})
	if did.Merged != 3 || len(now) != len(before)-3 {
		t.Fatalf("%+v: %q", did, now)
	}
	page, err := m.List(t.Context(), ListRequest{Who: w})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(page.Items, func(it store.Item) bool { return it.Supersedes == "a1" })
	if i < 0 || page.Items[i].Provenance.Evidence != 2 || page.Items[i].Provenance.By != op {
		t.Errorf("%+v", page.Items)
	}
	if _, again := consolidate(t, m, ConsolidateRequest{User: "u", Merge: true, Policy: never}); again.Merged != 0 {
		t.Errorf("merged again: %+v", again)
	}
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if now := holds(t, m, w, time.Time{}); !slices.Equal(now, before) {
		t.Errorf("after undo: %q", now)
	}
}
