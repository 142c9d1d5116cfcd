package page

import (
	"net/url"

	"evoke"
)

// other is a user who has items, where the memory that is looked at holds none.
type other struct {
	User  string
	Items int
	URL   string
}

// findOthers leads somebody who looks after the tenant and named nobody to the users who have items: the page opens on the
// memory of the user "default", which most installations leave empty.
func (f *frame) findOthers(v *visit, view string) error {
	if f.User != "" || f.Agent != "" || !v.may(admin) {
		return nil
	}
	st, err := v.TenantStats(v.ctx(), evoke.TenantStatsRequest{Users: 20})
	if err != nil {
		return err
	}
	for _, u := range st.Users {
		if u.User != "" {
			f.Others = append(f.Others, other{User: u.User, Items: u.Items, URL: at(view, url.Values{"user": {u.User}})})
		}
	}
	return nil
}
