package config

// Review says which distilled facts wait for a person.
type Review struct {
	Mode       string  `koanf:"mode"`
	Below      float64 `koanf:"below"`
	Categories string  `koanf:"categories"` // separated by commas
}
