package config

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"os"
	"time"
)

// WatchEvery is how often the files are looked at for a change. They are compared by content: editors, mounts and
// orchestrators replace files in ways that no notification tells reliably.
const WatchEvery = 2 * time.Second

// live are the settings of the whole server that hold without a restart; those of tenants and the sections all do.
var live = map[string]bool{"server.metrics_public": true, "log.level": true}

// NeedRestart names the settings in which next differs and which a running server takes at its start only, in the order
// of the reference.
func (c *Config) NeedRestart(next *Config) []string {
	var names []string
	for _, k := range keys {
		if !k.tenant && !live[k.name] && c.values[k.name] != next.values[k.name] {
			names = append(names, k.name)
		}
	}
	return names
}

// Watch reads the settings again whenever the file, or a file that holds a secret, changes its content, and whenever
// now is sent to, and hands them to apply. Settings that cannot be read, or that apply refuses, are logged and left
// aside: what is in force stays. It returns when ctx ends.
func (c *Config) Watch(ctx context.Context, o Options, every time.Duration, now <-chan os.Signal, log *slog.Logger, apply func(*Config) error) {
	t := time.NewTicker(every)
	defer t.Stop()
	seen := c.contents
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-now:
			asked = true
		case <-t.C:
		}
		state := look(seen)
		if !asked && maps.Equal(state, seen) {
			continue
		}
		seen = state
		next, err := Load(o)
		if err == nil {
			seen = next.contents
			err = apply(next)
		}
		if err != nil {
			log.ErrorContext(ctx, "the new settings are not taken; those in force stay", "error", err)
		}
	}
}

// contents are the files and folders that settings were read from, each with the hash of what was read, of a folder of its
// names; the zero hash is one that cannot be read.
type contents map[string][sha256.Size]byte

// look reads the same files again.
func look(at contents) contents {
	now := make(contents, len(at))
	for name := range at {
		now[name] = [sha256.Size]byte{}
		if b, err := readLimited(name); err == nil {
			now[name] = sha256.Sum256(b)
		} else if names, err := list(name); err == nil {
			now[name] = sum(names)
		}
	}
	return now
}
