package evoke

import (
	"context"
	"fmt"

	"evoke/store"
)

// TenantStats counts what a tenant has, over all of its memories.
type TenantStats struct {
	Memories   int                      `json:"memories"` // that hold items
	Total      int                      `json:"total"`    // current items
	Versions   int                      `json:"versions"` // with those that are closed or retracted, and sections of profiles
	Kinds      map[store.Kind]int       `json:"kinds"`    // zeros included
	Categories map[store.Category]int   `json:"categories"`
	Ages       []AgeCount               `json:"ages"`  // youngest first
	Bytes      int64                    `json:"bytes"` // of contents and vectors, those of all versions
	Events     map[store.EventState]int `json:"events"`
	Users      []store.UserCount        `json:"users"`          // with the most current items, those first
	Usage      UsageSum                 `json:"usage"`          // of language models, in the last 30 days
	Days       []UsageDay               `json:"days"`           // Usage and Cost by day, oldest first; days without any are left out
	Cost       float64                  `json:"cost,omitempty"` // of Usage, at the prices of the settings
	Embedder   string                   `json:"embedder"`       // "none" without a model
	Note       string                   `json:"note,omitempty"` // why there is no dense search, when there is none
}

// AgeCount counts the current items that were recorded within so many days, and not within fewer that another AgeCount has.
type AgeCount struct {
	Days  int `json:"days"` // 0: older than those before
	Items int `json:"items"`
}

// ageDays are the bounds of the ages that are counted.
var ageDays = [...]int{1, 7, 30, 90, 365}

// TenantStatsRequest says how much is counted.
type TenantStatsRequest struct {
	Users int // how many users are counted by themselves, at most 100; 0 means 10, negative none
}

// TenantStats counts the tenant's items by kind, category, age and user, and what they take. It goes over all of them, over an
// index that holds no texts: a fifth of a second with 100,000 items on two cores that are busy otherwise.
func (m *Memory) TenantStats(ctx context.Context, r TenantStatsRequest) (TenantStats, error) {
	if r.Users == 0 {
		r.Users = 10
	}
	st, err := m.tenantStats(ctx, max(0, r.Users))
	if err != nil {
		return TenantStats{}, fmt.Errorf("stats of the tenant: %w", err)
	}
	return st, nil
}

func (m *Memory) tenantStats(ctx context.Context, users int) (st TenantStats, err error) {
	st.Kinds, st.Categories = map[store.Kind]int{}, map[store.Category]int{}
	st.Embedder, st.Note = m.embedderID(), m.noDense()
	now := m.now()
	q := store.CensusQuery{View: store.Current(m.clock()), Users: users}
	for _, days := range ageDays {
		q.Since = append(q.Since, now.AddDate(0, 0, -days))
	}
	held, err := m.store.Census(ctx, m.tenant, q)
	if err != nil {
		return st, err
	}
	for _, k := range store.Kinds() {
		st.Kinds[k] = held.Kinds[k]
		st.Total += held.Kinds[k]
	}
	for _, c := range store.Categories() {
		st.Categories[c] = held.Categories[c]
	}
	younger := 0
	for i, days := range ageDays {
		st.Ages = append(st.Ages, AgeCount{days, held.Since[i] - younger})
		younger = held.Since[i]
	}
	st.Ages = append(st.Ages, AgeCount{0, st.Total - younger})
	if st.Users = held.Users; st.Users == nil {
		st.Users = []store.UserCount{}
	}
	st.Memories, st.Versions, st.Bytes = held.Scopes, held.Versions, held.Bytes
	if st.Events, err = m.ledger.CountEvents(ctx, m.tenant); err != nil {
		return st, err
	}
	used, err := m.Usage(ctx, UsageRequest{})
	st.Usage, st.Days, st.Cost = used.Total, used.Days, used.Cost
	return st, err
}
