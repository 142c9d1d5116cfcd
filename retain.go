package evoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// RetentionPolicy says what a memory keeps no longer; see lifecycle.Retention. It does nothing of itself: Retain runs it,
// and a schedule does so again and again.
type RetentionPolicy = lifecycle.Retention

// RetainRequest runs a tenant's retention policy.
type RetainRequest struct {
	User   string `json:"user,omitempty"`  // "": of every user
	Agent  string `json:"agent,omitempty"` // "": of every agent
	DryRun bool   `json:"dry_run,omitempty"`
	// Policy takes the place of the tenant's own, nil.
	Policy *RetentionPolicy `json:"policy,omitempty"`
}

// retaining are the arguments of a retention: all that it goes by, so that it takes after a restart what it would have
// taken before.
type retaining struct {
	RetainRequest
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"`
}

const (
	retainKind  = "retain"
	maxRemovals = 1000
)

// Retain starts an operation of the kind "retain": in each memory that the request covers, what the policy keeps no longer
// goes, softly unless the policy says otherwise (Restore brings it back by the operation's id), and never what a legal hold
// covers. A dry run takes nothing; its result tells what would go, and why. The result is a Swept.
func (m *Memory) Retain(ctx context.Context, r RetainRequest) (op store.Operation, err error) {
	defer func() {
		if !r.DryRun {
			m.audit(ctx, deed("start retain", Who{User: r.User, Agent: r.Agent}, err, nil, op.ID))
		}
	}()
	if err := errors.Join(store.ValidateName("user", r.User), store.ValidateName("agent", r.Agent), r.Policy.Validate()); err != nil {
		return store.Operation{}, err
	}
	if r.Policy == nil {
		p, err := m.RetentionPolicy()
		if err != nil {
			return store.Operation{}, err
		}
		r.Policy = &p
	}
	args := retaining{RetainRequest: r, At: m.now()}
	if !r.Policy.Hard {
		args.Until = args.At.AddDate(0, 0, m.forgetDays)
	}
	return m.submit(ctx, retainKind, args)
}

// RetentionPolicy is the tenant's policy as it stands; the zero value when it has none.
func (m *Memory) RetentionPolicy() (RetentionPolicy, error) {
	set, err := m.settings(m.tenant)
	if err != nil || set.Retention == nil {
		return RetentionPolicy{}, err
	}
	return *set.Retention, set.Retention.Validate()
}

func (m *Memory) retainWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	var args retaining
	if err := p.Args(&args); err != nil {
		return nil, err
	}
	if args.Policy == nil {
		args.Policy = &RetentionPolicy{}
	}
	s := sweeper{m: m, p: p, now: args.At, hard: args.Policy.Hard}
	s.at.DryRun, s.at.Until = args.DryRun, args.Until
	defer func() {
		if !args.DryRun {
			s.ended(ctx, retainKind, Who{User: args.User, Agent: args.Agent}, err)
		}
	}()
	if err := s.resume(ctx); err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	of := EraseRequest{User: args.User, Agent: args.Agent, Tenant: args.User+args.Agent == ""}
	err = m.eachMemoryOf(ctx, of, s.at.Seen, func(sc store.Scope) error {
		held, err := s.retainMemory(ctx, sc, &args)
		if err != nil {
			return err
		}
		return s.done(ctx, sc, held)
	})
	if err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	return s.at.Swept, nil
}

// retainMemory takes what the policy keeps no longer of one memory, and tells how many a legal hold keeps. What was taken
// before a restart is not planned again.
func (s *sweeper) retainMemory(ctx context.Context, sc store.Scope, args *retaining) (held int, err error) {
	h, err := s.m.holding(ctx, sc)
	if err != nil {
		return 0, err
	}
	var unsure error
	plan, err := args.Policy.Plan(ctx, s.m.store, sc, args.At, func(it *store.Item) bool {
		by, err := h.by(ctx, it)
		if err != nil {
			unsure = err
		}
		return by != nil
	})
	if err = errors.Join(err, unsure); err != nil {
		return 0, err
	}
	if args.DryRun {
		s.at.Items += len(plan.Removals)
		for _, x := range plan.Removals {
			s.at.Reasons[x.Reason]++
		}
		s.at.Removals = append(s.at.Removals, plan.Removals[:min(len(plan.Removals), maxRemovals-len(s.at.Removals))]...)
		return plan.Held, nil
	}
	for _, part := range plan.Parts(sweepPart) {
		ids, planned := make([]string, len(part)), make(map[string]*lifecycle.Removal, len(part))
		for i := range part {
			ids[i], planned[part[i].ID] = part[i].ID, &part[i]
		}
		late, err := s.step(ctx, sc, ids, func(it *store.Item) lifecycle.Reason {
			x := planned[it.ID]
			if x == nil || it.Aside.Forgotten() || !args.Policy.Still(x, it, args.At) {
				return ""
			}
			return x.Reason
		})
		if err != nil {
			return 0, err
		}
		plan.Held += late
	}
	return plan.Held, nil
}

// eachMemory calls f with the tenant's memories, in the order of their keys.
func (m *Memory) eachMemory(ctx context.Context, f func(store.Scope) error) error {
	return m.eachMemoryOf(ctx, EraseRequest{Tenant: true}, "", f)
}

// eachMemoryOf calls f with the memories that a request covers, in the order of their keys, those after one only.
func (m *Memory) eachMemoryOf(ctx context.Context, of EraseRequest, after string, f func(store.Scope) error) error {
	scopes, err := m.store.Scopes(ctx, m.tenant)
	if err != nil {
		return fmt.Errorf("read memories: %w", err)
	}
	for _, sc := range scopes {
		if !of.covers(sc) || after != "" && sc.Key() <= after {
			continue
		}
		if err := f(sc); err != nil {
			return err
		}
	}
	return nil
}
