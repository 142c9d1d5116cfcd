package cli

import (
	"bytes"
	"testing"

	"evoke/store"
)

// Whatever a memory holds, a terminal gets nothing that it would obey, and a row stays one row.
func TestWhatATerminalIsShown(t *testing.T) {
	evil := "a\x1b[2Jb\u202ec\u2066d\u200fe\x07\u2028f\u009bg"
	const want = "a [2Jb c d e  f g"
	if got := shown(evil); got != want {
		t.Errorf("%q", got)
	}
	if got := shown("line\tone\n用户 👩‍🍳 é"); got != "line\tone\n用户 👩‍🍳 é" {
		t.Errorf("%q", got)
	}
	var out, side bytes.Buffer
	a := &app{process: Process{Out: &out, Err: &side}}
	a.printf("%s\n", evil)
	a.note("%s", evil)
	if err := a.itemDetail(store.Item{ID: evil, Content: evil, Provenance: store.Provenance{Origin: evil}}); err != nil {
		t.Fatal(err)
	}
	if err := a.table([]string{"A", "B"}, [][]string{{evil + "\n" + evil, "x\ty"}}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*bytes.Buffer{&out, &side} {
		if bytes.ContainsAny(b.Bytes(), "\x1b\x07\u202e\u2066\u200f\u2028\u009b") {
			t.Errorf("%q", b)
		}
	}
	if n := bytes.Count(out.Bytes(), []byte("x y")); n != 1 {
		t.Errorf("%q", out.String())
	}
}
