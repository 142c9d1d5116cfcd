package lifecycle

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"evoke/store"
)

// Samples are keyed hashes of short passages of erased texts and names, by which they are found where they should not be.
// They can be written down: without the key nobody can tell what a passage said.
type Samples struct {
	base   uint64      // of the rolling hash
	drops  [256]uint64 // what each byte is worth when it leaves the passage
	hashes []uint64
	seen   uint64 // passages that were offered
	known  map[uint64]bool
	filter [1 << 10]uint64 // of the first 16 bits of the hashes
}

const (
	sampleBytes = 12   // of a passage
	maxSamples  = 1024 // of an erasure
)

// NewSamples returns none yet, for an operation, and takes up those that Encode wrote down.
func (m *Marks) NewSamples(operation, encoded string) (*Samples, error) {
	sum := m.sum("samples", operation)
	s := &Samples{base: binary.LittleEndian.Uint64(sum) | 1, known: map[uint64]bool{}}
	worth := uint64(1)
	for range sampleBytes {
		worth *= s.base
	}
	for b := range s.drops {
		s.drops[b] = (uint64(b) + 1) * worth
	}
	b, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(b)%8 != 0 {
		return nil, fmt.Errorf("%w: the samples of an erasure", store.ErrCorrupt)
	}
	for i := 0; i < len(b); i += 8 {
		if n := binary.LittleEndian.Uint64(b[i:]); i == 0 {
			s.seen = n
		} else {
			s.put(len(s.hashes), n)
		}
	}
	return s, nil
}

// Encode writes the samples down.
func (s *Samples) Encode() string {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+8*len(s.hashes)), s.seen)
	for _, h := range s.hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return base64.RawStdEncoding.EncodeToString(b)
}

// Len is how many passages there are.
func (s *Samples) Len() int { return len(s.hashes) }

// AddItem takes passages of an item's content, names and metadata. Those of a text shorter than a passage are left out.
func (s *Samples) AddItem(it *store.Item) {
	s.add(it.Content, len(it.Content)/3)
	s.add(it.Content, 2*len(it.Content)/3)
	for _, name := range [...]string{it.ID, it.Turn.Thread, it.Turn.Speaker, it.Provenance.Quote} {
		s.add(name, len(name)-sampleBytes) // ids differ in their ends
	}
	for k, v := range it.Metadata {
		s.add(k, 0)
		for _, text := range append(v.Strings(), v.Str()) {
			s.add(text, 0)
		}
	}
}

// add takes the first passage from a place on that stands in JSON as it does in the text and is no mere repetition.
func (s *Samples) add(text string, from int) {
	for i := max(0, min(from, len(text)-sampleBytes)); i+sampleBytes <= len(text); i++ {
		if p := []byte(text[i : i+sampleBytes]); telling(p) {
			h := uint64(0)
			for _, b := range p {
				h = s.push(h, b)
			}
			s.offer(h)
			return
		}
	}
}

func telling(p []byte) bool {
	seen := map[byte]bool{}
	for _, b := range p {
		if b < ' ' || bytes.IndexByte([]byte(`"\<>&`), b) >= 0 {
			return false
		}
		seen[b] = true
	}
	return len(seen) >= 5
}

// offer takes a passage or, when there are enough, perhaps in place of another, so that each of all has the same chance.
func (s *Samples) offer(h uint64) {
	if s.known[h] {
		return
	}
	s.seen++
	if len(s.hashes) < maxSamples {
		s.put(len(s.hashes), h)
	} else if i := (h ^ s.seen*0x9e3779b97f4a7c15) >> 7 % s.seen; i < maxSamples { // the hash is as good as random
		delete(s.known, s.hashes[i])
		s.put(int(i), h)
	}
}

func (s *Samples) put(i int, h uint64) {
	if i == len(s.hashes) {
		s.hashes = append(s.hashes, h)
	}
	s.hashes[i], s.known[h] = h, true
	s.filter[h>>54] |= 1 << (h >> 48 & 63)
}

func (s *Samples) push(h uint64, b byte) uint64 { return h*s.base + uint64(b) + 1 }

// Found is what a search came upon.
type Found map[uint64]bool

// search is the state of the rolling hash over a text.
type search struct {
	*Samples
	found Found
	ring  [sampleBytes]byte // the last bytes
	h     uint64
	total int64
}

func (x *search) feed(text []byte) {
	at, h := int(x.total%sampleBytes), x.h
	for i, b := range text {
		h = h*x.base + uint64(b) + 1
		n := x.total + int64(i) + 1
		if n > sampleBytes {
			h -= x.drops[x.ring[at]]
		}
		x.ring[at] = b
		if at++; at == sampleBytes {
			at = 0
		}
		if x.filter[h>>54]>>(h>>48&63)&1 == 1 && n >= sampleBytes && x.known[h] {
			x.found[h] = true
		}
	}
	x.total, x.h = x.total+int64(len(text)), h
}

// Search reads a text to its end, adds the passages that are in it to found, and returns how long it is.
func (s *Samples) Search(r io.Reader, found Found) (int64, error) {
	x := search{Samples: s, found: found}
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		x.feed(buf[:n])
		if errors.Is(err, io.EOF) {
			return x.total, nil
		}
		if err != nil {
			return x.total, fmt.Errorf("search for samples: %w", err)
		}
	}
}

// SearchText is Search of a text in memory.
func (s *Samples) SearchText(text []byte, found Found) {
	x := search{Samples: s, found: found}
	x.feed(text)
}

// Without returns how many of the passages found are not among others.
func (f Found) Without(others Found) int {
	n := 0
	for h := range f {
		if !others[h] {
			n++
		}
	}
	return n
}
