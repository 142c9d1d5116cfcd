package recall

import (
	"context"
	"fmt"

	"evoke/recall/tokens"
	"evoke/store"
)

// counter counts the tokens of a text: Count is the number that holds, Fast the same from a quicker hand.
type counter interface {
	Count(text string) int
	Fast(text string) int
	Name() string
}

// Context answers a request with a block for a prompt that never exceeds its budget. A request that names no limit gets
// Options.BlockLimit results; those that do not fit are left out, never cut, and later ones that fit are taken. With a
// budget of 0 there is no block and nothing is searched. Errors are those of Recall.
func (e *Engine) Context(ctx context.Context, scopes []store.Scope, req BlockRequest) (*Block, error) {
	if req.MaxTokens < 0 || req.MaxTokens > maxTokens {
		return nil, store.Invalid("max_tokens", fmt.Sprintf("from 0 to %d", maxTokens), fmt.Sprint(req.MaxTokens))
	}
	if req.Limit == 0 {
		req.Limit = e.opts.BlockLimit
	}
	p, err := e.plan(scopes, req.Request)
	if err != nil {
		return nil, err
	}
	count, err := tokens.For(req.Tokenizer)
	if err != nil {
		return nil, err
	}
	if req.MaxTokens == 0 {
		return &Block{Tokenizer: count.Name(), Items: []string{}, Response: Response{Hits: []Hit{}, Embedder: "none"}}, nil
	}
	res, _, err := e.answer(ctx, scopes, p)
	if err != nil {
		return nil, err
	}
	items := make([]*store.Item, len(res.Hits))
	for i := range res.Hits {
		items[i] = &res.Hits[i].Item
	}
	b, err := pack(ctx, items, req.MaxTokens, count)
	if err != nil {
		return nil, err
	}
	for _, d := range res.Duplicates {
		b.LeftOut = append(b.LeftOut, LeftOut{ID: d.ID, Reason: "duplicate"})
	}
	overBudget(res.WhyNot, b)
	b.Response = *res
	return b, nil
}

// pack fills a block with the items, best first, that fit the budget.
//
// A line ends with a line break behind a character that is not blank, and the next begins with "-" or "<": the split
// patterns of all encodings end a piece exactly there, so the counts of lines add up. The whole is counted all the
// same, and the last item taken is given back for as long as it is over.
func pack(ctx context.Context, items []*store.Item, budget int, c counter) (*Block, error) {
	b := &Block{Budget: budget, Tokenizer: c.Name(), Items: []string{}}
	empty, _ := render(nil)
	used := c.Fast(empty)
	var lines []string
	var costs []int
	for _, it := range items {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
		l := line(it)
		cost := c.Fast(l + "\n")
		if used+cost > budget {
			b.LeftOut = append(b.LeftOut, LeftOut{ID: it.ID, Tokens: cost, Reason: "budget"})
			continue
		}
		used += cost
		lines, costs, b.Items = append(lines, l), append(costs, cost), append(b.Items, it.ID)
	}
	for len(lines) > 0 {
		text, hash := render(lines)
		if n := c.Count(text); n <= budget {
			b.Text, b.Hash, b.Tokens = text, hash, n
			return b, nil
		}
		last := len(lines) - 1
		b.LeftOut = append(b.LeftOut, LeftOut{ID: b.Items[last], Tokens: costs[last], Reason: "budget"})
		lines, b.Items = lines[:last], b.Items[:last]
	}
	return b, nil
}
