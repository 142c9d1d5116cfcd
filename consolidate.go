package evoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// ConsolidationPolicy says how a memory is consolidated. It does nothing of itself: Consolidate runs it, and a schedule does
// so again and again. Zero fields have the documented defaults.
type ConsolidationPolicy struct {
	lifecycle.Grouping
	MinAgeHours *int `json:"min_age_hours,omitempty"` // items that were said later are left alone; 0–87600, default 168
	// Model has the tenant's language model write the summaries, where it has one that can; by default they are made of
	// quotations, which costs nothing and invents nothing.
	Model bool `json:"model,omitempty"`
	Merge bool `json:"merge,omitempty"` // also merge facts that say the same in nearly the same words
}

const (
	consolidateKind  = "consolidate"
	defaultMinAge    = 7 * 24
	maxMinAge        = 87_600
	maxGroupsShown   = 200 // in a result
	groupsInAWrite   = 25
	mostUnanswered   = 3 // failures of a model in a row, after which it is not asked again by the operation
	maxConsolidated  = 20_000
	summaryTimeLimit = 5 * time.Minute // of one summary by a model
)

func (p ConsolidationPolicy) withDefaults() (ConsolidationPolicy, error) {
	var err error
	if p.Grouping, err = p.Grouping.WithDefaults(); err != nil {
		return p, err
	}
	if p.MinAgeHours == nil {
		p.MinAgeHours = ptr(defaultMinAge)
	}
	if *p.MinAgeHours < 0 || *p.MinAgeHours > maxMinAge {
		return p, store.Invalid("min_age_hours", fmt.Sprintf("from 0 to %d", maxMinAge), fmt.Sprint(*p.MinAgeHours))
	}
	return p, nil
}

// Validate refuses what is out of range. nil is legal.
func (p *ConsolidationPolicy) Validate() error {
	if p == nil {
		return nil
	}
	_, err := p.withDefaults()
	return err
}

// ConsolidateRequest consolidates memories.
type ConsolidateRequest struct {
	User   string `json:"user,omitempty"`  // "": of every user
	Agent  string `json:"agent,omitempty"` // "": of every agent
	DryRun bool   `json:"dry_run,omitempty"`
	Merge  bool   `json:"merge,omitempty"` // merge near-duplicates, whatever the policy says
	// Policy takes the place of the tenant's own, nil. The defaults hold where neither says anything.
	Policy *ConsolidationPolicy `json:"policy,omitempty"`
}

// Consolidated is the result of an operation of the kind "consolidate". It holds ids and counts, no content.
type Consolidated struct {
	Memories  int `json:"memories"`  // that were looked into
	Summaries int `json:"summaries"` // written
	Items     int `json:"items"`     // that these stand for
	Merged    int `json:"merged"`    // facts that others took in
	Left      int `json:"left"`      // groups left as they were: no text that could stand for them came of them
	// Reasons counts the groups left, by why: empty, long, language, thin, unavailable, contradiction.
	Reasons        map[string]int  `json:"reasons,omitempty"`
	Contradictions []Contradiction `json:"contradictions,omitempty"` // between items that belong together, which both stay as they are; the first 200
	DryRun         bool            `json:"dry_run,omitempty"`        // nothing was written
	Groups         []FoundGroup    `json:"groups,omitempty"`         // of a dry run, the first 200
	Merges         []FoundMerge    `json:"merges,omitempty"`         // of a dry run, the first 200
}

// FoundGroup is a group that a dry run found.
type FoundGroup struct {
	User  string   `json:"user,omitempty"`
	Agent string   `json:"agent,omitempty"`
	By    string   `json:"by"` // day or topic
	Date  string   `json:"date,omitempty"`
	IDs   []string `json:"ids"`
	Words int      `json:"words"`
	Kept  int      `json:"kept"` // words of the summary, of quotations
}

// FoundMerge is a fact that would take others in.
type FoundMerge struct {
	User  string   `json:"user,omitempty"`
	Agent string   `json:"agent,omitempty"`
	ID    string   `json:"id"`
	Takes []string `json:"takes"`
}

// Contradiction are two items that cannot both hold.
type Contradiction struct {
	A string `json:"a"`
	B string `json:"b"`
}

func (c *Consolidated) counts() map[string]int {
	return map[string]int{"memories": c.Memories, "summaries": c.Summaries, "items": c.Items, "merged": c.Merged, "left": c.Left, "contradictions": len(c.Contradictions)}
}

// Consolidate starts an operation of the kind "consolidate": in each memory that the request covers, items that belong
// together, by their day or by what they speak of, get a summary that stands in their place. They stay: a view with sources
// shows them, and they are seen again when their summary goes, which undoing the operation does, too. Nothing is summarised
// twice unless it changed. The result is a Consolidated.
func (m *Memory) Consolidate(ctx context.Context, r ConsolidateRequest) (op store.Operation, err error) {
	defer func() {
		if !r.DryRun {
			m.audit(ctx, deed("start consolidate", Who{User: r.User, Agent: r.Agent}, err, nil, op.ID))
		}
	}()
	if err := errors.Join(store.ValidateName("user", r.User), store.ValidateName("agent", r.Agent)); err != nil {
		return store.Operation{}, err
	}
	if r.Policy == nil {
		set, err := m.settings(m.tenant)
		if err != nil {
			return store.Operation{}, err
		}
		if r.Policy = set.Consolidation; r.Policy == nil {
			r.Policy = &ConsolidationPolicy{}
		}
	}
	p, err := r.Policy.withDefaults()
	if err != nil {
		return store.Operation{}, err
	}
	if _, err := m.summarizer(p.Model); err != nil {
		return store.Operation{}, err
	}
	p.Merge = p.Merge || r.Merge
	r.Policy = &p
	return m.submit(ctx, consolidateKind, consolidating{r, m.now()})
}

// consolidating are the arguments of a consolidation: all that it goes by.
type consolidating struct {
	ConsolidateRequest
	At time.Time `json:"at"`
}

// consolidatedUntil is the checkpoint: what was counted, up to and with a memory.
type consolidatedUntil struct {
	Consolidated
	Seen string `json:"seen,omitempty"`
}

func (m *Memory) consolidateWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	c := consolidator{m: m, p: p}
	if err := p.Args(&c.args); err != nil {
		return nil, err
	}
	if c.args.Policy == nil {
		c.args.Policy = &ConsolidationPolicy{}
	}
	if c.policy, err = c.args.Policy.withDefaults(); err != nil {
		return nil, err
	}
	if _, err := p.Checkpoint(&c.at); err != nil {
		return nil, err
	}
	c.at.DryRun = c.args.DryRun
	defer func() {
		if !c.args.DryRun && endedBy(ctx, p, err) {
			m.audit(ctx, deed(consolidateKind, Who{User: c.args.User, Agent: c.args.Agent}, err, c.at.counts(), p.Operation().ID))
		}
	}()
	if c.by, err = m.summarizer(c.policy.Model); err != nil {
		return nil, err
	}
	of := EraseRequest{User: c.args.User, Agent: c.args.Agent, Tenant: c.args.User+c.args.Agent == ""}
	err = m.eachMemoryOf(ctx, of, c.at.Seen, func(sc store.Scope) error {
		res, err := c.memory(ctx, sc)
		if err != nil {
			return err
		}
		c.at.add(res)
		c.at.Seen = sc.Key()
		return p.Save(ctx, c.at, c.at.Items+c.at.Merged, 0)
	})
	if err != nil {
		return nil, fmt.Errorf("consolidate: %w", err)
	}
	return c.at.Consolidated, nil
}

// add takes in what came of one memory.
func (c *Consolidated) add(o Consolidated) {
	c.Memories++
	c.Summaries, c.Items, c.Merged, c.Left = c.Summaries+o.Summaries, c.Items+o.Items, c.Merged+o.Merged, c.Left+o.Left
	for why, n := range o.Reasons {
		if c.Reasons == nil {
			c.Reasons = map[string]int{}
		}
		c.Reasons[why] += n
	}
	c.Contradictions = first(append(c.Contradictions, o.Contradictions...))
	c.Groups, c.Merges = first(append(c.Groups, o.Groups...)), first(append(c.Merges, o.Merges...))
}

func first[T any](list []T) []T { return slices.Clip(list[:min(len(list), maxGroupsShown)]) }
