package wire

import (
	"context"
	"fmt"
	"log/slog"
	"time"
	_ "time/tzdata" // llm.zone holds on machines without a database of time zones

	"evoke/cmd/internal/config"
	"evoke/extract"
	"evoke/extract/llm"
	"evoke/store"
)

// shared is what all extractors have in common.
type shared struct {
	gate   func(ctx context.Context, c llm.Call) (func(extract.Usage), error) // see llm.Options.Gate
	logger *slog.Logger
}

// models are the extractors that ask a language model, one for each group of settings. Budgets are no part of a group:
// they are asked for at every request, and an extractor outlives their change.
type models map[config.LLM]extract.Extractor

// extractor is that of the settings, nil where the rules do: the one that is there, else the known one, else a new one.
func (m models) extractor(c config.LLM, known models, sh shared) (extract.Extractor, error) {
	if c.Model == "" {
		return nil, nil //nolint:nilnil // no extractor of its own: the engine's rules
	}
	c.Budget = config.Budget{}
	x := m[c]
	if x == nil {
		x = known[c]
	}
	if x == nil {
		var err error
		if x, err = newExtractor(c, sh); err != nil {
			return nil, err
		}
	}
	m[c] = x
	return x, nil
}

func newExtractor(c config.LLM, sh shared) (extract.Extractor, error) {
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		return nil, store.Invalid("zone", "a time zone such as Europe/Berlin", fmt.Sprintf("%.60q", c.Zone))
	}
	return llm.New(c.Model, &llm.Options{
		BaseURL: c.URL, APIKey: c.APIKey, Zone: zone, English: prompt(c.English), Chinese: prompt(c.Chinese),
		Timeout: time.Duration(c.TimeoutSeconds) * time.Second, MaxInputTokens: c.MaxInputTokens, MaxOutputTokens: c.MaxOutputTokens,
		Gate: sh.gate, Logger: sh.logger,
	})
}

// prompt is nil for the extractor's own.
func prompt(p llm.Prompt) *llm.Prompt {
	if p == (llm.Prompt{}) {
		return nil
	}
	return &p
}
