package wire

import (
	"fmt"
	"time"

	"evoke/cmd/internal/config"
	"evoke/embed"
	"evoke/embed/openai"
	"evoke/embed/rerank"
	"evoke/recall"
	"evoke/store"
)

// hosted is the embedder of an OpenAI-compatible service.
func hosted(c config.Embed) (embed.Embedder, error) {
	return openai.New(c.Model, &openai.Options{
		BaseURL: c.URL, APIKey: c.APIKey, Dimensions: c.Dimension, Timeout: time.Duration(c.TimeoutSeconds) * time.Second,
	})
}

// reranker is what the settings say of one, in the engine's form.
func reranker(c config.Rerank) (recall.Options, error) {
	o := recall.Options{RerankDepth: c.Depth, RerankTimeout: time.Duration(c.TimeoutMS) * time.Millisecond}
	if c.URL == "" {
		if c.Model != "" || c.APIKey != "" {
			return o, store.Invalid("rerank.url", "given when rerank.model or rerank.api_key is", "")
		}
		return o, nil
	}
	if c.Model == "" {
		return o, store.Invalid("rerank.model", "given with rerank.url: the name of the service's model", "")
	}
	r, err := rerank.New(c.URL, c.Model, &rerank.Options{Key: c.APIKey})
	if err != nil {
		return o, fmt.Errorf("%w: rerank.url: %w", store.ErrInvalid, err)
	}
	o.Reranker = r
	return o, nil
}
