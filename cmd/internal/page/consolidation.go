package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"evoke"
	"evoke/store"
)

// summary is a summary beside what it stands for.
type summary struct {
	shown
	Sources []shown
	More    int // sources that are not shown
}

type consolidationPage struct {
	*frame
	Summaries []summary
	Next      string
}

// Bounds of the view of summaries: how many are shown, and among how many items they are looked for at a time.
const (
	summariesShown = 20
	summariesAmong = 5000
)

// consolidation shows a memory's summaries, and tries whether there is more to summarise.
func (p *Page) consolidation(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	f := v.frame("consolidation.title")
	d := consolidationPage{frame: f}
	cursor := v.get("cursor")
	for looked := 0; len(d.Summaries) < summariesShown && looked < summariesAmong; {
		got, err := v.List(v.ctx(), evoke.ListRequest{Who: who, Filter: store.Filter{Distilled: true}, Limit: 200, Cursor: cursor})
		if err != nil {
			return err
		}
		for _, it := range got.Items {
			if !it.IsSummary() {
				continue
			}
			s, err := v.summary(f, who, it)
			if err != nil {
				return err
			}
			d.Summaries = append(d.Summaries, s)
		}
		looked += len(got.Items)
		if cursor = got.Next; cursor == "" {
			break
		}
	}
	if cursor != "" {
		q := f.scope()
		q.Set("cursor", cursor)
		d.Next = at("consolidation", q)
	}
	return v.show(200, "consolidation", d)
}

func (v *visit) summary(f *frame, who evoke.Who, it store.Item) (summary, error) {
	s := summary{shown: f.one(it)}
	items, err := v.Sources(v.ctx(), who, it.ID)
	if err != nil {
		return s, err
	}
	if len(items) > sourcesShown {
		s.More, items = len(items)-sourcesShown, items[:sourcesShown]
	}
	s.Sources = f.shown(items)
	return s, nil
}

const consolidateKind = "consolidate"

// tryConsolidation starts a dry run, or the consolidation that a dry run showed.
func (p *Page) tryConsolidation(v *visit) error {
	req := evoke.ConsolidateRequest{User: v.get("user"), Agent: v.get("agent"), DryRun: true}
	if v.get("verb") == "run" {
		if _, err := v.tried(consolidateKind, &req, &req.DryRun); err != nil {
			return err
		}
	}
	op, err := v.Consolidate(v.ctx(), req)
	if err != nil {
		return err
	}
	return v.see("operation", url.Values{"id": {op.ID}})
}

// group is items that a dry run would put a summary in the place of.
type group struct {
	evoke.FoundGroup
	Items []shown
}

// gathered is what a consolidation did, or would do.
type gathered struct {
	evoke.Consolidated
	Groups []group
	Counts []term
	Try    bool // it was a dry run, and may be run
}

// groupsShown bounds how much of a dry run is shown.
const groupsShown = 50

// gatheredBy is the view of a consolidation; nil for other work.
func (v *visit) gatheredBy(f *frame, op store.Operation) (*gathered, error) {
	if op.Kind != consolidateKind || op.State != store.OperationDone {
		return nil, nil
	}
	g := &gathered{}
	if err := json.Unmarshal(op.Result, &g.Consolidated); err != nil {
		return nil, fmt.Errorf("page: result of %s: %w", op.ID, err)
	}
	g.Try = g.DryRun && g.Summaries+g.Merged > 0
	for _, c := range []struct {
		name string
		n    int
	}{{"memories", g.Memories}, {"summaries", g.Summaries}, {"items", g.Consolidated.Items}, {"merged", g.Merged}, {"left", g.Left}, {"contradictions", len(g.Contradictions)}} {
		g.Counts = append(g.Counts, term{f.T("consolidation." + c.name), strconv.Itoa(c.n)})
	}
	for _, found := range g.Consolidated.Groups[:min(len(g.Consolidated.Groups), groupsShown)] {
		shown := group{FoundGroup: found}
		who, err := v.caller.Who(found.User, found.Agent, "")
		if err != nil {
			return nil, err
		}
		for _, id := range found.IDs[:min(len(found.IDs), 10)] {
			s, err := v.source(&frame{lang: f.lang, now: f.now, User: found.User, Agent: found.Agent}, who, id, "")
			if err != nil {
				return nil, err
			}
			if !s.Gone {
				shown.Items = append(shown.Items, s.shown)
			}
		}
		g.Groups = append(g.Groups, shown)
	}
	return g, nil
}
