package bert

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Table is an embedding table: one row of Width values per index. Like a
// Matrix it stays as narrow as its file holds it.
//
// Exactly one of f32, u8 and q4 is set.
type Table struct {
	Rows, Width int
	f32         []float32
	u8          []byte
	q4          []byte
	// A value of u8 is (v - zero) * scale, v read as int8 if signed.
	scale  float32
	zero   int
	signed bool
}

// NewTable holds rows of 32-bit values.
func NewTable(width int, v []float32) (Table, error) {
	if width <= 0 || len(v) == 0 || len(v)%width != 0 {
		return Table{}, fmt.Errorf("table of width %d has %d values", width, len(v))
	}
	return Table{Rows: len(v) / width, Width: width, f32: v}, nil
}

// NewTableInt8 holds rows of 8-bit values of one scale and zero point; signed
// says that a byte is an int8.
func NewTableInt8(width int, v []byte, scale float32, zero int, signed bool) (Table, error) {
	if width <= 0 || len(v) == 0 || len(v)%width != 0 {
		return Table{}, fmt.Errorf("table of width %d has %d values", width, len(v))
	}
	return Table{Rows: len(v) / width, Width: width, u8: v, scale: scale, zero: zero, signed: signed}, nil
}

// NewTableQ4 holds rows of 4-bit blocks of 32.
func NewTableQ4(width int, v []byte) (Table, error) {
	if width <= 0 || width%groupSize != 0 || len(v) == 0 || len(v)%(width/groupSize*q4Block) != 0 {
		return Table{}, fmt.Errorf("table of width %d has %d bytes of 4-bit blocks", width, len(v))
	}
	return Table{Rows: len(v) / (width / groupSize * q4Block), Width: width, q4: v}, nil
}

// Row writes row i to dst, which has Width elements.
func (t *Table) Row(dst []float32, i int) {
	switch {
	case t.f32 != nil:
		copy(dst, t.f32[i*t.Width:])
	case t.u8 != nil:
		for j, b := range t.u8[i*t.Width:][:t.Width] {
			v := int(b)
			if t.signed {
				v = int(int8(b))
			}
			dst[j] = float32(v-t.zero) * t.scale
		}
	default:
		size := t.Width / groupSize * q4Block
		unpackQ4(dst, t.q4[i*size:][:size])
	}
}

// unpackQ4 widens 4-bit blocks.
func unpackQ4(dst []float32, blocks []byte) {
	for i := range len(blocks) / q4Block {
		block, out := blocks[i*q4Block:][:q4Block], dst[i*groupSize:][:groupSize]
		scale := Half(binary.LittleEndian.Uint16(block))
		for j, b := range block[2:] {
			out[j] = float32(int(b&15)-8) * scale
			out[j+groupSize/2] = float32(int(b>>4)-8) * scale
		}
	}
}

// Half is the value of a half-precision number.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15), uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0:
		v := float32(frac) / (1 << 24)
		if sign == 1 {
			v = -v
		}
		return v
	case 31:
		return math.Float32frombits(sign<<31 | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign<<31 | (exp+127-15)<<23 | frac<<13)
}
