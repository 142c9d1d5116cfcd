package store

import (
	"encoding/json"
	"errors"
	"testing"
)

// A number in metadata is kept exactly or refused; what was kept once is read again.
func TestNumbersAreExactOrRefused(t *testing.T) {
	for text, ok := range map[string]bool{
		"9007199254740992": true, "-9007199254740992": true, "9007199254740993": false, "-9007199254740993": false, "12345678901234567890": false,
		"1000000000000000000": true, "9007199254740994": true, "1.5": true, "1e300": true, "0": true,
	} {
		var v Value
		if err := json.Unmarshal([]byte(text), &v); (err == nil) != ok || !ok && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, f := range []float64{12345678901234567890, 1e20, -9007199254740993, 1.8e19} {
		b, err := json.Marshal(Number(f))
		if err != nil {
			t.Fatal(err)
		}
		var v Value
		if err := json.Unmarshal(b, &v); err != nil || v.Num() != f {
			t.Errorf("%s: %v, %v", b, v.Num(), err)
		}
	}
}
