package store

import (
	"cmp"
	"time"
)

// Census counts a tenant's items, over all of its scopes: those that the view sees and, beside them, all that there are.
type Census struct {
	Kinds      map[Kind]int
	Categories map[Category]int // those without one under ""
	Since      []int            // as many as moments were asked for: the items recorded at or after each
	Users      []UserCount      // as many as were asked for, those with the most items first, then by name

	// Of every version, whatever the view sees.
	Scopes, Versions int   // scopes that hold items, and items
	Bytes            int64 // of contents and vectors
}

// UserCount counts a user's items, in memories with agents, too; those of agents' own memories are of no user.
type UserCount struct {
	User  string `json:"user"`
	Items int    `json:"items"`
}

// Compare is the order of Census.Users.
func (u UserCount) Compare(v UserCount) int {
	return cmp.Or(cmp.Compare(v.Items, u.Items), cmp.Compare(u.User, v.User))
}

// CensusQuery asks for a Census.
type CensusQuery struct {
	View  View
	Since []time.Time // at most 16 moments
	Users int         // how many users are counted by themselves, 0–100
}

// Validate fails with ErrTenant without a tenant, and with ErrInvalid when too many moments are asked for.
func (q *CensusQuery) Validate(tenant string) error {
	if tenant == "" {
		return ErrTenant
	}
	if err := ValidateName("tenant", tenant); err != nil {
		return err
	}
	if len(q.Since) > 16 {
		return Invalid("since", "at most 16 moments", "")
	}
	if q.Users < 0 || q.Users > 100 {
		return Invalid("users", "from 0 to 100", "")
	}
	return nil
}
