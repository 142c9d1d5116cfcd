package wire

import (
	"context"

	"evoke/cmd/internal/config"
	"evoke/embed"
)

// embedder is what makes vectors, or the reason why nothing does.
func embedder(_ context.Context, _ *config.Config, o *Options) (embed.Embedder, string, error) {
	if o.NoModel {
		return nil, "switched off by --no-model", nil
	}
	return nil, "no embedding model is installed: run `evoke model pull`", nil
}
