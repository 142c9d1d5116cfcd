package lifecycle

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"evoke/store"
)

// Marks are an installation's secrets of erasure: the key of the hashes by which what was erased is known when it comes
// back, and the one that signs receipts.
type Marks struct {
	mac  []byte
	sign ed25519.PrivateKey
}

// marksJSON is how they are kept.
type marksJSON struct {
	MAC  []byte `json:"mac"`
	Seed []byte `json:"seed"`
}

// NewMarks makes new ones.
func NewMarks() *Marks {
	b := make([]byte, 32+ed25519.SeedSize)
	_, _ = rand.Read(b) // it never fails
	return &Marks{mac: b[:32], sign: ed25519.NewKeyFromSeed(b[32:])}
}

// MarshalJSON writes the secrets.
func (m *Marks) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(marksJSON{m.mac, m.sign.Seed()})
	if err != nil {
		return nil, fmt.Errorf("encode the keys of erasure: %w", err)
	}
	return b, nil
}

// UnmarshalJSON reads them.
func (m *Marks) UnmarshalJSON(b []byte) error {
	var j marksJSON
	if err := json.Unmarshal(b, &j); err != nil || len(j.MAC) != 32 || len(j.Seed) != ed25519.SeedSize {
		return fmt.Errorf("%w: the keys of erasure", store.ErrCorrupt)
	}
	m.mac, m.sign = j.MAC, ed25519.NewKeyFromSeed(j.Seed)
	return nil
}

// hash is the first 128 bits of the keyed hash of parts.
func (m *Marks) hash(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString(m.sum(parts...)[:16])
}

func (m *Marks) sum(parts ...string) []byte {
	h := hmac.New(sha256.New, m.mac)
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// Pseudonym is what stands in place of the name of something erased: who has the name can make it again, and nobody can go
// back from it.
func (m *Marks) Pseudonym(sc store.Scope, name string) string {
	return store.ErasedPrefix + m.hash("name", sc.Key(), name)
}

// Item marks an item by its id and text: the same id with another text is something new.
func (m *Marks) Item(sc store.Scope, it *store.Item) string {
	return m.hash("item", sc.Key(), it.ID, textOf(it))
}

// Text marks a statement, whatever its id and spelling.
func (m *Marks) Text(sc store.Scope, it *store.Item) string {
	return m.hash("text", sc.Key(), textOf(it))
}

// Turn marks a turn by its place, time and text.
func (m *Marks) Turn(sc store.Scope, it *store.Item) string {
	return m.hash("turn", sc.Key(), it.Turn.Thread, it.Turn.Role, strconv.FormatInt(it.ValidFrom.UnixMicro(), 10), textOf(it))
}

// Fact marks what was distilled from a turn.
func (m *Marks) Fact(sc store.Scope, kind store.Kind, content, turn string) string {
	return m.hash("fact", sc.Key(), turn, store.ContentKey(kind, content))
}

// Key marks an idempotency key.
func (m *Marks) Key(sc store.Scope, key string) string { return m.hash("key", sc.Key(), key) }

// Of returns all marks of an item that is erased.
func (m *Marks) Of(sc store.Scope, it *store.Item) []string {
	marks := []string{m.Item(sc, it), m.Text(sc, it)}
	if it.Turn.Role != "" {
		marks = append(marks, m.Turn(sc, it))
	}
	if it.Provenance.Extractor != "" && !it.IsProfile() {
		for _, turn := range it.Provenance.Turns {
			marks = append(marks, m.Fact(sc, it.Kind, it.Content, turn))
		}
	}
	return marks
}

// textOf does not go by ContentKey of the item: what is imported may bring a wrong one.
func textOf(it *store.Item) string { return store.ContentKey(it.Kind, it.Content) }
