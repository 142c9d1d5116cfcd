package evoke

import (
	"context"
	"log/slog"

	"evoke/extract"
)

// staged logs the steps of extractions, in numbers and names, and tells them to whoever wants to know.
func staged(log *slog.Logger, told func(extract.Stage)) func(extract.Stage) {
	return func(s extract.Stage) {
		logStage(log, &s)
		if told != nil {
			told(s)
		}
	}
}

// logStage writes one line a step: what was given up is for the operator's eyes, the rest for who looks closer.
func logStage(log *slog.Logger, s *extract.Stage) {
	level := slog.LevelDebug
	switch {
	case s.Stage == extract.StageDead:
		level = slog.LevelWarn
	case s.Stage == extract.StageClaim && s.Attempts == 0 && s.Err == "":
		return // a look at a queue in which nothing is due
	}
	ctx := context.Background()
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("stage", s.Stage), slog.Float64("ms", float64(s.Took.Microseconds())/1000)}
	text := func(key, v string) {
		if v != "" {
			attrs = append(attrs, slog.String(key, v))
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			attrs = append(attrs, slog.Int(key, n))
		}
	}
	text("tenant", s.Tenant)
	text("extractor", s.Extractor)
	text("state", string(s.State))
	text("error", s.Err)
	number("attempts", s.Attempts)
	number("operations", sum(s.Operations))
	number("rejected", sum(s.Rejected))
	number("calls", s.Usage.Calls)
	number("prompt_tokens", s.Usage.PromptTokens)
	number("completion_tokens", s.Usage.CompletionTokens)
	log.LogAttrs(ctx, level, "extraction", attrs...)
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
