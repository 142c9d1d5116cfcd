package page

import (
	"errors"
	"net/url"
	"strconv"
	"time"

	"evoke"
	"evoke/store"
)

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

// until is a time of a form until which something can be restored; zero for the engine's own.
func (v *visit) until() (time.Time, error) { return moment("until", v.get("until")) }
