//go:build !race

package page_test

import (
	"net/http"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/page"
)

// everybody may do everything.
type everybody struct{}

func (*slow) enter(*http.Request, string) (page.Caller, error) { return everybody{}, nil }

func (everybody) Name() string         { return "local" }
func (everybody) Tenant() string       { return "default" }
func (everybody) May(config.Role) bool { return true }
func (everybody) AllMemories() bool    { return true }
func (everybody) Who(user, agent, thread string) (evoke.Who, error) {
	return evoke.Who{User: user, Agent: agent, Thread: thread}, nil
}
