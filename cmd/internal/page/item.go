package page

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

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

// stateOf is the message that tells how an item stands.
func stateOf(it *store.Item) string {
	switch {
	case !it.Aside.ForgottenAt.IsZero():
		return "state.forgotten"
	case it.Aside.Summary != "":
		return "state.summarized"
	case !it.RetractedAt.IsZero():
		return "state.retracted"
	case it.SupersededBy != "":
		return "state.replaced"
	case it.Closed():
		return "state.ended"
	}
	return "state.current"
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
		ver := version{shown: f.one(*it), Current: stateOf(it) == "state.current", Here: it.ID == id}
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

// edited is what a form asks to change.
type edited struct {
	Content    string
	Category   string
	Importance string
	Confidence string
	ValidFrom  string
	ValidTo    string
}

// difference is one field that an edit changes.
type difference struct {
	Name string // name of a message
	Old  string
	New  string
}

type editPage struct {
	*frame
	Item       shown
	Form       edited
	Categories []store.Category
	Changes    []difference // nil: not looked at yet
	Looked     bool
	NewVersion bool
}

func formOf(it *store.Item) edited {
	return edited{
		it.Content, string(it.Category), decimal(it.Importance), decimal(it.Confidence), fieldTime(it.ValidFrom), fieldTime(it.ValidTo),
	}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// fieldTime is a time as a form has it: to the second, so that what nobody touches stays nearly as it was.
func fieldTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

func (p *Page) editForm(v *visit) error {
	it, err := v.current()
	if err != nil {
		return err
	}
	f := v.frame("edit.title")
	return v.show(200, "edit", editPage{frame: f, Item: f.one(it), Form: formOf(&it), Categories: store.Categories()})
}

// current is the item that a request names.
func (v *visit) current() (store.Item, error) {
	who, err := v.who()
	if err != nil {
		return store.Item{}, err
	}
	return v.Get(v.ctx(), who, v.get("id"))
}

// edit shows what a form would change, and changes it once that is confirmed.
func (p *Page) edit(v *visit) error {
	it, err := v.current()
	if err != nil {
		return err
	}
	old := formOf(&it)
	form := edited{
		lines(v.get("content")), v.get("category"), v.get("importance"), v.get("confidence"), v.get("valid_from"), v.get("valid_to"),
	}
	req, changes, err := update(&it, old, form)
	if err != nil {
		return err
	}
	if v.get("step") != "confirm" || len(changes) == 0 {
		f := v.frame("edit.title")
		return v.show(200, "edit", editPage{
			frame: f, Item: f.one(it), Form: form, Categories: store.Categories(), Changes: changes, Looked: true,
			NewVersion: req.Content != nil,
		})
	}
	if req.Who, err = v.who(); err != nil {
		return err
	}
	now, err := v.Update(v.ctx(), req)
	if err != nil {
		return err
	}
	return v.seeItem(now.ID, "edited")
}

func (v *visit) seeItem(id, done string) error {
	q := keep(v.r.Form, "user", "agent")
	q.Set("id", id)
	q.Set("done", done)
	return v.see("item", q)
}

// lines are a text area's, whose line ends are always CR LF.
func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// update is the engine's form of an edit, and what it changes.
func update(it *store.Item, old, form edited) (evoke.UpdateRequest, []difference, error) {
	req := evoke.UpdateRequest{ID: it.ID}
	var changes []difference
	differs := func(name, before, after string) bool {
		if before == after {
			return false
		}
		changes = append(changes, difference{"field." + name, before, after})
		return true
	}
	if differs("content", lines(old.Content), form.Content) {
		req.Content = &form.Content
	}
	if differs("category", old.Category, form.Category) {
		c := store.Category(form.Category)
		req.Category = &c
	}
	for _, n := range []struct {
		name          string
		before, after string
		to            **float64
	}{
		{"importance", old.Importance, form.Importance, &req.Importance},
		{"confidence", old.Confidence, form.Confidence, &req.Confidence},
	} {
		if !differs(n.name, n.before, n.after) {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(n.after), 64)
		if err != nil {
			return req, nil, store.Invalid(n.name, "a number from 0 to 1", clip(n.after, 40))
		}
		*n.to = &f
	}
	for _, n := range []struct {
		name          string
		before, after string
		to            **time.Time
	}{
		{"valid_from", old.ValidFrom, form.ValidFrom, &req.ValidFrom},
		{"valid_to", old.ValidTo, form.ValidTo, &req.ValidTo},
	} {
		if !differs(n.name, n.before, n.after) {
			continue
		}
		t, err := moment(n.name, n.after)
		if err != nil {
			return req, nil, err
		}
		*n.to = &t
	}
	return req, changes, nil
}

type confirmPage struct {
	*frame
	Lead    string // name of a message
	Count   string
	Action  string
	Fields  url.Values // to send again
	Items   []shown
	Changes []difference
	Back    string
	Button  string // name of a message
	Danger  bool
	Ways    bool // softly, or for good
	Derived int  // what goes with it because it rests on nothing else
}

// restore makes a former version's words hold again, as a new version of what holds now.
func (p *Page) restore(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	former, err := v.Get(v.ctx(), who, v.get("version"))
	if err != nil {
		return err
	}
	now, err := v.current()
	if err != nil {
		return err
	}
	if v.get("step") == "confirm" {
		made, err := v.Update(v.ctx(), evoke.UpdateRequest{Who: who, ID: now.ID, Content: &former.Content})
		if err != nil {
			return err
		}
		return v.seeItem(made.ID, "restored")
	}
	f := v.frame("restore.title")
	return v.show(200, "confirm", confirmPage{
		frame: f, Lead: "restore.lead", Action: f.Act("restore", now.ID), Fields: url.Values{"version": {former.ID}},
		Changes: []difference{{"field.content", now.Content, former.Content}}, Back: f.Act("item", now.ID), Button: "restore.confirm",
	})
}

// forgetShown is how many of the items to forget are shown before it is done.
const forgetShown = 50

type choosePage struct {
	*frame
	Query string
	Items []evoke.ForgetItem
}

// choose shows what speaks of something, to forget what is meant.
func (v *visit) choose(who evoke.Who, query string) error {
	if !v.may(ofMemory) {
		return errNotGranted
	}
	res, err := v.Forget(v.ctx(), evoke.ForgetRequest{Who: who, Query: query, DryRun: true})
	if err != nil {
		return err
	}
	return v.show(200, "choose", choosePage{v.frame("forget.title"), query, res.Items})
}

// forget shows what would be forgotten, and forgets it once that is confirmed.
func (p *Page) forget(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	ids := v.r.Form["id"]
	if q := v.get("q"); q != "" && len(ids) == 0 {
		return v.choose(who, q)
	}
	if len(ids) != 1 && !v.may(ofMemory) {
		return errNotGranted
	}
	req := evoke.ForgetRequest{Who: who, IDs: ids, DryRun: v.get("step") != "confirm", Soft: v.get("way") == "soft"}
	if req.Soft {
		if req.Until, err = v.until(); err != nil {
			return err
		}
	}
	res, err := v.Forget(v.ctx(), req)
	if err != nil {
		return err
	}
	if res.Forgotten == 0 {
		return store.ErrNotFound
	}
	f := v.frame("forget.title")
	if !req.DryRun {
		q := f.scope()
		q.Set("done", "forgotten")
		if req.Soft {
			q.Set("done", "softly")
		}
		q.Set("n", strconv.Itoa(res.Forgotten))
		return v.see("items", q)
	}
	d := confirmPage{
		frame: f, Lead: "forget.lead", Count: strconv.Itoa(res.Forgotten), Action: at("forget", f.scope()), Fields: url.Values{"id": ids},
		Back: at("items", f.scope()), Button: "forget.title", Danger: true, Ways: true, Derived: res.Derived,
	}
	if len(ids) == 1 {
		d.Back = f.Act("item", ids[0])
	}
	for _, id := range ids[:min(len(ids), forgetShown)] {
		it, err := v.Get(v.ctx(), who, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		d.Items = append(d.Items, f.one(it))
	}
	return v.show(200, "confirm", d)
}
