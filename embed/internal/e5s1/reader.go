package e5s1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"evoke/embed/internal/unigram"
)

var errShort = errors.New("file is cut short")

// reader takes a file apart. It never reads outside of it: the first error
// sticks, and everything read after it is zero.
type reader struct {
	all, rest []byte
	err       error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail(errShort)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() int {
	if b := r.bytes(2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads a number that counts things of at least a byte each, so that no
// file makes us reserve more memory than it is long.
func (r *reader) count() int {
	n := r.u32()
	if int64(n) > int64(len(r.all)) {
		r.fail(fmt.Errorf("count of %d in a file of %d bytes", n, len(r.all)))
		return 0
	}
	return int(n)
}

// vocabulary reads the pieces and the normalisation table.
func (r *reader) vocabulary() unigram.Vocabulary {
	n := r.count()
	v := unigram.Vocabulary{Begin: int32(r.u32()), End: int32(r.u32())}
	pad := int32(r.u32())
	v.Unknown = int32(r.u32())
	v.Special = []int32{v.Begin, v.End, v.Unknown, pad}
	size := r.u64()
	if size > uint64(len(r.all)) {
		r.fail(errShort)
		return v
	}
	offsets := r.bytes(4 * (n + 1))
	v.Scores = floats(r.bytes(4 * n))
	v.Blob = string(r.bytes(int(size)))
	for i := 0; i+4 <= len(offsets); i += 4 {
		v.Offsets = append(v.Offsets, binary.LittleEndian.Uint32(offsets[i:]))
	}
	// Masks are pieces of the text "<mask>", wherever a file puts them.
	for i := 0; i+1 < len(v.Offsets); i++ {
		lo, hi := v.Offsets[i], v.Offsets[i+1]
		if lo < hi && int(hi) <= len(v.Blob) && v.Blob[lo:hi] == "<mask>" {
			v.Special = append(v.Special, int32(i))
		}
	}
	v.Normal = r.normalisation()
	return v
}

func (r *reader) normalisation() map[rune]string {
	n, size := r.count(), r.count()
	block := &reader{all: r.all, rest: r.bytes(size), err: r.err}
	normal := make(map[rune]string, min(n, size/5))
	for range n {
		from, k := rune(block.u32()), int(block.u8())
		var to strings.Builder
		for range k {
			c := rune(block.u32())
			if !utf8.ValidRune(c) {
				block.fail(errors.New("normalisation table holds an invalid character"))
			}
			to.WriteRune(c)
		}
		if block.err != nil {
			r.fail(block.err)
			return nil
		}
		normal[from] = to.String()
	}
	return normal
}

// directory reads the names and places of the tensors.
func (r *reader) directory() map[string][]byte {
	n := r.count()
	if n > maxDirs {
		r.fail(fmt.Errorf("%d tensors", n))
	}
	dir := make(map[string][]byte)
	for i := 0; i < n && r.err == nil; i++ {
		name := string(r.bytes(r.u16()))
		r.u8()  // kind, known from the name
		r.u32() // elements, known from the size
		pos, size := r.u64(), r.u64()
		if r.err != nil {
			return nil
		}
		if pos > uint64(len(r.all)) || size > uint64(len(r.all))-pos {
			r.fail(fmt.Errorf("tensor %q lies outside the file", name))
			return nil
		}
		dir[name] = r.all[pos : pos+size]
	}
	return dir
}
