package scoring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// docFormat is the version of the encoding; the analyzer's version follows it.
const docFormat = 2 // 2: ranges of statements by the grammar of questions

// Flags of the encoding.
const (
	flagTimed     = 1 << iota
	flagShortHead // the head is the only chunk and written once
)

// Errors of [UnmarshalDoc].
var (
	// ErrDocVersion: written by another format or analyzer; analyse the text anew.
	ErrDocVersion = errors.New("scoring: analysed item of another version")
	// ErrDocCorrupt: the bytes are not an analysed item; analyse the text anew.
	ErrDocCorrupt = errors.New("scoring: corrupt analysed item")
)

// MarshalBinary encodes d: some 25 bytes, and five a term (the head is written only where it differs from the text). It never fails on a Doc made by NewDoc; unsorted or repeated terms
// and more than MaxChunks chunks are refused.
func (d Doc) MarshalBinary() ([]byte, error) {
	if len(d.Chunks) > MaxChunks {
		return nil, fmt.Errorf("scoring: %d chunks in an analysed item; the limit is %d", len(d.Chunks), MaxChunks)
	}
	n := len(d.Date) + len(d.Head)
	for _, c := range d.Chunks {
		n += len(c)
	}
	out := make([]byte, 0, 40+6*n+6*len(d.Ranges))
	out = append(out, docFormat, AnalyzerVersion)
	var flags byte
	if d.Timed {
		flags |= flagTimed
	}
	lists := append([][]TermFreq{d.Date, d.Head}, d.Chunks...)
	if len(d.Chunks) == 1 && slices.Equal(d.Head, d.Chunks[0]) {
		flags |= flagShortHead
		lists[1] = nil
	}
	out = append(out, flags)
	out = binary.AppendUvarint(out, uint64(max(d.Words, 0)))
	out = binary.LittleEndian.AppendUint64(out, d.Print)
	out = binary.LittleEndian.AppendUint32(out, d.Guard)
	out = binary.AppendUvarint(out, uint64(len(d.Ranges)))
	for _, r := range d.Ranges {
		out = binary.AppendVarint(out, int64(r.From))
		out = binary.AppendVarint(out, int64(r.To))
	}
	out = binary.AppendUvarint(out, uint64(len(d.Chunks)))
	for _, fs := range lists {
		for i := 1; i < len(fs); i++ {
			if fs[i].Term <= fs[i-1].Term {
				return nil, errors.New("scoring: terms of an analysed item must be sorted and unique")
			}
		}
		out = binary.AppendUvarint(out, uint64(len(fs)))
		for _, f := range fs {
			out = binary.LittleEndian.AppendUint32(out, uint32(f.Term))
		}
		for _, f := range fs {
			out = binary.AppendUvarint(out, uint64(f.N))
		}
	}
	return out, nil
}

// UnmarshalDoc decodes what [Doc.MarshalBinary] wrote. It returns [ErrDocVersion] for another version and
// [ErrDocCorrupt] for anything else it cannot read; memory stays proportional to the input.
func UnmarshalDoc(data []byte) (Doc, error) {
	if len(data) < 2 {
		return Doc{}, ErrDocCorrupt
	}
	if data[0] != docFormat || data[1] != AnalyzerVersion {
		return Doc{}, ErrDocVersion
	}
	r := reader{data: data[2:]}
	flags := r.bytes(1)
	words := r.uvarint(1 << 31)
	print, grd := r.bytes(8), r.bytes(4)
	if r.bad || flags[0] > flagTimed|flagShortHead {
		return Doc{}, ErrDocCorrupt
	}
	d := Doc{
		Timed: flags[0]&flagTimed != 0,
		Words: int(words),
		Print: binary.LittleEndian.Uint64(print),
		Guard: binary.LittleEndian.Uint32(grd),
	}
	for range r.uvarint(maxRanges) {
		from, to := r.day(), r.day()
		if r.bad || from > to {
			return Doc{}, ErrDocCorrupt
		}
		d.Ranges = append(d.Ranges, DateRange{from, to})
	}
	chunks := r.uvarint(MaxChunks)
	d.Date, d.Head = r.freqs(), r.freqs()
	for range chunks {
		d.Chunks = append(d.Chunks, r.freqs())
	}
	if flags[0]&flagShortHead != 0 {
		if len(d.Chunks) != 1 || d.Head != nil {
			return Doc{}, ErrDocCorrupt
		}
		d.Head = d.Chunks[0]
	}
	if r.bad || len(r.data) != 0 {
		return Doc{}, ErrDocCorrupt
	}
	return d, nil
}

// reader consumes bytes and remembers a fault; after one it returns zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || len(r.data) < n {
		r.bad = true
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// uvarint reads a number up to limit.
func (r *reader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.data)
	if r.bad || n <= 0 || v > limit {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) day() Day {
	v, n := binary.Varint(r.data)
	if r.bad || n <= 0 || v < int64(minDay) || v > int64(maxDay) {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return Day(v)
}

// freqs reads a list of terms: sorted, unique, each occurring at least once.
func (r *reader) freqs() []TermFreq {
	n := r.uvarint(uint64(len(r.data) / 5))
	if r.bad || n == 0 {
		return nil
	}
	terms := r.bytes(int(n) * 4)
	if r.bad {
		return nil
	}
	fs := make([]TermFreq, n)
	for i := range fs {
		fs[i].Term = Term(binary.LittleEndian.Uint32(terms[i*4:]))
		if i > 0 && fs[i].Term <= fs[i-1].Term {
			r.bad = true
			return nil
		}
	}
	for i := range fs {
		v := r.uvarint(65535)
		if v == 0 {
			r.bad = true
			return nil
		}
		fs[i].N = uint16(v)
	}
	return fs
}
