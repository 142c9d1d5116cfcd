package wire

import (
	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
)

// retention is the policy of the settings. What is not bounded is left out.
func retention(r config.Retention) *evoke.RetentionPolicy {
	p := evoke.RetentionPolicy{
		MaxItems: r.MaxItems, TTLDays: r.TTLDays, HistoryDays: r.HistoryDays, Hard: r.Hard,
		Kinds: map[store.Kind]int{store.Episodic: r.Kinds.Episodic, store.Semantic: r.Kinds.Semantic, store.Procedural: r.Kinds.Procedural},
		Categories: map[store.Category]int{
			store.Preference: r.Categories.Preference, store.Knowledge: r.Categories.Knowledge, store.Context: r.Categories.Context,
			store.Behavior: r.Categories.Behavior, store.Goal: r.Categories.Goal, store.Correction: r.Categories.Correction,
		},
	}
	dropZeros(p.Kinds)
	dropZeros(p.Categories)
	return &p
}

func dropZeros[K comparable](days map[K]int) {
	for k, n := range days {
		if n == 0 {
			delete(days, k)
		}
	}
}
