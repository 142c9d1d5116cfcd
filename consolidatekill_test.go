package evoke

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"evoke/store"
)

const consolidateChild = "EVOKE_TEST_CONSOLIDATE_CHILD"

// TestConsolidateChild is the victim of TestKilledDuringConsolidate: it begins a consolidation unless one is under way, and
// lives until that has ended or it is killed.
func TestConsolidateChild(t *testing.T) {
	dir := os.Getenv(consolidateChild)
	if dir == "" {
		t.Log("run by TestKilledDuringConsolidate only")
		return
	}
	m := open(t, &Options{Path: dir})
	id := os.Getenv(consolidateChild + "_ID")
	if id == "" {
		op, err := m.Consolidate(t.Context(), ConsolidateRequest{User: "ann", Merge: true, Policy: wholly})
		if err != nil {
			t.Fatal(err)
		}
		id = op.ID
	}
	fmt.Println("begun " + id)
	if op, err := m.WaitOperation(t.Context(), id); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	fmt.Println("ended")
}

// TestKilledDuringConsolidate kills a process at random moments while it consolidates and merges. Each consolidation ends after
// restarts with every item either in view or under one summary that is, none lost and none in both, counted once.
func TestKilledDuringConsolidate(t *testing.T) {
	kills := 30
	skipKills(t)
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	r := rand.New(rand.NewPCG(6, 20261201))
	done, runs := 0, 0
	for ; done < kills; runs++ {
		dir := t.TempDir()
		const days, turns, facts = 15, 6, 5
		fillForConsolidation(t, dir, days, turns, facts)
		id, ended := "", false
		for lives := 1; !ended; lives++ {
			if id, ended = consolidateOnce(t, dir, id, time.Duration(r.IntN(60*lives*lives))*time.Millisecond); !ended {
				done++
			}
		}
		m, err := Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		checkConsolidated(t, m, id, days*turns, facts)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("soak: kill -9 during consolidate | %d kills over %d consolidations, all ended; every item in view or under one summary, 0 lost, 0 in both, 0 counted twice", done, runs)
}

// fillForConsolidation stores days of turns, and facts each of which is there twice.
func fillForConsolidation(t *testing.T, dir string, days, turns, facts int) {
	t.Helper()
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	for d := range days {
		lines := make([]string, turns)
		for i := range lines {
			lines[i] = fmt.Sprintf("Nora: The kiln took %s, glazed in %s by %s.", word(d, i, "p"), word(d, i, "g"), word(d, i, "m"))
		}
		converse(t, m, Who{User: "ann"}, fmt.Sprint("s", d), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, d).Format(time.DateOnly), lines...)
	}
	var b []byte
	for i := range facts {
		for j, text := range []string{"The user really likes %s a lot", "The user likes %s"} {
			line, err := json.Marshal(map[string]any{"id": fmt.Sprint("f", i, "-", j), "type": "semantic", "text": fmt.Sprintf(text, word(i, i, "t"))})
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, line...), '\n')
		}
	}
	importLines(t, m, Who{User: "ann"}, b)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// word is a word of letters of its own for each day, turn and kind: numbers that differ would be taken for contradictions.
func word(day, turn int, kind string) string {
	return kind + string(rune('a'+day)) + string(rune('a'+turn)) + "on"
}

func checkConsolidated(t *testing.T, m *Memory, id string, items, facts int) {
	t.Helper()
	op, err := m.Operation(t.Context(), id)
	if err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var got Consolidated
	if err := json.Unmarshal(op.Result, &got); err != nil {
		t.Fatal(err)
	}
	page, err := m.List(t.Context(), ListRequest{Who: Who{User: "ann"}, Sources: true, Limit: 1000, Order: store.ByID})
	if err != nil || page.Next != "" {
		t.Fatal(err, page.Next)
	}
	sums, aside, seen, held := map[string]map[string]bool{}, 0, 0, 0
	for _, it := range page.Items {
		if it.IsSummary() {
			sums[it.ID] = map[string]bool{}
			for _, id := range it.Provenance.Turns {
				sums[it.ID][id] = true
				held++
			}
		}
	}
	ones := 0
	for _, it := range page.Items {
		if it.IsSummary() {
			continue
		}
		if it.Kind == store.Semantic {
			if ones++; it.Provenance.Evidence != 1 {
				t.Errorf("%q has evidence %d", it.Content, it.Provenance.Evidence)
			}
		}
		switch {
		case it.Aside.Summary == "":
			seen++
		default:
			aside++
			if !sums[it.Aside.Summary][it.ID] {
				t.Errorf("%s is aside for a summary that does not stand for it", it.ID)
			}
		}
	}
	if seen+aside != items+facts || aside != held || aside == 0 || len(sums) != got.Summaries || aside != got.Items || ones != facts || got.Merged != facts {
		t.Errorf("%d items in view, %d aside, %d under %d summaries, %d facts; counted %+v", seen, aside, held, len(sums), ones, got)
	}
}

// consolidateOnce lets a child live for so long after it began a consolidation, or took up the one of the id given, and tells
// whether that ended.
func consolidateOnce(t *testing.T, dir, known string, after time.Duration) (id string, ended bool) {
	t.Helper()
	return oneLife(t, "TestConsolidateChild", after, consolidateChild+"="+dir, consolidateChild+"_ID="+known)
}
