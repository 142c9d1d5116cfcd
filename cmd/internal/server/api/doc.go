// Package api is the Go form of openapi.yaml: request types, route registration and the strict handler interface.
package api
