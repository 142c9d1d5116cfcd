package wire

import (
	"context"
	"errors"
	"fmt"

	"evoke/cmd/internal/config"
	"evoke/embed"
	"evoke/embed/cache"
	"evoke/embed/modelstore"
)

// Models opens the folder of local models. progress, if not nil, is told in a line what is being done.
func Models(environ []string, progress func(string)) (*modelstore.Store, error) {
	return modelstore.New(&modelstore.Options{Dir: variable(environ, modelstore.EnvDir), Progress: progress})
}

// Embedder is what makes vectors by the settings, behind a cache, or the reason why nothing does. A model that the
// settings name and that cannot be had is an error; without a name whatever is installed is used.
func Embedder(ctx context.Context, c *config.Config, o *Options) (e embed.Embedder, reason string, err error) {
	if o.NoModel {
		return nil, "switched off by --no-model", nil
	}
	if c.Embed.URL != "" {
		e, err = hosted(c.Embed)
	} else {
		e, reason, err = installedModel(ctx, c, o)
	}
	if err != nil || e == nil {
		return nil, reason, err
	}
	e, err = cache.New(e, nil)
	return e, "", err
}

func installedModel(ctx context.Context, c *config.Config, o *Options) (embed.Embedder, string, error) {
	models, err := Models(o.Environ, nil)
	if errors.Is(err, modelstore.ErrNoFolder) && c.Embed.Model == "" { // a bare container: there is no model either
		return nil, "no embedding model is installed, nor is there a folder for one: set " + modelstore.EnvDir, nil
	}
	if err != nil {
		return nil, "", err
	}
	name := c.Embed.Model
	if name == "" {
		name = installed(models)
	}
	local, err := models.Open(ctx, name, nil)
	switch {
	case err == nil:
		return local, "", nil
	case c.Embed.Model != "":
		return nil, "", fmt.Errorf("embed.model: %w", err)
	case errors.Is(err, modelstore.ErrNotInstalled):
		return nil, "no embedding model is installed: run `evoke model pull`", nil
	case errors.Is(err, embed.ErrDamaged):
		return nil, "the installed model is damaged: run `evoke model verify`", nil
	}
	return nil, "", fmt.Errorf("open the embedding model: %w", err)
}

// installed is the first model of the catalogue that is there; "" (the default model) when none is.
func installed(s *modelstore.Store) string {
	for _, m := range s.List() {
		if m.Installed {
			return m.Name()
		}
	}
	return ""
}
