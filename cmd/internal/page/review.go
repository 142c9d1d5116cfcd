package page

import (
	"net/url"
	"strconv"

	"evoke"
	"evoke/store"
)

// waiting is an entry of the quarantine.
type waiting struct {
	evoke.QuarantineEntry
	TurnURL   string // address of the turn that it rests on
	TargetURL string // address of the item that it would change
}

type reviewPage struct {
	*frame
	Entries []waiting
	Next    string
	Refused []evoke.Refusal

	Categories []store.Category
}

// review shows what an extractor proposed and what was not stored.
func (p *Page) review(v *visit) error { return v.showReview(nil) }

func (v *visit) showReview(refused []evoke.Refusal) error {
	f := v.frame("review.title")
	res, err := v.Quarantined(v.ctx(), evoke.QuarantineRequest{Who: evoke.Who{User: v.get("user"), Agent: v.get("agent")}, Limit: 20, Cursor: v.get("cursor")})
	if err != nil {
		return err
	}
	d := reviewPage{frame: f, Refused: refused, Categories: store.Categories()}
	for _, e := range res.Entries {
		w := waiting{QuarantineEntry: e, TurnURL: itemOf(e.User, e.Agent, e.Turn)}
		if e.Operation.Target != "" {
			w.TargetURL = itemOf(e.User, e.Agent, e.Operation.Target)
		}
		d.Entries = append(d.Entries, w)
	}
	if res.Next != "" {
		q := keep(v.r.URL.Query(), "user", "agent")
		q.Set("cursor", res.Next)
		d.Next = at("review", q)
	}
	return v.show(200, "review", d)
}

// itemOf is the address of an item of a memory.
func itemOf(user, agent, id string) string {
	return at("item", keep(url.Values{"user": {user}, "agent": {agent}, "id": {id}}, "user", "agent", "id"))
}

// decide approves or rejects entries.
func (p *Page) decide(v *visit) error {
	ids := v.r.Form["id"]
	if v.get("verb") == "edit" {
		return v.editProposal()
	}
	done, n := "rejected", 0
	switch v.get("verb") {
	case "approve":
		res, err := v.Approve(v.ctx(), ids)
		if err != nil {
			return err
		}
		if len(res.Refused) > 0 {
			return v.showReview(res.Refused)
		}
		done, n = "approved", res.Approved
	default:
		res, err := v.Reject(v.ctx(), ids)
		if err != nil {
			return err
		}
		n = res.Rejected
	}
	return v.done("review", done, n)
}

// done sends the browser to a view that says what was done.
func (v *visit) done(view, done string, n int) error {
	return v.see(view, url.Values{"done": {done}, "n": {strconv.Itoa(n)}})
}

// editProposal puts other words in the place of a proposal's, which waits on.
func (v *visit) editProposal() error {
	content, category := lines(v.get("content")), store.Category(v.get("category"))
	if _, err := v.EditProposal(v.ctx(), evoke.EditProposalRequest{ID: v.get("id"), Content: &content, Category: &category}); err != nil {
		return err
	}
	return v.done("review", "proposal", 1)
}
