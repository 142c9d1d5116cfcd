package store

import (
	"context"
	"time"
)

// ShownBlock is the record of a block that was made for a prompt: which items it held, never what they said.
type ShownBlock struct {
	Tenant string      `json:"-"`
	User   string      `json:"user,omitempty"`
	Agent  string      `json:"agent,omitempty"`
	Thread string      `json:"thread,omitempty"` // of the latest time
	Hash   string      `json:"hash"`             // as the block's frame has it
	First  time.Time   `json:"first"`            // when it was made, the first time
	Last   time.Time   `json:"last"`             // … and the latest
	Times  int         `json:"times"`            // how often the very same block was made
	Shape  string      `json:"shape"`
	Tokens int         `json:"tokens"`
	Items  []ShownItem `json:"items"` // in the order of the block
}

// ShownItem is an item of such a block.
type ShownItem struct {
	ID      string `json:"id"`
	Part    string `json:"part"`              // why it was there
	Compact bool   `json:"compact,omitempty"` // only a passage of it was
}

// Blocks keeps which blocks were made.
type Blocks interface {
	// NoteBlock records a block made at b.Last; one of the same tenant, user, agent and hash only counts as made again.
	NoteBlock(ctx context.Context, b ShownBlock) error
	// ShownBlock returns the record of a block, or ErrNotFound.
	ShownBlock(ctx context.Context, tenant, user, agent, hash string) (ShownBlock, error)
	// PruneBlocks drops the blocks last made before a time and returns how many.
	PruneBlocks(ctx context.Context, before time.Time) (int, error)
}
