package page

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"evoke"
	"evoke/store"
)

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
