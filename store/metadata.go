package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Metadata is a flat set of caller-defined keys. Values are strings, finite numbers, booleans or lists of strings.
type Metadata map[string]Value

// ValueKind tells what a Value holds.
type ValueKind uint8

// The kinds of value.
const (
	StringValue ValueKind = iota
	NumberValue
	BoolValue
	ListValue
)

// Value is one metadata value. The zero Value is the empty string.
type Value struct {
	kind ValueKind
	str  string
	num  float64
	list []string
}

// String makes a string value.
func String(s string) Value { return Value{kind: StringValue, str: s} }

// Number makes a number value. NaN and infinities are refused by Validate.
func Number(f float64) Value { return Value{kind: NumberValue, num: f} }

// Bool makes a boolean value.
func Bool(b bool) Value {
	v := Value{kind: BoolValue}
	if b {
		v.num = 1
	}
	return v
}

// List makes a list-of-strings value.
func List(s ...string) Value { return Value{kind: ListValue, list: slices.Clone(s)} }

// Kind tells what the value holds.
func (v Value) Kind() ValueKind { return v.kind }

// Str returns the string of a StringValue, else "".
func (v Value) Str() string { return v.str }

// Num returns the number of a NumberValue, else 0.
func (v Value) Num() float64 {
	if v.kind != NumberValue {
		return 0
	}
	return v.num
}

// IsTrue reports whether a BoolValue is true.
func (v Value) IsTrue() bool { return v.kind == BoolValue && v.num == 1 }

// Strings returns the members of a ListValue, the caller's to change, else nil.
func (v Value) Strings() []string { return slices.Clone(v.list) }

// Equal reports whether two values are of the same kind and equal.
func (v Value) Equal(o Value) bool {
	return v.kind == o.kind && v.str == o.str && v.num == o.num && slices.Equal(v.list, o.list)
}

// Has reports whether v equals o or, for a list, has o as a member.
func (v Value) Has(o Value) bool {
	if v.kind == ListValue && o.kind == StringValue {
		return slices.Contains(v.list, o.str)
	}
	return v.Equal(o)
}

// MarshalJSON writes the plain JSON value.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case NumberValue:
		return json.Marshal(v.num)
	case BoolValue:
		return json.Marshal(v.num == 1)
	case ListValue:
		if v.list == nil {
			return []byte("[]"), nil
		}
		return json.Marshal(v.list)
	default:
		return json.Marshal(v.str)
	}
}

// UnmarshalJSON reads a string, number, boolean or list of strings (numbers in a list become their text).
func (v *Value) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return Invalid("metadata value", "a string, number, boolean or list of strings", "nothing")
	}
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*v = String(s)
	case 't', 'f':
		*v = Bool(b[0] == 't')
	case '[':
		var raw []json.RawMessage
		if err := json.Unmarshal(b, &raw); err != nil {
			return err
		}
		l := make([]string, len(raw))
		for i, r := range raw {
			r = bytes.TrimSpace(r)
			switch {
			case len(r) > 0 && r[0] == '"':
				if err := json.Unmarshal(r, &l[i]); err != nil {
					return err
				}
			case len(r) > 0 && strings.IndexByte("-0123456789tf", r[0]) >= 0:
				l[i] = string(r)
			default:
				return Invalid("metadata value", "a list of strings (nested lists, objects and null are not kept: flatten them)", "")
			}
		}
		*v = Value{kind: ListValue, list: l}
	case '{', 'n':
		return Invalid("metadata value", "a string, number, boolean or list of strings (objects and null are not kept: flatten or leave out)", "")
	default:
		var f float64
		if err := json.Unmarshal(b, &f); err != nil {
			return err
		}
		if rounded(string(b), f) {
			return Invalid("metadata value", "a number that is kept exactly: a whole one of at most 2^53 (9007199254740992); give a longer one as a string", "")
		}
		*v = Number(f)
	}
	return nil
}

func (v Value) validate(field string) error {
	if v.kind == NumberValue && (math.IsNaN(v.num) || math.IsInf(v.num, 0)) {
		return Invalid(field, "a finite number", "")
	}
	return nil
}

// Clone copies the map.
func (m Metadata) Clone() Metadata {
	if m == nil {
		return nil
	}
	c := make(Metadata, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// repaired returns m with valid UTF-8 in its values: m itself when nothing is broken, else a copy.
func (m Metadata) repaired() Metadata {
	broken := func(v Value) bool {
		return !utf8.ValidString(v.str) || slices.ContainsFunc(v.list, func(s string) bool { return !utf8.ValidString(s) })
	}
	c, copied := m, false
	for k, v := range m {
		if !broken(v) {
			continue
		}
		if !copied {
			c, copied = m.Clone(), true
		}
		v.str = repairUTF8(v.str)
		v.list = slices.Clone(v.list)
		for i := range v.list {
			v.list[i] = repairUTF8(v.list[i])
		}
		c[k] = v
	}
	return c
}

// validate checks count, key length, reserved names and values against the limits.
func (m Metadata) validate(l Limits) error {
	if len(m) > l.MetadataKeys {
		return Invalid("metadata", fmt.Sprintf("at most %d keys", l.MetadataKeys), fmt.Sprint(len(m)))
	}
	size := 0
	for k, v := range m {
		if k == "" || len(k) > 128 {
			return Invalid("metadata key", "1 to 128 bytes long", fmt.Sprint(len(k)))
		}
		if !utf8.ValidString(k) {
			return Invalid("metadata key", "valid UTF-8", "")
		}
		if strings.HasPrefix(k, "evoke_") || strings.HasPrefix(k, "evoke.") {
			return Invalid("metadata key", `a name that does not begin with "evoke_" or "evoke." (reserved: rename it)`, "")
		}
		if err := v.validate("metadata value"); err != nil {
			return err
		}
		size += len(k) + len(v.str) + 8
		for _, s := range v.list {
			size += len(s)
		}
	}
	if size > l.MetadataBytes {
		return Invalid("metadata", fmt.Sprintf("at most %d bytes in all", l.MetadataBytes), fmt.Sprint(size))
	}
	return nil
}

// rounded reports whether a whole number was read as another one.
func rounded(text string, f float64) bool {
	if math.Abs(f) < 1<<53 || strings.ContainsAny(text, ".eE") {
		return false
	}
	exact, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return false
	}
	read, _ := big.NewFloat(f).Int(nil)
	return read.Cmp(exact) != 0 && strconv.FormatFloat(f, 'f', -1, 64) != text // as it was written down once
}
