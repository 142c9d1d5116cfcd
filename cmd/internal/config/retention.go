package config

// Retention says what memories keep no longer, when it is run; 0: no bound.
type Retention struct {
	MaxItems    int          `koanf:"max_items"`
	TTLDays     int          `koanf:"ttl_days"`
	Kinds       Kinds        `koanf:"kinds"`
	Categories  CategoryCaps `koanf:"categories"` // days
	HistoryDays int          `koanf:"history_days"`
	Hard        bool         `koanf:"hard"`
}

// Kinds are days by kind.
type Kinds struct {
	Episodic   int `koanf:"episodic"`
	Semantic   int `koanf:"semantic"`
	Procedural int `koanf:"procedural"`
}

// CategoryCaps bound the facts of a category; 0: no bound.
type CategoryCaps struct {
	Preference int `koanf:"preference"`
	Knowledge  int `koanf:"knowledge"`
	Context    int `koanf:"context"`
	Behavior   int `koanf:"behavior"`
	Goal       int `koanf:"goal"`
	Correction int `koanf:"correction"`
}
