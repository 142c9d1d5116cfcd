package evoke

import (
	"context"

	"evoke/embed"
)

// span begins a stage for whoever traces; end is told how it went.
func (e *Events) span(ctx context.Context, stage string) (_ context.Context, end func(error)) {
	if e.Span == nil {
		return ctx, func(error) {}
	}
	return e.Span(ctx, stage)
}

// EmbedPassages implements embed.Embedder.
func (v viewed) EmbedPassages(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	ctx, end := v.events.span(ctx, "embed")
	defer func() { end(err) }()
	return v.Embedder.EmbedPassages(ctx, texts)
}

// EmbedQuery implements embed.Embedder.
func (v viewed) EmbedQuery(ctx context.Context, text string) (vector []float32, err error) {
	ctx, end := v.events.span(ctx, "embed")
	defer func() { end(err) }()
	return v.Embedder.EmbedQuery(ctx, text)
}

// EmbedQueryPieces implements embed.QueryPieceEmbedder.
func (v viewed) EmbedQueryPieces(ctx context.Context, text string) (vector []float32, pieces []embed.Piece, err error) {
	ctx, end := v.events.span(ctx, "embed")
	defer func() { end(err) }()
	return embed.QueryPieces(ctx, v.Embedder, text)
}
