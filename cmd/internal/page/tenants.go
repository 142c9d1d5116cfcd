package page

import (
	"context"
	"net/url"
	"strings"

	"evoke"
	"evoke/cmd/internal/config"
)

// Installation is what is above tenants.
type Installation interface {
	Tenants(ctx context.Context, r evoke.TenantsRequest) (evoke.TenantsResult, error)
	CreateTenant(ctx context.Context, name string) (evoke.Tenant, error)
	DisableTenant(ctx context.Context, name string) (evoke.Tenant, error)
	EnableTenant(ctx context.Context, name string) (evoke.Tenant, error)
	CreateKey(ctx context.Context, tenant string, r evoke.KeyRequest) (evoke.KeySecret, error)
}

var aboveTenants = needs{role: config.Installation}

type tenantsPage struct {
	*frame
	Tenants []evoke.Tenant
	Next    string
	Secret  string // of the key that was just made
	Of      string
}

// tenants lists the tenants of the installation.
func (p *Page) tenants(v *visit) error { return v.showTenants(evoke.KeySecret{}) }

func (v *visit) showTenants(made evoke.KeySecret) error {
	in, err := v.page.o.Installation()
	if err != nil {
		return err
	}
	res, err := in.Tenants(v.ctx(), evoke.TenantsRequest{Limit: perPage, Cursor: v.get("cursor")})
	if err != nil {
		return err
	}
	d := tenantsPage{frame: v.frame("tenants.title"), Tenants: res.Tenants, Secret: made.Secret, Of: made.Key.Name}
	if res.Next != "" {
		d.Next = at("tenants", url.Values{"cursor": {res.Next}})
	}
	return v.show(200, "tenants", d)
}

// changeTenants makes a tenant, switches one off or on, or makes the first key of one.
func (p *Page) changeTenants(v *visit) error {
	in, err := p.o.Installation()
	if err != nil {
		return err
	}
	name, done := strings.TrimSpace(v.get("name")), ""
	switch v.get("verb") {
	case "create":
		_, err = in.CreateTenant(v.ctx(), name)
		done = "tenantmade"
	case "enable":
		_, err = in.EnableTenant(v.ctx(), name)
		done = "tenanton"
	case "key":
		made, err := in.CreateKey(v.ctx(), name, evoke.KeyRequest{Name: strings.TrimSpace(v.get("key")), Role: string(config.Admin), Agents: []string{"*"}})
		if err != nil {
			return err
		}
		return v.showTenants(made)
	default:
		if v.get("step") != "confirm" {
			return v.show(200, "confirm", confirmPage{
				frame: v.frame("tenants.disable"), Lead: "tenants.disablelead", Count: name, Action: at("tenants", nil),
				Fields: url.Values{"name": {name}, "verb": {"disable"}}, Back: at("tenants", nil), Button: "tenants.disable", Danger: true,
			})
		}
		_, err = in.DisableTenant(v.ctx(), name)
		done = "tenantoff"
	}
	if err != nil {
		return err
	}
	return v.done("tenants", done, 1)
}
