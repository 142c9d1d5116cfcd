package page

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
)

type keysPage struct {
	*frame
	Keys   []evoke.Key
	Roles  []config.Role
	Secret string // of the key that was just made or rotated
	Of     string
	Now    time.Time
}

// keys shows the tenant's keys.
func (p *Page) keys(v *visit) error { return v.showKeys(evoke.KeySecret{}) }

// showKeys shows a new secret where there is one. It is in no address and no cookie, so that it is shown this once.
func (v *visit) showKeys(made evoke.KeySecret) error {
	keys, err := v.Keys(v.ctx())
	if err != nil {
		return err
	}
	return v.show(200, "keys", keysPage{
		v.frame("keys.title"), keys, []config.Role{config.Read, config.Write, config.Admin}, made.Secret, made.Key.Name, v.page.o.Clock(),
	})
}

// changeKeys makes, rotates or revokes a key.
func (p *Page) changeKeys(v *visit) error {
	name := strings.TrimSpace(v.get("name"))
	switch v.get("verb") {
	case "create":
		expires, err := moment("expires_at", v.get("expires_at"))
		if err != nil {
			return err
		}
		made, err := v.CreateKey(v.ctx(), evoke.KeyRequest{
			Name: name, Role: v.get("role"), Agents: names(v.get("agents")), Users: names(v.get("users")), ExpiresAt: expires,
		})
		if err != nil {
			return err
		}
		return v.showKeys(made)
	case "rotate":
		hours, err := strconv.Atoi(v.get("grace"))
		if err != nil || hours < 0 || hours > 30*24 {
			return store.Invalid("grace", "hours from 0 to 720", clip(v.get("grace"), 20))
		}
		made, err := v.RotateKey(v.ctx(), name, time.Duration(hours)*time.Hour)
		if err != nil {
			return err
		}
		return v.showKeys(made)
	}
	if v.get("step") != "confirm" {
		return v.show(200, "confirm", confirmPage{
			frame: v.frame("keys.revoke"), Lead: "keys.revokelead", Count: name, Action: at("keys", nil),
			Fields: url.Values{"name": {name}, "verb": {"revoke"}}, Back: at("keys", nil), Button: "keys.revoke", Danger: true,
		})
	}
	if _, err := v.RevokeKey(v.ctx(), name); err != nil {
		return err
	}
	return v.done("keys", "revoked", 1)
}

// names are separated by commas or spaces.
func names(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '，' })
}
