package extract_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// biographer is an extractor that writes the section "work" of every batch, and keeps what it was shown.
type biographer struct {
	script
	takes time.Duration
	shown [][]string
}

func (*biographer) Name() string { return "biographer/1" }

func (x *biographer) Report(_ context.Context, b extract.Batch) (extract.Report, error) {
	x.mu.Lock()
	var shown []string
	for _, it := range b.Profile {
		shown = append(shown, it.Content)
	}
	x.shown = append(x.shown, shown)
	x.mu.Unlock()
	time.Sleep(x.takes)
	return extract.Report{Sections: []extract.Section{{Name: "work", Content: "Said: " + b.Turns[0].Content, Turns: []string{b.Turns[0].ID}}}}, nil
}

func (x *biographer) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	_, err := x.Report(ctx, b)
	return nil, err
}

func sectionsOf(t *testing.T, db *sqlitestore.DB) []store.Item {
	t.Helper()
	v := store.Current(time.Now())
	v.Profile = true
	return slices.DeleteFunc(list(t, db, ann, v, store.Semantic), func(it store.Item) bool { return !it.IsProfile() })
}

func TestSectionsAreWrittenAndShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &biographer{}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		first := say(t, g, "a", user("I am a nurse"), assistant("ok"))
		time.Sleep(time.Minute)
		second := say(t, g, "a", user("I bake now"), assistant("ok"))
		time.Sleep(time.Minute)
		synctest.Wait()
		got := sectionsOf(t, db)
		if len(got) != 1 || got[0].Content != "Said: I bake now" || got[0].ProfileVersion() != 2 ||
			!slices.Equal(got[0].Provenance.Turns, []string{first.Turns[0].ID, second.Turns[0].ID}) || got[0].Provenance.Extractor != "biographer/1" {
			t.Errorf("%+v", got)
		}
		if want := [][]string{nil, {"Said: I am a nurse"}}; len(x.shown) != 2 || !slices.Equal(x.shown[1], want[1]) || len(x.shown[0]) != 0 {
			t.Errorf("shown %q, want %q", x.shown, want)
		}
		for _, r := range []*extract.Result{first, second} {
			if ev := state(t, db, r); ev.State != store.EventNothing || ev.Facts != 0 {
				t.Errorf("a section is no fact: %+v", ev)
			}
		}
	})
}

// What is forgotten while an extractor reads it must not come back in a section.
func TestATurnForgottenDuringExtractionLeavesNoSection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		g, _ := line(t, db, &biographer{takes: 20 * time.Second}, extract.WorkerOptions{})
		r := say(t, g, "a", user("I am a nurse"), assistant("the other turn"))
		time.Sleep(35 * time.Second)
		if err := db.Apply(context.Background(), ann, store.Change{Delete: []string{r.Turns[1].ID}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := sectionsOf(t, db); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestASectionForgottenDuringExtractionStaysForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &biographer{}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		say(t, g, "a", user("I am a nurse"), assistant("ok"))
		time.Sleep(time.Minute)
		synctest.Wait()
		x.takes = 20 * time.Second
		say(t, g, "a", user("I bake now"), assistant("ok"))
		time.Sleep(35 * time.Second)
		if err := db.Apply(context.Background(), ann, store.Change{Delete: []string{sectionsOf(t, db)[0].ID}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := sectionsOf(t, db); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// Of two extractions at once the later one did not see what the earlier wrote, and leaves it.
func TestSectionsOfTwoThreadsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &biographer{takes: 10 * time.Second}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		say(t, g, "a", user("first"), assistant("ok"))
		time.Sleep(5 * time.Second)
		say(t, g, "b", user("second"), assistant("ok"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := sectionsOf(t, db); len(got) != 1 || got[0].Content != "Said: first" || got[0].ProfileVersion() != 1 {
			t.Errorf("%+v", got)
		}
		say(t, g, "b", user("third"), assistant("ok"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := sectionsOf(t, db); len(got) != 1 || got[0].Content != "Said: third" || got[0].ProfileVersion() != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// A section's history is bounded: the newest versions stay.
func TestVersionsOfASectionAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		g, _ := line(t, db, &biographer{}, extract.WorkerOptions{})
		for i := range 60 {
			say(t, g, "a", user(fmt.Sprintf("turn %d", i)), assistant("ok"))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		got := sectionsOf(t, db)
		if len(got) != 1 || got[0].Content != "Said: turn 59" || got[0].ProfileVersion() != 60 {
			t.Fatalf("%+v", got)
		}
		all := slices.DeleteFunc(list(t, db, ann, store.View{All: true}, store.Semantic), func(it store.Item) bool { return !it.IsProfile() })
		oldest := 60
		for _, it := range all {
			oldest = min(oldest, it.ProfileVersion())
		}
		if len(all) != 51 || oldest != 10 {
			t.Errorf("%d versions from %d on, want the current and the 50 before it", len(all), oldest)
		}
	})
}

// What is held stays in a section's history, be it one version too many.
func TestHeldVersionsOfASectionStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		held := func(_ context.Context, _ store.Scope, items []store.Item) (map[string]bool, error) {
			ids := map[string]bool{}
			for i := range items {
				ids[items[i].ID] = items[i].ProfileVersion() == 3
			}
			return ids, nil
		}
		g, _ := line(t, db, &biographer{}, extract.WorkerOptions{Held: held})
		for i := range 56 {
			say(t, g, "a", user(fmt.Sprintf("turn %d", i)), assistant("ok"))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		var kept []int
		for _, it := range list(t, db, ann, store.View{All: true}, store.Semantic) {
			if n := it.ProfileVersion(); it.IsProfile() && n < 10 {
				kept = append(kept, n)
			}
		}
		slices.Sort(kept)
		if !slices.Equal(kept, []int{3, 6, 7, 8, 9}) {
			t.Errorf("%v are left of the first versions", kept)
		}
	})
}
