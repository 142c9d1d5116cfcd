package page

import (
	"errors"
	"strings"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle"
)

// sourcesShown is how many sources of an item are shown.
const sourcesShown = 50

// source is a turn, or another item, that an item rests on.
type source struct {
	ID   string
	Gone bool // forgotten, or of another memory
	shown
	Before, Quoted, After string // the words, split at the quote
}

// version is a version of an item in its timeline.
type version struct {
	shown
	Current bool
	Here    bool // the one that is looked at
	Steps   []step
}

// step is one thing that happened to a version.
type step struct {
	lifecycle.Change
	URL string // of the version named by With
}

type itemPage struct {
	*frame
	Item     shown
	Sources  []source
	MoreOf   int // sources that are not shown
	Versions []version
	Edit     string
}

// item shows one item: what it says, what it rests on and what became of it.
func (p *Page) item(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	it, err := v.Get(v.ctx(), who, v.get("id"))
	if err != nil {
		return err
	}
	f := v.frame("item.title")
	d := itemPage{frame: f, Item: f.one(it), Edit: f.Act("edit", it.ID)}
	if d.Versions, err = v.versions(f, who, it.ID); err != nil {
		return err
	}
	ids := it.Provenance.Turns
	if len(ids) > sourcesShown {
		d.MoreOf, ids = len(ids)-sourcesShown, ids[:sourcesShown]
	}
	for _, id := range ids {
		s, err := v.source(f, who, id, it.Provenance.Quote)
		if err != nil {
			return err
		}
		d.Sources = append(d.Sources, s)
	}
	return v.show(200, "item", d)
}

func (v *visit) source(f *frame, who evoke.Who, id, quote string) (source, error) {
	it, err := v.Get(v.ctx(), who, id)
	if errors.Is(err, store.ErrNotFound) {
		return source{ID: id, Gone: true}, nil
	}
	if err != nil {
		return source{}, err
	}
	s := source{ID: id, shown: f.one(it), Before: it.Content}
	if before, after, ok := strings.Cut(it.Content, quote); ok && quote != "" {
		s.Before, s.Quoted, s.After = before, quote, after
	}
	return s, nil
}

// versions is the timeline of an item, the newest version first.
func (v *visit) versions(f *frame, who evoke.Who, id string) ([]version, error) {
	items, err := v.History(v.ctx(), who, id)
	if err != nil {
		return nil, err
	}
	out := make([]version, 0, len(items))
	changes := lifecycle.Changes(items)
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		ver := version{shown: f.one(*it), Here: it.ID == id}
		ver.Current = !ver.Past
		for _, c := range changes {
			if c.ID != it.ID {
				continue
			}
			s := step{Change: c}
			if c.With != "" {
				s.URL = f.Act("item", c.With)
			}
			ver.Steps = append(ver.Steps, s)
		}
		out = append(out, ver)
	}
	return out, nil
}
