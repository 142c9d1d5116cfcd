package evoke

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"evoke/recall"
	"evoke/store"
)

// What the loop that records blocks waits with, and how often it forgets old ones.
const (
	blocksWaiting = 256
	blockWrite    = 10 * time.Second
)

// blockLog writes down which blocks were made, beside the calls that made them.
type blockLog struct {
	ledger store.Ledger
	queue  chan blockNote
	stop   chan struct{} // closed when the engine is
}

// blockNote is a block to record, or a question whether all before it were.
type blockNote struct {
	block store.ShownBlock
	done  chan struct{}
}

// startBlocks runs the loop; days is how long blocks are on record, none when negative.
func (e *engine) startBlocks(days int, log *slog.Logger) {
	if days < 0 {
		return
	}
	b := &blockLog{ledger: e.ledger, queue: make(chan blockNote, blocksWaiting), stop: make(chan struct{})}
	e.blocks = b
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTimer(firstPrune)
		defer t.Stop()
		for {
			select {
			case n := <-b.queue:
				b.write(n, log)
			case <-t.C:
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				if _, err := b.ledger.PruneBlocks(ctx, e.now().AddDate(0, 0, -days)); err != nil {
					log.WarnContext(ctx, "old records of blocks stay", "error", err)
				}
				cancel()
				t.Reset(pruneEvery)
			case <-b.stop:
				for {
					select {
					case n := <-b.queue:
						b.write(n, log)
					default:
						return
					}
				}
			}
		}
	}()
	e.closers = append(e.closers, func() error { close(b.stop); <-done; return nil })
}

func (b *blockLog) write(n blockNote, log *slog.Logger) {
	if n.done != nil {
		close(n.done)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), blockWrite)
	defer cancel()
	if err := b.ledger.NoteBlock(ctx, n.block); err != nil {
		log.WarnContext(ctx, "a block could not be put on record", "error", err)
	}
}

// note puts a block on record. It waits only while the loop is behind, and never beyond the call.
func (b *blockLog) note(ctx context.Context, tenant string, w Who, at time.Time, made *recall.Block) {
	if b == nil || made.Hash == "" {
		return
	}
	n := store.ShownBlock{
		Tenant: tenant, User: w.User, Agent: w.Agent, Thread: w.Thread, Hash: made.Hash, Last: at, Shape: string(made.Shape), Tokens: made.Tokens,
		Items: make([]store.ShownItem, len(made.Entries)),
	}
	for i, e := range made.Entries {
		n.Items[i] = store.ShownItem{ID: e.ID, Part: string(e.Part), Compact: e.Compact}
	}
	select {
	case b.queue <- blockNote{block: n}:
	case <-b.stop:
	case <-ctx.Done():
	}
}

// settle waits until what was noted before is written.
func (b *blockLog) settle(ctx context.Context) error {
	done := make(chan struct{})
	for queue := b.queue; ; {
		select {
		case queue <- blockNote{done: done}:
			queue = nil
		case <-done:
			return nil
		case <-b.stop:
			return store.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// BlockRequest names a block that was made for a memory.
type BlockRequest struct {
	Who
	Hash string // as the block's frame has it
}

// ShownBlock tells what an agent was shown: the items of a block that Context made for the same user and agent, by the
// hash in its frame. Records hold ids, never content, and are kept for Options.BlockDays. ErrNotFound for a block that is
// not, or no longer, on record.
func (m *Memory) ShownBlock(ctx context.Context, r BlockRequest) (store.ShownBlock, error) {
	at, err := m.place(r.Who)
	if err != nil {
		return store.ShownBlock{}, err
	}
	if len(r.Hash) != 18 {
		return store.ShownBlock{}, store.Invalid("hash", "the 18 digits in the frame of a block", fmt.Sprintf("%d characters", len(r.Hash)))
	}
	if m.blocks == nil || !at.ok {
		return store.ShownBlock{}, fmt.Errorf("%w: blocks are not put on record", store.ErrNotFound)
	}
	if err := m.blocks.settle(ctx); err != nil {
		return store.ShownBlock{}, fmt.Errorf("shown block: %w", err)
	}
	b, err := m.ledger.ShownBlock(ctx, m.tenant, r.User, r.Agent, r.Hash)
	if err != nil {
		return store.ShownBlock{}, fmt.Errorf("shown block: %w", err)
	}
	return b, nil
}
