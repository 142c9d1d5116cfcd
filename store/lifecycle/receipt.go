package lifecycle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// Receipt tells what an erasure removed, where it was looked for afterwards, and what remains elsewhere and for how long. It
// holds names of users and agents, counts and hashes, never content.
type Receipt struct {
	Version    int            `json:"version"` // 1
	Operation  string         `json:"operation"`
	Tenant     string         `json:"tenant"`
	Asked      Asked          `json:"asked"`
	By         string         `json:"by,omitempty"` // name of the credential that asked for it
	AskedAt    time.Time      `json:"asked_at"`
	DoneAt     time.Time      `json:"done_at"`
	Resumed    int            `json:"resumed"` // how often it was cut off and went on
	Removed    map[string]int `json:"removed"` // by place
	Tombstones int            `json:"tombstones"`
	Probes     []Probe        `json:"probes"`
	Residual   []Residual     `json:"residual"`
	Clean      bool           `json:"clean"` // no probe found anything
}

// Asked is what an erasure was asked for. A thread or a filter is not repeated: it may tell what was erased.
type Asked struct {
	User   string `json:"user,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Tenant bool   `json:"tenant,omitempty"`
	Thread string `json:"thread,omitempty"`   // its keyed hash
	Narrow bool   `json:"filtered,omitempty"` // a filter narrowed it
}

// Probe is a place that was searched for what was erased.
type Probe struct {
	Place  string `json:"place"`
	Looked int64  `json:"looked"`           // ids asked for, queries made, bytes read
	Found  int    `json:"found"`            // of what was erased
	Shared int    `json:"shared,omitempty"` // passages that are in what is kept, too, and so tell nothing
	Note   string `json:"note,omitempty"`
}

// Residual is a place that an erasure does not reach.
type Residual struct {
	Place string `json:"place"`
	What  string `json:"what"`
	Until string `json:"until"`
}

// SignedReceipt is a receipt with the signature of the installation that made it.
type SignedReceipt struct {
	Receipt   json.RawMessage `json:"receipt"`
	Key       string          `json:"key"`       // ed25519, base64
	Signature string          `json:"signature"` // of "evoke-receipt-v1\n" and the receipt as JSON without blanks, base64
}

const receiptDomain = "evoke-receipt-v1\n"

// Sign makes a receipt one that can be verified.
func (m *Marks) Sign(r *Receipt) (SignedReceipt, error) {
	r.Version = 1
	r.Clean = !slices.ContainsFunc(r.Probes, func(p Probe) bool { return p.Found > 0 })
	text, err := json.Marshal(r)
	if err != nil {
		return SignedReceipt{}, fmt.Errorf("encode receipt: %w", err)
	}
	return SignedReceipt{
		Receipt: text, Key: m.PublicKey(),
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(m.sign, append([]byte(receiptDomain), text...))),
	}, nil
}

// PublicKey is what receipts of this installation are verified with.
func (m *Marks) PublicKey() string {
	pub, _ := m.sign.Public().(ed25519.PublicKey)
	return base64.StdEncoding.EncodeToString(pub)
}

// UnmarshalJSON reads a signed receipt strictly: no other member than its three, and none twice, so that nothing stands beside
// what was signed. Whether one is missing shows when it is verified.
func (s *SignedReceipt) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return store.Invalid("receipt", "an object", "")
	}
	var read SignedReceipt
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return store.Invalid("receipt", "JSON", "")
		}
		name, _ := t.(string)
		if seen[name] {
			return store.Invalid("receipt", "without a member that stands twice", "")
		}
		seen[name] = true
		switch name {
		case "receipt":
			err = d.Decode(&read.Receipt)
		case "key":
			err = d.Decode(&read.Key)
		case "signature":
			err = d.Decode(&read.Signature)
		default:
			return store.Invalid("receipt", "of the members receipt, key and signature only", "")
		}
		if err != nil {
			return store.Invalid("receipt."+name, "of its type", "")
		}
	}
	*s = read
	return nil
}

// Verify checks a receipt's signature against a public key, "" for the one in it, and returns the receipt. ErrInvalid when it
// was changed, or another installation made it.
func (s *SignedReceipt) Verify(key string) (Receipt, error) {
	var r Receipt
	if key != "" && key != s.Key {
		return r, store.Invalid("receipt", "one that was signed by this installation", "another key's")
	}
	pub, err := base64.StdEncoding.DecodeString(s.Key)
	if err != nil || len(pub) != ed25519.PublicKeySize {
		return r, store.Invalid("receipt.key", "a public key in base64", "")
	}
	sig, err := base64.StdEncoding.DecodeString(s.Signature)
	if err != nil {
		return r, store.Invalid("receipt.signature", "base64", "")
	}
	var text bytes.Buffer
	text.WriteString(receiptDomain)
	if err := json.Compact(&text, s.Receipt); err != nil {
		return r, store.Invalid("receipt", "JSON", "")
	}
	if !ed25519.Verify(pub, text.Bytes(), sig) {
		return r, store.Invalid("receipt", "as it was signed", "a changed one")
	}
	if err := json.Unmarshal(s.Receipt, &r); err != nil {
		return r, store.Invalid("receipt", "one of this program", "")
	}
	return r, nil
}
