package evoke

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// converse imports a conversation of one day, one turn a line, "speaker: text".
func converse(t *testing.T, m *Memory, w Who, session, day string, turns ...string) []string {
	t.Helper()
	var b strings.Builder
	ids := make([]string, len(turns))
	for i, line := range turns {
		who, text, _ := strings.Cut(line, ": ")
		ids[i] = fmt.Sprint(session, "-", i)
		enc, err := json.Marshal(map[string]any{"id": ids[i], "text": text, "speaker": who, "type": "episodic", "time": day + "T10:00:00Z", "meta": map[string]any{"session": session, "seq": i}})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(enc)
		b.WriteByte('\n')
	}
	if res, err := m.Import(t.Context(), w, strings.NewReader(b.String()), nil); err != nil || res.Imported != len(turns) {
		t.Fatal(res, err)
	}
	return ids
}

// consolidate runs a consolidation to its end.
func consolidate(t *testing.T, m *Memory, r ConsolidateRequest) (string, Consolidated) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	op, err := m.Consolidate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(ctx, op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var got Consolidated
	if err := json.Unmarshal(op.Result, &got); err != nil {
		t.Fatal(err)
	}
	return op.ID, got
}

// summaries lists the summaries in the default view.
func summaries(t *testing.T, m *Memory, w Who) []store.Item {
	t.Helper()
	page, err := m.List(t.Context(), ListRequest{Who: w, Limit: 1000, Order: store.ByID})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(page.Items, func(it store.Item) bool { return !it.IsSummary() })
}

var wholly = &ConsolidationPolicy{Grouping: lifecycle.Grouping{Share: 1}, MinAgeHours: ptr(0)}

var pottery = []string{
	"Nora: I signed up for a pottery class in Porto yesterday!",
	"Tom: Oh wow, that sounds lovely. Who teaches it?",
	"Nora: Her name is Inês Duarte, she fires everything in a wood kiln.",
	"Tom: I bought 12 kilos of red clay last week.",
}

var potteryChinese = []string{
	"小林: 我昨天在杭州报名参加了陶艺课！",
	"小周: 听起来真不错，老师是谁？",
	"小林: 老师叫王芳，她用柴窑烧制所有作品。",
	"小周: 我上周买了12公斤红色黏土。",
}

// A summary stands for its sources: it alone is listed and recalled, tells where it comes from, keeps their day, and lets
// them be seen again when it is undone. The past is seen as it was.
func TestConsolidate(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string][]string{"en": pottery, "zh": potteryChinese} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
			m := open(t, &Options{Clock: clock.now, Embedder: &bagEmbedder{}})
			w := Who{User: "u"}
			ids := converse(t, m, w, "s", "2026-02-01", turns...)
			before := holds(t, m, w, time.Time{})
			clock.set(clock.now().Add(time.Hour))
			dry, found := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly, DryRun: true})
			if found.Summaries != 1 || found.Items != 4 || len(found.Groups) != 1 || !slices.Equal(found.Groups[0].IDs, ids) || found.Groups[0].Date != "2026-02-01" || len(summaries(t, m, w)) != 0 {
				t.Fatalf("dry run %s: %+v", dry, found)
			}
			op, did := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly})
			if did.Summaries != 1 || did.Items != 4 || did.Left != 0 || did.Memories != 1 {
				t.Fatalf("%+v", did)
			}
			settle(t, m)
			sums := summaries(t, m, w)
			if len(sums) != 1 || len(holds(t, m, w, time.Time{})) != 1 {
				t.Fatalf("%d summaries; in view: %q", len(sums), holds(t, m, w, time.Time{}))
			}
			s := sums[0]
			if !slices.Equal(s.Provenance.Turns, ids) || s.Date() != "2026-02-01" || s.Provenance.By != op || s.Turn.Session != "s" {
				t.Errorf("%+v", s)
			}
			for _, part := range []string{"12", strings.SplitN(turns[0], ":", 2)[0] + ": ", strings.Fields(turns[2])[1]} {
				if !strings.Contains(s.Content, part) {
					t.Errorf("%q lacks %q", s.Content, part)
				}
			}
			res, err := m.Context(t.Context(), ContextRequest{Who: w, Request: recall.Request{Query: turns[2]}})
			if err != nil || len(res.Entries) != 1 || res.Entries[0].ID != s.ID || !slices.Equal(res.Entries[0].Sources, ids) || res.Entries[0].Trust != recall.Derived {
				t.Errorf("%+v, %v", res.Entries, err)
			}
			page, err := m.List(t.Context(), ListRequest{Who: w, Sources: true})
			if err != nil || len(page.Items) != 5 {
				t.Errorf("with sources %d items, %v", len(page.Items), err)
			}
			from, err := m.Sources(t.Context(), w, s.ID)
			if err != nil || len(from) != 4 || from[0].ID != ids[0] || from[0].Aside.Summary != s.ID {
				t.Errorf("%+v, %v", from, err)
			}
			if past := holds(t, m, w, clock.now().Add(-time.Minute)); !slices.Equal(past, before) {
				t.Errorf("the past is seen as %q", past)
			}
			if _, again := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly}); again.Summaries != 0 {
				t.Errorf("consolidated again: %+v", again)
			}
			clock.set(clock.now().Add(time.Hour))
			un, _ := undo(t, m, w, lifecycle.Batch{Operation: op})
			if now := holds(t, m, w, time.Time{}); !slices.Equal(now, before) {
				t.Errorf("after undo: %q", now)
			}
			if _, again := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly}); again.Summaries != 0 {
				t.Errorf("what was taken back came again: %+v", again)
			}
			undo(t, m, w, lifecycle.Batch{Operation: un})
			if now := holds(t, m, w, time.Time{}); len(now) != 1 || now[0] != s.Content {
				t.Errorf("after the undo of the undo: %q", now)
			}
		})
	}
}

// Whatever way a summary goes, its sources are seen again; whatever way a source goes or changes, its summary goes, and the
// others are seen again.
func TestSummariesFollowTheirSources(t *testing.T) {
	t.Parallel()
	type world struct {
		m   *Memory
		w   Who
		ids []string
		sum store.Item
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, world)
		seen func(world) []int // places of the sources seen after
		sums int
	}{
		"summary forgotten": {func(t *testing.T, x world) {
			if _, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: []string{x.sum.ID}}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 2, 3} }, 0},
		"summary forgotten softly": {func(t *testing.T, x world) {
			if _, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: []string{x.sum.ID}, Soft: true}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 2, 3} }, 0},
		"summary edited away": {func(t *testing.T, x world) {
			text := "They talked about pottery."
			if _, err := x.m.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.sum.ID, Content: &text}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 2, 3} }, 1},
		"summary edited a little": {func(t *testing.T, x world) {
			text := x.sum.Content + " (checked)"
			if _, err := x.m.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.sum.ID, Content: &text}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return nil }, 1},
		"source forgotten": {func(t *testing.T, x world) {
			if _, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: []string{x.ids[2]}}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 3} }, 0},
		"source forgotten by filter": {func(t *testing.T, x world) {
			f := &store.Filter{Positions: store.PositionRange{From: 2, To: 3}, None: []store.Filter{{IDs: []string{x.sum.ID}}}}
			if _, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, Filter: f}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 3} }, 0},
		"source forgotten softly": {func(t *testing.T, x world) {
			if _, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: []string{x.ids[2]}, Soft: true}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 3} }, 0},
		"source changed": {func(t *testing.T, x world) {
			text := "Her name is Marta Reis."
			if _, err := x.m.Update(t.Context(), UpdateRequest{Who: x.w, ID: x.ids[2], Content: &text}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return []int{0, 1, 3, -1} }, 0},
		"source used": {func(t *testing.T, x world) {
			if _, err := x.m.Feedback(t.Context(), FeedbackRequest{Who: x.w, IDs: []string{x.ids[2]}}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return nil }, 1},
		"source forgotten softly and restored": {func(t *testing.T, x world) {
			res, err := x.m.Forget(t.Context(), ForgetRequest{Who: x.w, IDs: []string{x.ids[2]}, Soft: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := x.m.Restore(t.Context(), RestoreRequest{Who: x.w, Batch: res.ID}); err != nil {
				t.Fatal(err)
			}
		}, func(world) []int { return nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clockAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
			m := open(t, &Options{Clock: clock.now})
			x := world{m: m, w: Who{User: "u"}}
			x.ids = converse(t, m, x.w, "s", "2026-02-01", pottery...)
			consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly})
			x.sum = summaries(t, m, x.w)[0]
			clock.set(clock.now().Add(time.Hour))
			c.do(t, x)
			var want []string
			for _, i := range c.seen(x) {
				if i < 0 {
					want = append(want, "Her name is Marta Reis.")
					continue
				}
				_, text, _ := strings.Cut(pottery[i], ": ")
				want = append(want, text)
			}
			for _, s := range summaries(t, m, x.w) {
				want = append(want, s.Content)
			}
			slices.Sort(want)
			if got := holds(t, m, x.w, time.Time{}); !slices.Equal(got, want) || len(summaries(t, m, x.w)) != c.sums {
				t.Errorf("in view: %q, want %q", got, want)
			}
		})
	}
}

// What contradicts something in its group stays as it is, is reported by a dry run, too, and is not blended.
func TestContradictionsAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns []string
		pair  [2]int
	}{
		"en, a home":   {[]string{"Nora: I live in Porto.", "Nora: The kiln gets very hot in the evening.", "Nora: I live in Lisbon.", "Nora: My brother paints tiles for a church.", "Nora: The tiles are blue and white."}, [2]int{0, 2}},
		"en, a number": {[]string{"Nora: The garden fence costs 120 euros.", "Nora: The kiln gets very hot in the evening.", "Nora: My brother paints tiles for a church.", "Nora: The garden fence costs 150 euros.", "Nora: The tiles are blue and white."}, [2]int{0, 3}},
		"en, a place":  {[]string{"Nora: My sister Clara lives in Porto near the river.", "Nora: My sister Clara lives in Braga near the hills.", "Nora: The kiln gets very hot in the evening.", "Nora: My brother paints tiles for a church.", "Nora: The tiles are blue and white."}, [2]int{0, 1}},
		"zh, a home":   {[]string{"小林: 我住在杭州。", "小林: 窑炉晚上非常热。", "小林: 我住在上海。", "小林: 我弟弟给教堂画瓷砖。", "小林: 那些瓷砖是蓝白色的。"}, [2]int{0, 2}},
		"zh, a number": {[]string{"小林: 围栏花了120欧元。", "小林: 窑炉晚上非常热。", "小林: 围栏花了150欧元。", "小林: 我弟弟给教堂画瓷砖。", "小林: 那些瓷砖是蓝白色的。"}, [2]int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, &Options{})
			w := Who{User: "u"}
			ids := converse(t, m, w, "s", "2026-02-01", c.turns...)
			for _, dry := range []bool{true, false} {
				_, got := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly, DryRun: dry})
				if !slices.Equal(got.Contradictions, []Contradiction{{ids[c.pair[0]], ids[c.pair[1]]}}) || got.Summaries != 1 || got.Items != 3 {
					t.Fatalf("dry run %v: %+v", dry, got)
				}
			}
			s := summaries(t, m, w)[0]
			for _, i := range c.pair {
				_, text, _ := strings.Cut(c.turns[i], ": ")
				if strings.Contains(s.Content, text) || !slices.Contains(holds(t, m, w, time.Time{}), text) {
					t.Errorf("%q is blended into %q", text, s.Content)
				}
			}
		})
	}
}

// Turns of a conversation in which no assistant spoke wait for nothing once their event ended.
func TestTurnsWithoutAnAnswerAreConsolidated(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{Extractor: rules.New(nil)})
	who := Who{User: "u", Thread: "t"}
	var said []message.Message
	for _, line := range pottery {
		_, text, _ := strings.Cut(line, ": ")
		said = append(said, message.Message{Role: message.User, Content: text})
	}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: said})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if ev, err := m.Event(t.Context(), in.EventID, 20*time.Second); err != nil || ev.State != store.EventNothing {
		t.Fatalf("%+v, %v", ev, err)
	}
	if _, got := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly}); got.Summaries != 1 || got.Items != len(said) {
		t.Errorf("%+v", got)
	}
}
