package qdrantstore

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// Options say where the server is and how to talk to it. The zero value of a field means the default.
type Options struct {
	// URL of the server's gRPC port: qdrant://host:6334 or http://… in clear, qdrants://… or https://… over TLS. A path is
	// the collection. The port may be left out. Required.
	URL        string
	APIKey     string
	Collection string        // name of the alias; default "evoke"; letters, digits, "_" and "-", at most 100
	TLS        *tls.Config   // for https; default: system roots, TLS 1.3 or newer
	Timeout    time.Duration // of one call, repetitions included; default 10 s, 100 ms to 10 min
	Pool       int           // connections; default 3, 1–64
	Limits     store.Limits  // what one item may hold
	Lexical    scoring.LexicalParams
	Logger     *slog.Logger // default: discards
}

const (
	defaultPort = 6334
	maxPool     = 64
)

var collectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// settings are checked options.
type settings struct {
	Options
	host string
	port int
	tls  bool
}

func (o *Options) check() (*settings, error) {
	if o == nil {
		o = &Options{}
	}
	s := &settings{Options: *o}
	if err := s.address(); err != nil {
		return nil, err
	}
	if s.Collection == "" {
		s.Collection = "evoke"
	}
	if !collectionName.MatchString(s.Collection) {
		return nil, store.Invalid("collection", `1 to 100 letters, digits, "_" and "-"`, "")
	}
	if s.Timeout == 0 {
		s.Timeout = 10 * time.Second
	}
	if s.Timeout < 100*time.Millisecond || s.Timeout > 10*time.Minute {
		return nil, store.Invalid("timeout", "from 100ms to 10m", s.Timeout.String())
	}
	if s.Pool == 0 {
		s.Pool = 3
	}
	if s.Pool < 1 || s.Pool > maxPool {
		return nil, store.Invalid("pool", fmt.Sprintf("from 1 to %d", maxPool), fmt.Sprint(s.Pool))
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	s.Limits = s.Limits.WithDefaults()
	return s, nil
}

// address takes the URL apart. Its text may hold a secret, so no error repeats it.
func (s *settings) address() error {
	const want = "an address like qdrant://host:6334 or https://host:6334"
	u, err := url.Parse(s.URL)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return store.Invalid("url", want, "")
	}
	if u.User != nil {
		return store.Invalid("url", "without user and password: give the key as api_key", "")
	}
	switch u.Scheme {
	case "qdrant", "http":
	case "qdrants", "https":
		s.tls = true
	default:
		return store.Invalid("url", want, fmt.Sprintf("scheme %q", u.Scheme))
	}
	s.host, s.port = u.Hostname(), defaultPort
	if p := u.Port(); p != "" {
		if s.port, err = strconv.Atoi(p); err != nil || s.port < 1 || s.port > 65535 {
			return store.Invalid("url", want, "")
		}
	}
	if name := trimSlash(u.Path); name != "" {
		if s.Collection != "" && s.Collection != name {
			return store.Invalid("url", "of the same collection as the option, or without one", "")
		}
		s.Collection = name
	}
	return nil
}

func trimSlash(path string) string {
	if path != "" && path[0] == '/' {
		path = path[1:]
	}
	if n := len(path); n > 0 && path[n-1] == '/' {
		path = path[:n-1]
	}
	return path
}
