package server

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"evoke/cmd/internal/config"
)

//go:generate oapi-codegen --config=oapi.yaml openapi.yaml

//go:embed openapi.yaml
var specification []byte

// operation is one route of the specification with what the middleware needs to know of it.
type operation struct {
	route  *routers.Route
	role   config.Role // least role that may call it
	stream bool        // bodies of any length, no time limit as a whole
	query  map[string]bool
}

// loadSpec reads and checks the specification and returns its operations by method and echo path.
func loadSpec() (*openapi3.T, map[string]*operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(specification)
	if err != nil {
		return nil, nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	ops := map[string]*operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := &operation{
				route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
				query: map[string]bool{},
			}
			role, _ := op.Extensions["x-role"].(string)
			o.role = config.Role(role)
			o.stream, _ = op.Extensions["x-stream"].(bool)
			for _, p := range append(op.Parameters, item.Parameters...) {
				if p.Value.In == openapi3.ParameterInQuery {
					o.query[p.Value.Name] = true
				}
			}
			ops[method+" "+echoPath(path)] = o
		}
	}
	return doc, ops, nil
}

// echoPath writes /a/{id} as echo does: /a/:id.
func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}
