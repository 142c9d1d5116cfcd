package evoke

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
	"evoke/store/lifecycle"
)

// lives is a memory to whose items everything happens that can, in any order, and what must be true of them then.
type lives struct {
	*rapid.T
	m       *Memory
	clock   *testClock
	w       Who
	sc      store.Scope
	n       int // items made, each with a word of its own
	said    map[string]int
	word    map[string]string // of the turns, by id
	gone    map[string]bool   // words of turns that went for good
	batches []string
	ops     []string
	holds   []string // threads that are held
	held    map[string]store.Item
	story   []string
	failed  *bool
	ended   bool // retention, or an end of its own, may have taken a turn that a fact outlives
}

var livesThreads = []string{"a", "b"}

func (l *lives) tell(format string, args ...any) {
	l.story = append(l.story, fmt.Sprintf("%d: ", len(l.story))+fmt.Sprintf(format, args...))
}

func (l *lives) fail(format string, args ...any) {
	*l.failed = true
	l.Fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(l.story, "\n"))
}

// token is a word that no other item has.
func (l *lives) token() string {
	l.n++
	return "zq" + strings.Map(func(r rune) rune { return r - '0' + 'b' }, fmt.Sprintf("%03d", l.n)) + "x"
}

func (l *lives) all() map[string]store.Item { return stored(l, l.m, l.sc) }

// one draws an item of those that stand, "" when there is none.
func (l *lives) one(what string, which func(*store.Item) bool) string {
	var ids []string
	for id, it := range l.all() {
		if which(&it) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(l.T, what)
}

func (l *lives) say() {
	thread := rapid.SampledFrom(livesThreads).Draw(l.T, "thread")
	var items []store.Item
	for range rapid.IntRange(1, 4).Draw(l.T, "turns") {
		now, word := l.clock.now(), l.token()
		id := fmt.Sprintf("t%d", l.n)
		l.word[id] = word
		items = append(items, store.Item{
			ID: id, Kind: store.Episodic, Content: fmt.Sprintf("We carried the %s basket down to the harbour.", word), Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now,
			Turn: store.Turn{Thread: thread, Session: thread, Position: l.said[thread], Speaker: "Ann", Role: "user"}, Provenance: store.Provenance{Origin: "turn"},
		})
		l.said[thread]++
	}
	l.tell("%s..%s are said in %s", items[0].ID, items[len(items)-1].ID, thread)
	putAll(l, l.m, l.w, items)
}

// distil makes facts of turns: one, or two that say the same.
func (l *lives) distil() {
	now, word := l.clock.now(), l.token()
	var items []store.Item
	for i := range rapid.IntRange(1, 2).Draw(l.T, "facts") {
		id := fmt.Sprintf("f%d-%d", l.n, i)
		it := store.Item{
			ID: id, Kind: store.Semantic, Content: "Ann keeps the blue " + word + " umbrella in the hall closet" + strings.Repeat("!", i), Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now,
			Provenance: store.Provenance{Origin: "rules", Extractor: "rules/1"},
		}
		for range rapid.IntRange(1, 2).Draw(l.T, "sources") {
			of := l.one("source", func(it *store.Item) bool { return it.Turn.IsTurn() && !it.IsSummary() && !it.Aside.Forgotten() })
			if of != "" && !slices.Contains(it.Provenance.Turns, of) {
				it.Provenance.Turns = append(it.Provenance.Turns, of)
				it.Provenance.Quote = l.all()[of].Content
			}
		}
		if len(it.Provenance.Turns) == 0 {
			return
		}
		it.Turn.Thread = l.all()[it.Provenance.Turns[0]].Turn.Thread
		l.tell("%s is distilled from %v", id, it.Provenance.Turns)
		items = append(items, it)
	}
	putAll(l, l.m, l.w, items)
}

func (l *lives) anyItem() string {
	return l.one("item", func(it *store.Item) bool { return !it.Aside.Forgotten() })
}

func (l *lives) forget(soft bool) {
	r := ForgetRequest{Who: l.w, Soft: soft}
	if rapid.IntRange(0, 4).Draw(l.T, "what") == 0 {
		r.Thread, r.All = rapid.SampledFrom(livesThreads).Draw(l.T, "thread"), true
	} else if id := l.anyItem(); id != "" {
		r.IDs = []string{id}
	} else {
		return
	}
	l.tell("forget %v%s, softly %v", r.IDs, r.Thread, soft)
	dry := r
	dry.DryRun = true
	would, wouldErr := l.m.Forget(l.Context(), dry)
	did, err := l.m.Forget(l.Context(), r)
	switch {
	case isHeldBy(err):
		if !isHeldBy(wouldErr) || len(l.holds) == 0 || soft {
			l.fail("%v, and dry %v", err, wouldErr)
		}
		l.tell("  held")
	case err != nil:
		l.fail("%v", err)
	case would.Forgotten != did.Forgotten || would.Derived != did.Derived || would.Sections != did.Sections:
		l.fail("a dry run told %+v, and it was %+v", would, did)
	case soft && did.ID != "":
		l.batches = append(l.batches, did.ID)
	}
}

func isHeldBy(err error) bool { return err != nil && strings.Contains(err.Error(), "legal hold") }

// again forgets softly and brings back at once: all is as it was.
func (l *lives) again() {
	id := l.anyItem()
	if id == "" {
		return
	}
	before := exported(l, l.m, l.w)
	res, err := l.m.Forget(l.Context(), ForgetRequest{Who: l.w, IDs: []string{id}, Soft: true})
	if err != nil {
		l.fail("%v", err)
	}
	l.tell("forget %s and restore it", id)
	l.check()
	l.clock.set(l.clock.now().Add(time.Minute))
	r := RestoreRequest{Who: l.w, Batch: res.ID}
	if rapid.Bool().Draw(l.T, "by id") {
		r.Batch, r.IDs = "", []string{id}
	}
	if _, err := l.m.Restore(l.Context(), r); err != nil {
		l.fail("%v", err)
	}
	if after := exported(l, l.m, l.w); before != after {
		l.fail("restored otherwise than it was:\n%s\n%s", before, after)
	}
}

func (l *lives) restore() {
	r := RestoreRequest{Who: l.w}
	id := l.one("forgotten", func(it *store.Item) bool { return it.Aside.Forgotten() })
	switch n := rapid.IntRange(0, 2).Draw(l.T, "what"); {
	case n == 0 && len(l.batches) > 0:
		r.Batch = rapid.SampledFrom(l.batches).Draw(l.T, "batch")
	case n == 1 && id != "":
		r.IDs = []string{id}
	default:
		r.All = true
	}
	l.tell("restore %v%s", r.IDs, r.Batch)
	if _, err := l.m.Restore(l.Context(), r); err != nil {
		l.fail("%v", err)
	}
}

func (l *lives) run(what string, op store.Operation, err error) {
	if err == nil {
		op, err = l.m.WaitOperation(l.Context(), op.ID)
	}
	switch {
	case isHeldBy(err):
		l.tell("%s is held", what)
	case err != nil || op.State != store.OperationDone:
		l.fail("%s: %s %s %v", what, op.State, op.Note, err)
	default:
		l.tell("%s: %s %s", what, op.ID, op.Result[:min(len(op.Result), 160)])
		l.ops = append(l.ops, op.ID)
	}
}

func (l *lives) erase() {
	r := EraseRequest{User: l.w.User}
	if rapid.Bool().Draw(l.T, "thread") {
		r.Thread = rapid.SampledFrom(livesThreads).Draw(l.T, "which")
	} else if id := l.anyItem(); id != "" {
		r.Filter = &store.Filter{IDs: []string{id}}
	} else {
		return
	}
	op, err := l.m.Erase(l.Context(), r)
	l.run(fmt.Sprintf("erase %s%v", r.Thread, r.Filter), op, err)
}

func (l *lives) undo() {
	if len(l.ops) == 0 {
		return
	}
	res, err := l.m.Undo(l.Context(), UndoRequest{Who: l.w, Batch: lifecycle.Batch{Operation: rapid.SampledFrom(l.ops).Draw(l.T, "operation")}})
	if err != nil {
		l.fail("%v", err)
	}
	l.run("undo", *res.Operation, nil)
}

func (l *lives) update() {
	id := l.one("item", func(it *store.Item) bool {
		return !it.Closed() && it.SupersededBy == "" && !it.Aside.Forgotten() && !it.IsSummary()
	})
	if id == "" {
		return
	}
	r := UpdateRequest{Who: l.w, ID: id}
	if rapid.Bool().Draw(l.T, "text") {
		text := "We carried the " + l.token() + " basket back home."
		r.Content = &text
	} else {
		r.Metadata = store.Metadata{"k": store.String(l.token())}
	}
	l.tell("update %s: %v", id, r.Content != nil)
	if _, err := l.m.Update(l.Context(), r); err != nil {
		l.fail("%v", err)
	}
}

// expire gives an item an end that comes before the next deed.
func (l *lives) expire() {
	id := l.one("item", func(it *store.Item) bool { return inForce(it) && !it.IsSummary() })
	if id == "" {
		return
	}
	at := l.clock.now().Add(time.Minute)
	l.tell("%s expires", id)
	if _, err := l.m.Update(l.Context(), UpdateRequest{Who: l.w, ID: id, ExpiresAt: &at}); err != nil {
		l.fail("%v", err)
	}
	l.ended = true
}

// retain takes what a dry run told.
func (l *lives) retain() {
	r := RetainRequest{User: l.w.User, DryRun: true, Policy: &RetentionPolicy{MaxItems: rapid.IntRange(1, 4).Draw(l.T, "most")}}
	start := func(ctx context.Context) (store.Operation, error) { return l.m.Retain(ctx, r) }
	would := swept(l, l.m, start)
	r.DryRun = false
	op, err := l.m.Retain(l.Context(), r)
	l.run("retain", op, err)
	did := swept(l, l.m, func(context.Context) (store.Operation, error) { return op, err })
	if would.Items != did.Items || would.Held != did.Held {
		l.fail("a dry run told %+v, and it was %+v", would, did)
	}
	l.batches, l.ended = append(l.batches, op.ID), true
}

func (l *lives) hold() {
	thread := rapid.SampledFrom(livesThreads).Draw(l.T, "thread")
	if i := slices.Index(l.holds, thread); i >= 0 {
		l.tell("the hold of %s is released", thread)
		if err := l.m.ReleaseHold(l.Context(), thread); err != nil {
			l.fail("%v", err)
		}
		l.holds, l.held = slices.Delete(l.holds, i, i+1), map[string]store.Item{}
		return
	}
	l.tell("%s is held", thread)
	if _, err := l.m.AddHold(l.Context(), LegalHold{ID: thread, User: l.w.User, Thread: thread, Reason: "claim"}); err != nil {
		l.fail("%v", err)
	}
	l.holds = append(l.holds, thread)
}

// underHold are the items that a hold keeps, by a plain reading of the rule: of its thread, made from these, and what that was
// made from.
func (l *lives) underHold(all map[string]store.Item) map[string]store.Item {
	held := map[string]store.Item{}
	var of func(id string) bool
	of = func(id string) bool {
		it, ok := all[id]
		return ok && (slices.Contains(l.holds, it.Turn.Thread) || slices.ContainsFunc(it.Provenance.Turns, of))
	}
	var add func(id string)
	add = func(id string) {
		if it, ok := all[id]; ok {
			held[id] = it
			for _, from := range it.Provenance.Turns {
				add(from)
			}
		}
	}
	for id := range all {
		if of(id) {
			add(id)
		}
	}
	return held
}

// check looks at everything after a deed.
func (l *lives) check() {
	all := l.all()
	for id, was := range l.held {
		if is, ok := all[id]; !ok || is.Content != was.Content || !slices.Equal(is.Provenance.Turns, was.Provenance.Turns) || is.Provenance.Quote != was.Provenance.Quote {
			l.fail("%s is held and became %+v", id, is)
		}
	}
	l.held = l.underHold(all)
	for id, word := range l.word {
		if _, ok := all[id]; !ok {
			l.gone[word] = true
		}
	}
	page, err := l.m.List(l.Context(), ListRequest{Who: l.w, Limit: 1000})
	if err != nil {
		l.fail("%v", err)
	}
	seen := map[string]bool{}
	for i := range page.Items {
		seen[page.Items[i].ID] = true
	}
	for id, it := range all {
		l.links(all, &it)
		if it.IsSummary() {
			l.summary(all, seen, &it)
		}
		for word := range l.gone {
			if strings.Contains(it.Provenance.Quote, word) && !l.ended || strings.Contains(it.Content, word) && (it.IsSummary() || seen[id]) {
				l.fail("%s went for good and is in %s: %+v", word, id, it)
			}
		}
		if s := it.Aside.Summary; s != "" {
			sum, ok := all[s]
			if !ok || !inForce(&sum) || !slices.Contains(sum.Provenance.Turns, id) || seen[id] {
				l.fail("%s is behind %s, which is %+v; in sight: %v", id, s, sum.Aside, seen[id])
			}
		}
	}
}

// links names nothing that is not there.
func (l *lives) links(all map[string]store.Item, it *store.Item) {
	for _, id := range append([]string{it.Supersedes, it.SupersededBy}, it.Provenance.Turns...) {
		outlived := l.ended && !it.IsSummary() && id != it.Supersedes && id != it.SupersededBy
		if _, ok := all[id]; !ok && id != "" && !outlived && !strings.HasPrefix(id, "erased:") {
			l.fail("%s names %s, which is not there", it.ID, id)
		}
	}
}

// summary of which a source is out of sight is out of sight, and one in sight has its sources behind it.
func (l *lives) summary(all map[string]store.Item, seen map[string]bool, s *store.Item) {
	if !seen[s.ID] {
		return
	}
	for _, id := range s.Provenance.Turns {
		if it := all[id]; it.Aside.Forgotten() || seen[id] && !s.Provenance.Edited {
			l.fail("%s is in sight with its source %s, which is %+v", s.ID, id, it.Aside)
		}
	}
}

// Whatever happens to items in whatever order: what is held stays as it is, what went for good shows nowhere, what is restored is
// as it was, nothing is in sight beside its summary, and no link leads nowhere. For two seconds, or with EVOKE_SOAK for as long as
// it takes (-rapid.checks 20000: half an hour).
func TestLivesOfItems(t *testing.T) {
	oneByOne(t)
	most, drawn, failed := 40, 0, false // a fixed number, whatever the machine does meanwhile
	if os.Getenv("EVOKE_SOAK") != "" {
		seeded(t, most, 1200)
		most = 1200
	}
	rapid.Check(t, func(t *rapid.T) {
		if drawn >= most && !failed {
			return
		}
		drawn++
		clock := clockAt(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
		m, err := Open(context.Background(), &Options{Clock: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		w := Who{User: "u"}
		sc, err := m.memory(w)
		if err != nil {
			t.Fatal(err)
		}
		l := &lives{T: t, m: m, clock: clock, w: w, sc: sc, said: map[string]int{}, word: map[string]string{}, gone: map[string]bool{}, held: map[string]store.Item{}, failed: &failed}
		l.say()
		deeds := map[string]func(){
			"say": l.say, "distil": l.distil, "forget softly": func() { l.forget(true) }, "forget": func() { l.forget(false) }, "again": l.again,
			"restore": l.restore, "erase": l.erase, "undo": l.undo, "update": l.update, "hold": l.hold, "expire": l.expire, "retain": l.retain,
			"undo a thread": func() {
				res, err := m.Undo(t.Context(), UndoRequest{Who: w, Batch: lifecycle.Batch{Thread: rapid.SampledFrom(livesThreads).Draw(t, "thread")}})
				if err != nil {
					l.fail("%v", err)
				}
				l.run("undo a thread", *res.Operation, nil)
			},
			"consolidate": func() {
				op, err := m.Consolidate(t.Context(), ConsolidateRequest{User: "u", Policy: wholly, Merge: rapid.Bool().Draw(t, "merge")})
				l.run("consolidate", op, err)
			},
			"purge": func() {
				clock.set(clock.now().AddDate(0, 2, 0))
				op, err := m.Purge(t.Context())
				l.run("purge", op, err)
			},
		}
		names := slices.Sorted(maps.Keys(deeds))
		names = append(names, "say", "distil", "consolidate", "consolidate", "undo")
		for range rapid.IntRange(3, 20).Draw(t, "deeds") {
			clock.set(clock.now().Add(time.Hour))
			deeds[rapid.SampledFrom(names).Draw(t, "deed")]()
			l.check()
		}
	})
	t.Logf("soak: lives of items | %d drawn sequences of everything that can happen to items, what is held stays, what is gone never shows, nothing dangles", drawn)
}
