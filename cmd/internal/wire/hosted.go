package wire

import (
	"evoke/cmd/internal/config"
	"evoke/embed"
	"evoke/store"
)

// hosted is the embedder of an OpenAI-compatible service.
func hosted(config.Embed) (embed.Embedder, error) {
	return nil, store.Invalid("embed.url", "empty: this build has local models only", "")
}
