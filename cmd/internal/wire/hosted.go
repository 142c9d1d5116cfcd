package wire

import (
	"time"

	"evoke/cmd/internal/config"
	"evoke/embed"
	"evoke/embed/openai"
)

// hosted is the embedder of an OpenAI-compatible service.
func hosted(c config.Embed) (embed.Embedder, error) {
	return openai.New(c.Model, &openai.Options{
		BaseURL: c.URL, APIKey: c.APIKey, Dimensions: c.Dimension, Timeout: time.Duration(c.TimeoutSeconds) * time.Second,
	})
}
