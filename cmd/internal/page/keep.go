package page

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle"
)

type forgottenPage struct {
	*frame
	Items []shown
	Next  string
}

// ofMemory is what a view of a memory wants that an administrator of that memory alone may see.
var ofMemory = needs{role: admin.role}

// forgotten lists what can be brought back.
func (p *Page) forgotten(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	f := v.frame("forgotten.title")
	got, err := v.Forgotten(v.ctx(), evoke.ListRequest{Who: who, Limit: perPage, Cursor: v.get("cursor")})
	if err != nil {
		return err
	}
	d := forgottenPage{frame: f, Items: f.shown(got.Items)}
	if got.Next != "" {
		q := f.scope()
		q.Set("cursor", got.Next)
		d.Next = at("forgotten", q)
	}
	return v.show(200, "forgotten", d)
}

// bringBack restores what was softly forgotten, after a look.
func (p *Page) bringBack(v *visit) error {
	who, err := v.who()
	if err != nil {
		return err
	}
	ids := v.r.Form["id"]
	req := evoke.RestoreRequest{Who: who, IDs: ids, Batch: v.get("batch"), DryRun: v.get("step") != "confirm"}
	res, err := v.Restore(v.ctx(), req)
	if err != nil {
		return err
	}
	f := v.frame("forgotten.restore")
	if !req.DryRun {
		q := f.scope()
		q.Set("done", "broughtback")
		q.Set("n", strconv.Itoa(res.Restored))
		return v.see("items", q)
	}
	fields := url.Values{"id": ids}
	if req.Batch != "" {
		fields.Set("batch", req.Batch)
	}
	return v.show(200, "confirm", confirmPage{
		frame: f, Lead: "forgotten.lead", Count: strconv.Itoa(res.Restored), Action: at("forgotten", f.scope()), Fields: fields,
		Back: at("forgotten", f.scope()), Button: "forgotten.restore",
	})
}

// aged is a kind or a category, and how many days it is kept.
type aged struct {
	Field string // of the form
	Name  string // name of a message
	Days  int
}

type retentionPage struct {
	*frame
	Policy evoke.RetentionPolicy
	Ages   []aged
}

// retention shows the tenant's policy, and a form that tries it or another.
func (p *Page) retention(v *visit) error {
	policy, err := v.TenantPolicy(v.ctx())
	if err != nil {
		return err
	}
	d := retentionPage{frame: v.frame("retention.title")}
	if r := policy.Effective.Retention; r != nil {
		d.Policy = *r
	}
	for _, k := range store.Kinds() {
		d.Ages = append(d.Ages, aged{"kind." + string(k), "kind." + string(k), d.Policy.Kinds[k]})
	}
	for _, c := range store.Categories() {
		d.Ages = append(d.Ages, aged{"category." + string(c), "category." + string(c), d.Policy.Categories[c]})
	}
	return v.show(200, "retention", d)
}

// tryRetention starts a dry run with the policy of the form, or the retention that a dry run showed.
func (p *Page) tryRetention(v *visit) error {
	var req evoke.RetainRequest
	if v.get("verb") == "run" {
		op, err := v.tried(retainKind, &req, &req.DryRun)
		if err != nil {
			return err
		}
		if v.get("step") != "confirm" {
			return v.show(200, "confirm", confirmPage{
				frame: v.frame("retention.run"), Lead: "retention.lead", Count: number(strconv.Itoa(sweptOf(op).Items)), Action: at("retention", nil),
				Fields: url.Values{"verb": {"run"}, "id": {op.ID}}, Back: workOf(op).URL, Button: "retention.run", Danger: true,
			})
		}
	} else {
		policy, err := v.formPolicy()
		if err != nil {
			return err
		}
		req = evoke.RetainRequest{User: v.get("user"), Agent: v.get("agent"), DryRun: true, Policy: policy}
	}
	op, err := v.Retain(v.ctx(), req)
	if err != nil {
		return err
	}
	return v.see("operation", url.Values{"id": {op.ID}})
}

const retainKind = "retain"

func sweptOf(op store.Operation) evoke.Swept {
	var s evoke.Swept
	_ = json.Unmarshal(op.Result, &s) // of an operation that failed there is none
	return s
}

// formPolicy reads a retention policy from the form; empty fields set no bound.
func (v *visit) formPolicy() (*evoke.RetentionPolicy, error) {
	r := &evoke.RetentionPolicy{Hard: v.get("hard") != "", Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}}
	var err error
	count := func(field string) int {
		s := strings.TrimSpace(v.get(field))
		if s == "" || err != nil {
			return 0
		}
		n, cannot := strconv.Atoi(s)
		if cannot != nil || n < 0 {
			err = store.Invalid(field, "a whole number", clip(s, 20))
		}
		return n
	}
	r.MaxItems, r.TTLDays, r.HistoryDays = count("max_items"), count("ttl_days"), count("history_days")
	for _, k := range store.Kinds() {
		if n := count("kind." + string(k)); n > 0 {
			r.Kinds[k] = n
		}
	}
	for _, c := range store.Categories() {
		if n := count("category." + string(c)); n > 0 {
			r.Categories[c] = n
		}
	}
	return r, err
}

// removal is an item that retention would take.
type removal struct {
	lifecycle.Removal
	URL string // "" when it is not known which memory it is of
}

// sweep is what an operation of retention did, or would do.
type sweep struct {
	evoke.Swept
	Reasons []term
	Rows    []removal
	Try     bool // it was a dry run, and may be run
}

// removalsShown bounds the table of a dry run.
const removalsShown = 200

// sweepOf is the view of a retention; nil for other work.
func (f *frame) sweepOf(op store.Operation) *sweep {
	if op.Kind != retainKind || op.State != store.OperationDone {
		return nil
	}
	var asked evoke.RetainRequest
	_ = json.Unmarshal(op.Args, &asked) // an older form of it tells of no memory
	s := &sweep{Swept: sweptOf(op)}
	s.Try = s.DryRun && s.Items > 0
	for reason, n := range s.Swept.Reasons {
		s.Reasons = append(s.Reasons, term{f.T("reason." + string(reason)), strconv.Itoa(n)})
	}
	sortTerms(s.Reasons)
	for _, r := range s.Removals[:min(len(s.Removals), removalsShown)] {
		row := removal{Removal: r}
		if asked.User != "" || asked.Agent != "" {
			row.URL = itemOf(asked.User, asked.Agent, r.ID)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
