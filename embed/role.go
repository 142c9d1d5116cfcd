package embed

import "context"

// Role says what a text is to an embedder: a passage to be found, or a query
// that looks for passages.
type Role string

// The two roles.
const (
	Passage Role = "passage"
	Query   Role = "query"
)

// Piece is one word piece of a text and its vector, taken from the model's last
// layer.
type Piece struct {
	// ID is the piece's number in the model's vocabulary.
	ID int32
	// Text is the piece as the vocabulary writes it, with the vocabulary's
	// marks for the beginning or the continuation of a word.
	Text string
	// Vector has unit length and Model().Dim components. It is never centred.
	Vector []float32
}

// PieceEmbedder is an Embedder that can also tell the vectors of a text's word
// pieces, for late interaction. The marks for begin and end and the prefix of
// the role are left out.
type PieceEmbedder interface {
	Embedder
	EmbedPieces(ctx context.Context, role Role, text string) ([]Piece, error)
}

// Pieces finds the PieceEmbedder in an embedder that may be wrapped, for
// example by a cache; ok is false if there is none.
func Pieces(e Embedder) (p PieceEmbedder, ok bool) {
	for {
		if p, ok = e.(PieceEmbedder); ok {
			return p, true
		}
		w, wraps := e.(interface{ Unwrap() Embedder })
		if !wraps {
			return nil, false
		}
		e = w.Unwrap()
	}
}

// QueryPieceEmbedder is an Embedder that tells a query's vector and those of its
// word pieces in one pass, at the price of the vector alone.
type QueryPieceEmbedder interface {
	Embedder
	EmbedQueryPieces(ctx context.Context, text string) (vector []float32, pieces []Piece, err error)
}

// QueryPieces returns the vector of a query and, if the embedder can tell them,
// those of its word pieces; otherwise the pieces are nil.
func QueryPieces(ctx context.Context, e Embedder, text string) (vector []float32, pieces []Piece, err error) {
	if p, ok := e.(QueryPieceEmbedder); ok {
		return p.EmbedQueryPieces(ctx, text)
	}
	vector, err = e.EmbedQuery(ctx, text)
	return vector, nil, err
}
