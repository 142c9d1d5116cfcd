package server

import (
	"slices"
	"strings"
	"testing"

	"evoke/cmd/internal/config"
)

// bounded are the lists of an operator's routes that come without pages, and why they stay short.
var bounded = map[string]string{
	"adminKeys": "1000 keys", "tenantKeys": "1000 keys", "adminPolicyHistory": "101 versions",
	"adminHolds": "each made by hand", "adminSchedules": "one for each kind of work",
}

// Every route names the role that it needs, tells its errors as problems, pages what may be long, and answers long work with
// an operation, or streams.
func TestRoutesOfOperatorsAreComplete(t *testing.T) {
	_, ops, err := loadSpec()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, op := range ops {
		o := op.route.Operation
		above, admin := strings.Contains(name, "/v1/installation/"), strings.Contains(name, "/v1/admin/")
		switch {
		case above && op.role != config.Installation, admin && op.role != config.Admin, !above && !admin && !op.role.Allows(config.Read):
			t.Errorf("%s: role %q", name, op.role)
		case o.Responses.Default() == nil || o.Responses.Default().Value.Content.Get("application/problem+json") == nil:
			t.Errorf("%s: no problems", name)
		case o.Summary == "" || o.OperationID == "":
			t.Errorf("%s: no summary", name)
		}
		if !above && !admin {
			continue
		}
		seen++
		for status, r := range o.Responses.Map() {
			body := r.Value.Content.Get("application/json")
			if body == nil || body.Schema == nil || body.Schema.Value == nil {
				continue
			}
			for field, schema := range body.Schema.Value.Properties {
				if status != "200" || !strings.HasPrefix(name, "GET") || !schema.Value.Type.Is("array") || bounded[o.OperationID] != "" || slices.Contains(ofOneThing, o.OperationID+"."+field) {
					continue
				}
				if !op.query["limit"] || !op.query["cursor"] {
					t.Errorf("%s: %s may be long and has no pages", name, field)
				}
			}
		}
		for _, verb := range []string{"erase", "retain", "purge", "undo", "consolidate", "reembed"} {
			if strings.HasPrefix(name, "POST") && strings.HasSuffix(op.route.Path, "/"+verb) && o.Responses.Status(202) == nil {
				t.Errorf("%s: long work without an operation", name)
			}
		}
		if slices.Contains([]string{"adminExport", "adminImport"}, o.OperationID) && !op.stream {
			t.Errorf("%s: does not stream", name)
		}
	}
	if seen < 40 {
		t.Errorf("%d routes of operators", seen)
	}
}

// ofOneThing are lists within an answer about one thing, with a bound of their own.
var ofOneThing = []string{
	"adminStats.ages", "adminStats.users", "adminStats.days", // five, a hundred, thirty
}
