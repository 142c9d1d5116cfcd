package qdrantstore

import (
	"testing"

	"github.com/qdrant/go-client/qdrant"
)

// dial connects a plain client, to look behind a store.
func dial(t *testing.T, set *settings) *qdrant.Client {
	t.Helper()
	c, err := qdrant.NewClient(set.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
