package lifecycle

import (
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
)

// A receipt's file holds what was signed, once, and nothing beside it.
func TestReceiptIsReadStrictly(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &Marks{sign: key}
	signed, err := m.Sign(&Receipt{Operation: "op", Tenant: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(signed)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if got, err := verify(text, m.PublicKey()); err != nil || got.Operation != "op" {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, changed := range map[string]string{
		"another member":  strings.Replace(text, `{`, `{"note":"all of it is gone",`, 1),
		"two receipts":    strings.Replace(text, `{`, `{"receipt":{"operation":"another"},`, 1),
		"two, by case":    strings.Replace(text, `{`, `{"Receipt":{"operation":"another"},`, 1),
		"two keys":        strings.Replace(text, `{`, `{"key":"",`, 1),
		"more behind":     text + `{}`,
		"a list":          "[" + text + "]",
		"another receipt": strings.Replace(text, `"op"`, `"of"`, 1),
	} {
		if got, err := verify(changed, m.PublicKey()); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func verify(text, key string) (Receipt, error) {
	var s SignedReceipt
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Receipt{}, err
	}
	return s.Verify(key)
}
