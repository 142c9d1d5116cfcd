package evoke

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"evoke/store/lifecycle"
)

// What Evoke handed out before is out of reach: the receipt of an erasure names exports and backups as a place where it may
// be left, says how many there were and until when, and what is brought back from one stays out.
func TestTheReceiptNamesWhatWasHandedOut(t *testing.T) {
	m := open(t, &Options{Path: t.TempDir()})
	lines(t, m, Who{User: "ann"}, 5)
	lines(t, m, Who{User: "bob"}, 2)
	ctx := t.Context()
	copies := func(r EraseRequest) string {
		t.Helper()
		op, err := m.Erase(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		erased(t, m, op.ID)
		receipt, _ := probesOf(t, m, op.ID)
		i := slices.IndexFunc(receipt.Residual, func(r lifecycle.Residual) bool { return r.Place == "copies" })
		if i < 0 || receipt.Residual[i].Until == "" || !receipt.Clean {
			t.Fatalf("%+v", receipt)
		}
		return receipt.Residual[i].What
	}
	if what := copies(EraseRequest{User: "nobody"}); !strings.Contains(what, "exports: 0, backups: 0") {
		t.Errorf("before anything was handed out: %s", what)
	}
	var all, own bytes.Buffer
	for _, out := range []struct {
		who Who
		to  *bytes.Buffer
	}{{Who{}, &all}, {Who{User: "ann"}, &own}, {Who{User: "bob"}, &bytes.Buffer{}}, {Who{User: "empty"}, &bytes.Buffer{}}} {
		if _, err := m.Export(ctx, out.who, out.to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Backup(ctx, filepath.Join(t.TempDir(), "backup")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		r    EraseRequest
		want string
	}{
		{EraseRequest{User: "ann"}, "exports: 2, backups: 1"}, // of the tenant, and of ann
		{EraseRequest{Tenant: true}, "exports: 3, backups: 1"},
	} {
		if what := copies(tt.r); !strings.Contains(what, tt.want) {
			t.Errorf("%+v: %s, want %s", tt.r, what, tt.want)
		}
	}
	for _, in := range []*bytes.Buffer{&own, &all} {
		if res, err := m.Import(ctx, Who{}, in, nil); err != nil || res.Imported != 0 || res.Erased < 5 {
			t.Errorf("%+v, %v", res, err)
		}
	}
}
