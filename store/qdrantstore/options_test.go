package qdrantstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
)

func TestOptions(t *testing.T) {
	for url, want := range map[string]settings{
		"qdrant://host":              {host: "host", port: 6334},
		"http://10.0.0.1:7000/":      {host: "10.0.0.1", port: 7000},
		"https://q.example.org/mine": {host: "q.example.org", port: 6334, tls: true, Options: Options{Collection: "mine"}},
		"qdrants://[::1]:6335":       {host: "::1", port: 6335, tls: true},
	} {
		s, err := (&Options{URL: url}).check()
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		name := want.Collection
		if name == "" {
			name = "evoke"
		}
		if s.host != want.host || s.port != want.port || s.tls != want.tls || s.Collection != name {
			t.Errorf("%s: %s %d %t %s", url, s.host, s.port, s.tls, s.Collection)
		}
	}
	for name, o := range map[string]*Options{
		"nothing": nil, "no address": {}, "scheme": {URL: "ftp://host"}, "port": {URL: "qdrant://host:99999"}, "no host": {URL: "qdrant://:6334"},
		"password": {URL: "qdrant://user:hush@host"}, "query": {URL: "qdrant://host?x=1"}, "garbage": {URL: "://hush%zz"},
		"path": {URL: "qdrant://host/a/b"}, "two names": {URL: "qdrant://host/a", Collection: "b"}, "name": {URL: "qdrant://host", Collection: "a b"},
		"timeout": {URL: "qdrant://host", Timeout: time.Millisecond}, "pool": {URL: "qdrant://host", Pool: 65},
	} {
		_, err := Open(context.Background(), o)
		wantErr(t, name, err, store.ErrInvalid)
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error shows the address: %v", name, err)
		}
	}
}

// TestParseScope: every key is read back as the scope that made it.
func TestParseScope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := store.Scope{Tenant: rapid.String().Draw(t, "tenant"), User: rapid.String().Draw(t, "user"), Agent: rapid.String().Draw(t, "agent")}
		got, err := parseScope(sc.Key())
		if err != nil || got != sc {
			t.Fatalf("%+v came back as %+v, %v", sc, got, err)
		}
	})
	for _, bad := range []string{"", "x", "1:a", "1:a0:", "9:a0:0:", "1:a0:0:x", "-1:0:0:", "01:a0:0:"} {
		if _, err := parseScope(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestMetaEntry: two values have one entry just when they are equal.
func TestMetaEntry(t *testing.T) {
	value := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "1", "true", "1:a", strings.Repeat("x", 200), "\xff", "\xfe"}), store.String),
		rapid.Map(rapid.SampledFrom([]float64{0, 1, -1, 1e300, 0.1}), store.Number), rapid.Map(rapid.Bool(), store.Bool),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "1:a", "b"}), 0, 3), func(l []string) store.Value { return store.List(l...) }))
	keys := rapid.SampledFrom([]string{"k", "k:", "1:k", "ks", "", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		k1, k2, v1, v2 := keys.Draw(t, "k1"), keys.Draw(t, "k2"), value.Draw(t, "v1"), value.Draw(t, "v2")
		if same := metaEntry(k1, v1) == metaEntry(k2, v2); same != (k1 == k2 && v1.Equal(v2)) {
			t.Fatalf("%q %v and %q %v: entries equal %t", k1, v1, k2, v2, same)
		}
	})
}

// TestIDHead orders as ids do.
func TestIDHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if a < b && idHead(a) > idHead(b) || float64(idHead(a)) != float64(int64(float64(idHead(a)))) {
			t.Fatalf("%q and %q: %d, %d", a, b, idHead(a), idHead(b))
		}
	})
}
