package local

import (
	"context"
	"fmt"
	"slices"

	"evoke/embed"
)

// EmbedPieces returns the vectors of a text's word pieces.
func (e *Encoder) EmbedPieces(ctx context.Context, role embed.Role, text string) ([]embed.Piece, error) {
	if role != embed.Query && role != embed.Passage {
		return nil, fmt.Errorf("embed pieces: %w: role %q is neither query nor passage", embed.ErrInvalid, role)
	}
	seq := e.tokens(role, text)
	var pieces []embed.Piece
	b := batch{seqs: [][]int32{seq}, visit: func(hidden []float32) { pieces = e.pieces(role, seq, hidden) }}
	c := passages
	if role == embed.Query {
		c = queries
	}
	if err := e.run(ctx, c, b); err != nil {
		return nil, fmt.Errorf("embed pieces: %w", err)
	}
	return pieces, nil
}

// EmbedQueryPieces returns the vector of a query and those of its word pieces.
func (e *Encoder) EmbedQueryPieces(ctx context.Context, text string) (vector []float32, pieces []embed.Piece, err error) {
	seq := e.tokens(embed.Query, text)
	b := batch{seqs: [][]int32{seq}, visit: func(hidden []float32) {
		vector, pieces = e.pool(hidden[:len(seq)*e.model.Dim], text), e.pieces(embed.Query, seq, hidden)
	}}
	if err := e.run(ctx, queries, b); err != nil {
		return nil, nil, fmt.Errorf("embed query: %w", err)
	}
	return vector, pieces, nil
}

// pieces copies the vectors of a text's pieces from those of its tokens.
func (e *Encoder) pieces(role embed.Role, seq []int32, hidden []float32) []embed.Piece {
	dim := e.model.Dim
	var pieces []embed.Piece
	for i := min(e.prefixes[role], len(seq)-1); i < len(seq)-1; i++ {
		v := slices.Clone(hidden[i*dim:][:dim])
		normalise(v)
		pieces = append(pieces, embed.Piece{ID: seq[i], Text: e.tok.Piece(seq[i]), Vector: v})
	}
	return pieces
}

// Vocabulary is the model's pieces in the order of their numbers, as
// embed.Piece.Text has them.
func (e *Encoder) Vocabulary() []string {
	all := make([]string, e.tok.Size())
	for i := range all {
		all[i] = e.tok.Piece(int32(i))
	}
	return all
}
