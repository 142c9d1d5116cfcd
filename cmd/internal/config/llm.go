package config

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"evoke/extract/llm"
	"evoke/store"
)

// LLM says which language model distils facts; without a Model rules do.
type LLM struct {
	Model           string `koanf:"model"`
	URL             string `koanf:"url"`
	APIKey          string `koanf:"api_key"`
	TimeoutSeconds  int    `koanf:"timeout_seconds"`
	MaxInputTokens  int    `koanf:"max_input_tokens"`
	MaxOutputTokens int    `koanf:"max_output_tokens"`
	Zone            string `koanf:"zone"`
	Prompts         string `koanf:"prompts"`
	Budget          Budget `koanf:",squash"`

	English, Chinese llm.Prompt `koanf:"-"` // out of Prompts; zero: Evoke's own
}

// Budget bounds what a tenant takes of its language model, and tells what that costs; 0 means none.
type Budget struct {
	CallsPerDay    int     `koanf:"calls_per_day"`
	TokensPerDay   int     `koanf:"tokens_per_day"`
	CallsPerMinute int     `koanf:"calls_per_minute"`
	InterimRules   bool    `koanf:"interim_rules"`
	PriceIn        float64 `koanf:"price_in"` // of a million tokens
	PriceOut       float64 `koanf:"price_out"`
}

// check refuses a budget of tokens that no request fits into: the model would never be asked.
func (l *LLM) check(at string) error {
	if most := l.MaxInputTokens + l.MaxOutputTokens; l.Budget.TokensPerDay > 0 && l.Budget.TokensPerDay < most {
		return store.Invalid(at+".tokens_per_day", fmt.Sprintf("at least %d, which one request may take (max_input_tokens and max_output_tokens), or 0 for no limit", most), fmt.Sprint(l.Budget.TokensPerDay))
	}
	return nil
}

// readAllPrompts reads the prompts of all tenants, then those that single tenants name.
func (c *Config) readAllPrompts() error {
	if err := c.readPrompts("llm.prompts", &c.LLM); err != nil {
		return err
	}
	for name, t := range c.Tenants {
		if err := c.readPrompts("tenants."+name+".llm.prompts", &t.LLM); err != nil {
			return err
		}
		c.Tenants[name] = t
	}
	return nil
}

// readPrompts reads the prompts in a folder, if one is named. Files that are no text (.md) are left alone, and so are
// hidden ones.
func (c *Config) readPrompts(at string, l *LLM) error {
	if l.Prompts == "" {
		return nil
	}
	names, err := c.readFolder(l.Prompts)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrInvalid, at, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if strings.HasPrefix(name, ".") || filepath.Ext(name) != ".md" {
			continue
		}
		if files[name], err = c.read(filepath.Join(l.Prompts, name)); err != nil {
			return fmt.Errorf("%w: %s: %w", store.ErrInvalid, at, err)
		}
	}
	english, chinese, err := llm.ReadPrompts(files)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: %w", at, l.Prompts, err)
	case english == nil && chinese == nil:
		return store.Invalid(at, "a folder with a prompt in it (en.VERSION.md or zh.VERSION.md)", short(l.Prompts))
	}
	if english != nil {
		l.English = *english
	}
	if chinese != nil {
		l.Chinese = *chinese
	}
	return nil
}

// readFolder lists a folder and notes what was in it.
func (c *Config) readFolder(name string) ([]string, error) {
	names, err := list(name)
	c.contents[name] = [sha256.Size]byte{}
	if err == nil {
		c.contents[name] = sum(names)
	}
	return names, err
}

// list is a folder's names in order.
func list(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func sum(names []string) [sha256.Size]byte { return sha256.Sum256([]byte(strings.Join(names, "\x00"))) }
