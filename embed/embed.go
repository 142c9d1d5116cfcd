// Package embed is the port through which Evoke turns text into vectors.
//
// An Embedder is one vector space: the local encoder (embed/local), an
// OpenAI-compatible service (embed/openai), or either of them behind the cache
// (embed/cache). Which space it is, Model says; vectors of two models never
// meet. The contract that every Embedder keeps is executable: embed/embedtest.
package embed

import (
	"context"
	"strconv"
	"strings"
)

// Embedder turns texts into unit-length vectors.
//
// Passages are texts to be found, queries are texts that look for them; models
// that were trained with a prefix for each see the difference. An embedder is
// safe for concurrent use. A text's vector does not depend on the other texts
// of the batch. Any text is legal: broken UTF-8 is repaired, a text longer than
// the model reads is cut, an empty text has a vector like any other.
type Embedder interface {
	// Model is the identity of the vector space, constant for the life of the
	// embedder.
	Model() Model

	// EmbedPassages returns one vector of Model().Dim components per text, in
	// order. It fails as a whole: with an error there are no vectors. No texts
	// give no vectors and no error.
	EmbedPassages(ctx context.Context, texts []string) ([][]float32, error)

	// EmbedQuery returns the vector of one query.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Model identifies a vector space. Two vectors may be compared only when the
// ID()s of their models are equal.
type Model struct {
	// Name is the model's name, such as "multilingual-e5-small-q4".
	Name string
	// Revision is the sha256 (shortened) of the weights file, or the
	// provider's model version.
	Revision string
	// Dim is the number of components of a vector.
	Dim int
	// Pooling says how a text's vector is made from its tokens' vectors:
	// "mean", "cls", or "hosted" when only the provider knows.
	Pooling string
	// Views is the version of the text views that are embedded. The caller
	// that builds views sets it; it is empty inside embed.
	Views string
	// Centring is the version of the constant means that were subtracted,
	// such as "c1"; empty for raw vectors.
	Centring string
	// Low and High are the cosines of a typical unrelated and of a typical
	// perfectly related pair in this space, Low < High. Scores are normalised
	// with them. They describe the space and are no part of its identity.
	Low, High float64
}

// ID is the identity as one stable string, made of everything but Low and High.
// Different identities never share an ID.
func (m Model) ID() string {
	parts := []string{m.Name, m.Revision, strconv.Itoa(m.Dim), m.Pooling, m.Views, m.Centring}
	for i, p := range parts {
		parts[i] = idEscaper.Replace(p)
	}
	return strings.Join(parts, "/")
}

// idEscaper keeps the separator of an ID out of its parts, so that no two
// models run together in one string.
var idEscaper = strings.NewReplacer("%", "%25", "/", "%2F")
