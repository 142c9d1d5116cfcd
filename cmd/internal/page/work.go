package page

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"evoke"
	"evoke/store"
)

// work is long work as the page shows it.
type work struct {
	store.Operation
	URL     string
	Percent string // of what is to do; "" when that is not known
	Running bool
	Retry   bool // it may be run again
}

func workOf(op store.Operation) work {
	w := work{Operation: op, URL: at("operation", url.Values{"id": {op.ID}}), Running: !op.State.Ended()}
	if op.Total > 0 {
		w.Percent = strconv.Itoa(min(100, op.Done*100/op.Total))
	}
	w.Retry = op.State == store.OperationFailed || op.State == store.OperationCanceled
	return w
}

var operationStates = []store.OperationState{
	store.OperationQueued, store.OperationRunning, store.OperationDone, store.OperationFailed, store.OperationCanceled,
}

type operationsPage struct {
	*frame
	State  string
	States []store.OperationState
	Works  []work
	Next   string
}

// operations lists long work.
func (p *Page) operations(v *visit) error {
	d := operationsPage{frame: v.frame("operations.title"), State: v.get("state"), States: operationStates}
	res, err := v.Operations(v.ctx(), evoke.OperationsRequest{State: store.OperationState(d.State), Limit: 20, Cursor: v.get("cursor")})
	if err != nil {
		return err
	}
	for _, op := range res.Operations {
		d.Works = append(d.Works, workOf(op))
	}
	if res.Next != "" {
		q := keep(v.r.URL.Query(), "state")
		q.Set("cursor", res.Next)
		d.Next = at("operations", q)
	}
	return v.show(200, "operations", d)
}

type operationPage struct {
	*frame
	Work   work
	Asked  []term
	Result []term
	Sweep  *sweep    // of a retention
	Gather *gathered // of a consolidation
}

// operation shows one operation and how far it is.
func (p *Page) operation(v *visit) error {
	op, err := v.Operation(v.ctx(), v.get("id"))
	if err != nil {
		return err
	}
	if op.State.Ended() && v.r.Header.Get("Hx-Trigger") == "progress" {
		v.w.Header().Set("Hx-Refresh", "true") // other buttons fit now, too
	}
	f := v.frame("operation.title")
	d := operationPage{frame: f, Work: workOf(op), Asked: flat(op.Args), Sweep: f.sweepOf(op)}
	if d.Gather, err = v.gatheredBy(f, op); err != nil {
		return err
	}
	if d.Sweep == nil && d.Gather == nil {
		d.Result = flat(op.Result)
	}
	return v.show(200, "operation", d)
}

// steer cancels an operation or runs it again.
func (p *Page) steer(v *visit) error {
	id, done := v.get("id"), "canceled"
	var err error
	if v.get("verb") == "retry" {
		done = "retried"
		_, err = v.RetryOperation(v.ctx(), id)
	} else {
		_, err = v.CancelOperation(v.ctx(), id)
	}
	if err != nil {
		return err
	}
	return v.see("operation", url.Values{"id": {id}, "done": {done}})
}

// tried finds the dry run that a form names, and makes of what it was asked for what does it.
func (v *visit) tried(kind string, asked any, dryRun *bool) (store.Operation, error) {
	op, err := v.Operation(v.ctx(), v.get("id"))
	if err != nil {
		return op, err
	}
	if op.Kind != kind || json.Unmarshal(op.Args, asked) != nil || !*dryRun {
		return op, store.ErrNotFound
	}
	*dryRun = false
	return op, nil
}

// linesShown bounds how much of an operation's result is shown.
const linesShown = 200

// flat writes a JSON object as lines of a table: "counts.items" and its value.
func flat(raw json.RawMessage) []term {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	var out []term
	flatten("", v, &out)
	return out
}

func flatten(name string, v any, out *[]term) {
	if len(*out) >= linesShown {
		return
	}
	join := func(part string) string {
		if name == "" {
			return part
		}
		return name + "." + part
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for n := range v {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			flatten(join(n), v[n], out)
		}
	case []any:
		for i, e := range v {
			flatten(join(strconv.Itoa(i+1)), e, out)
		}
	case string:
		*out = append(*out, term{name, v})
	case json.Number:
		*out = append(*out, term{name, v.String()})
	case bool:
		*out = append(*out, term{name, strconv.FormatBool(v)})
	}
}

var eventStates = []store.EventState{store.EventDead, store.EventPending, store.EventQuarantined, store.EventStored, store.EventNothing}

// counted is a state and how many are in it.
type counted struct {
	State store.EventState
	N     int
}

type eventsPage struct {
	*frame
	State  string
	States []counted
	Events []evoke.EventInfo
	Next   string
	Dead   bool
}

// events lists ingested batches, those that were given up first of all.
func (p *Page) events(v *visit) error {
	d := eventsPage{frame: v.frame("events.title"), State: v.get("state")}
	if !v.r.Form.Has("state") {
		d.State = string(store.EventDead)
	}
	res, err := v.Events(v.ctx(), evoke.EventsRequest{
		Who: evoke.Who{User: v.get("user"), Agent: v.get("agent")}, State: store.EventState(d.State), Limit: perPage, Cursor: v.get("cursor"),
	})
	if err != nil {
		return err
	}
	d.Events, d.Dead = res.Events, d.State == string(store.EventDead)
	for _, s := range eventStates {
		d.States = append(d.States, counted{s, res.Counts[s]})
	}
	if res.Next != "" {
		q := keep(v.r.URL.Query(), "user", "agent", "state")
		q.Set("cursor", res.Next)
		d.Next = at("events", q)
	}
	return v.show(200, "events", d)
}

// retryEvents gives dead events another try.
func (p *Page) retryEvents(v *visit) error {
	res, err := v.RetryEvents(v.ctx(), v.r.Form["id"])
	if err != nil {
		return err
	}
	return v.done("events", "revived", res.Revived)
}

type auditPage struct {
	*frame
	Verb    string
	Entries []store.Audit
	Next    string
}

// audit lists who did what.
func (p *Page) audit(v *visit) error {
	d := auditPage{frame: v.frame("audit.title"), Verb: v.get("verb")}
	res, err := v.Audit(v.ctx(), evoke.AuditRequest{Verb: d.Verb, User: v.get("user"), Limit: perPage, Cursor: v.get("cursor")})
	if err != nil {
		return err
	}
	d.Entries = res.Entries
	if res.Next != "" {
		q := keep(v.r.URL.Query(), "user", "verb")
		q.Set("cursor", res.Next)
		d.Next = at("audit", q)
	}
	return v.show(200, "audit", d)
}
