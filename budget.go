package evoke

// Budget is how a tenant stands today (UTC) against the limits of its language model (Options.Budget).
type Budget struct {
	Day            string  `json:"day"`   // "2026-11-30", UTC
	Calls          int64   `json:"calls"` // taken today, by earlier processes too
	Tokens         int64   `json:"tokens"`
	CallsPerDay    int64   `json:"calls_per_day"` // 0: no limit
	TokensPerDay   int64   `json:"tokens_per_day"`
	CallsPerMinute int     `json:"calls_per_minute"`
	Spent          bool    `json:"spent"`     // no further call today
	PriceIn        float64 `json:"price_in"`  // of a million tokens of prompts; 0: not told
	PriceOut       float64 `json:"price_out"` // of a million tokens of answers
}
