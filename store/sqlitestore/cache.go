package sqlitestore

import (
	"container/list"
	"context"
	"sync"
)

// indexCache holds the indexes of the scopes that were searched lately.
type indexCache struct {
	limit   int64
	mu      sync.Mutex
	scopes  map[int64]*cached
	order   *list.List // of *cached, most recently used first
	loading sync.WaitGroup
}

// cached is an index that is loaded or being loaded.
type cached struct {
	scope int64
	at    *list.Element
	ready chan struct{} // closed when index or err is set
	index *index
	err   error
	// missed are the deltas committed while the index was being read, in order.
	missed []*indexDelta
	loaded bool
}

func newIndexCache(limit int64) *indexCache {
	return &indexCache{limit: limit, scopes: map[int64]*cached{}, order: list.New()}
}

// get returns the index of a scope. Callers that come while it is read wait for the same reading; when its context is
// done a caller leaves, and the reading goes on for the others.
//
// load may return what remains to be done once the index is in use.
func (c *indexCache) get(ctx context.Context, scope int64, load func() (*index, func(), error)) (*index, error) {
	c.mu.Lock()
	e, ok := c.scopes[scope]
	if !ok {
		e = &cached{scope: scope, ready: make(chan struct{})}
		e.at = c.order.PushFront(e)
		c.scopes[scope] = e
		c.loading.Add(1)
		go c.load(e, load)
	}
	c.order.MoveToFront(e.at)
	c.mu.Unlock()
	select {
	case <-e.ready:
		return e.index, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// load reads an index. Commits that the reading may or may not have seen are made up for before anyone sees it.
func (c *indexCache) load(e *cached, load func() (*index, func(), error)) {
	defer c.loading.Done()
	x, remains, err := load()
	c.publish(e, x, err)
	if remains != nil {
		remains()
	}
}

func (c *indexCache) publish(e *cached, x *index, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(e.ready)
	if err != nil {
		e.err = err
		c.drop(e)
		return
	}
	for _, d := range e.missed {
		x.apply(d)
	}
	e.missed, e.index, e.loaded = nil, x, true
	c.evict(e)
}

// apply has the index of a scope follow a commit. The writer calls it in the order of commits.
func (c *indexCache) apply(scope int64, d *indexDelta) {
	c.mu.Lock()
	e, ok := c.scopes[scope]
	if ok && !e.loaded {
		e.missed = append(e.missed, d)
		ok = false
	}
	c.mu.Unlock()
	if !ok {
		return
	}
	e.index.apply(d)
	wasteful := len(d.put)+len(d.del)+len(d.vectors) > 0 && e.index.wasteful()
	c.mu.Lock()
	defer c.mu.Unlock()
	if wasteful {
		c.drop(e)
		return
	}
	c.evict(e)
}

// drop forgets an entry. Searches that hold its index finish on it.
func (c *indexCache) drop(e *cached) {
	if c.scopes[e.scope] == e {
		delete(c.scopes, e.scope)
		c.order.Remove(e.at)
	}
}

// reset forgets all entries.
func (c *indexCache) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.scopes)
	c.order.Init()
}

// evict forgets the least recently used indexes until the rest fit. keep, the newest, stays whatever its size: its
// caller needs it.
func (c *indexCache) evict(keep *cached) {
	total := int64(0)
	for el := c.order.Front(); el != nil; {
		next := el.Next()
		if e := el.Value.(*cached); e.loaded {
			total += e.index.bytes.Load()
			if total > c.limit && e != keep {
				c.drop(e)
			}
		}
		el = next
	}
}

// wait returns when no index is being read.
func (c *indexCache) wait() { c.loading.Wait() }
