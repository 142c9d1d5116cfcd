package embed_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"evoke/embed"
	"evoke/embed/internal/fake"
)

func TestModelID(t *testing.T) {
	m := embed.Model{Name: "multilingual-e5-small-q4", Revision: "1571fc982750", Dim: 384, Pooling: "mean", Centring: "c1", Low: -0.15, High: 0.6}
	if got, want := m.ID(), "multilingual-e5-small-q4/1571fc982750/384/mean//c1"; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
	calibrated := m
	calibrated.Low, calibrated.High = 0, 1
	if calibrated.ID() != m.ID() {
		t.Error("Low and High must not change the ID: recalibration would orphan every stored vector")
	}
}

func TestModelIDIsInjective(t *testing.T) {
	part := rapid.StringOfN(rapid.RuneFrom([]rune("a/%2F5")), 0, 5, -1)
	model := rapid.Custom(func(t *rapid.T) embed.Model {
		return embed.Model{
			Name: part.Draw(t, "name"), Revision: part.Draw(t, "revision"), Dim: rapid.IntRange(1, 2).Draw(t, "dim"),
			Pooling: part.Draw(t, "pooling"), Views: part.Draw(t, "views"), Centring: part.Draw(t, "centring"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := model.Draw(t, "a"), model.Draw(t, "b")
		if (a == b) != (a.ID() == b.ID()) {
			t.Fatalf("%+v and %+v have IDs %q and %q", a, b, a.ID(), b.ID())
		}
	})
}

type wrapper struct{ embed.Embedder }

func (w wrapper) Unwrap() embed.Embedder { return w.Embedder }

type pieced struct{ fake.Embedder }

func (*pieced) EmbedPieces(context.Context, embed.Role, string) ([]embed.Piece, error) {
	return []embed.Piece{{ID: 7}}, nil
}

func TestPiecesLooksBehindWrappers(t *testing.T) {
	p, ok := embed.Pieces(wrapper{wrapper{&pieced{}}})
	if !ok {
		t.Fatal("not found behind two wrappers")
	}
	if got, err := p.EmbedPieces(context.Background(), embed.Query, "x"); err != nil || got[0].ID != 7 {
		t.Errorf("%v, %v", got, err)
	}
	for _, e := range []embed.Embedder{&fake.Embedder{}, wrapper{&fake.Embedder{}}} {
		if _, ok := embed.Pieces(e); ok {
			t.Errorf("%T has no pieces", e)
		}
	}
}
