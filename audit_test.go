package evoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// Every verb that changes or takes out something leaves one entry: who, what, to whom, of which ids and how many.
// Nothing of what was said is in any.
func TestAuditTellsWhoDidWhat(t *testing.T) {
	clock := clockAt(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now})
	who := Who{User: "ann"}
	ctx := WithActor(t.Context(), Actor{Name: "ops", Request: "r-1"})
	const secret = "zebraquartz"
	var it store.Item
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	content := "I live in " + secret + "."
	for _, step := range []struct {
		want string // "" for no entry
		do   func() error
	}{
		{"remember ann 1 map[] ", func() error {
			res, err := m.Remember(ctx, RememberRequest{Who: who, Content: "When deploying to " + secret + ", ask first.", Kind: store.Procedural})
			it = res.Item
			return err
		}},
		{"", func() error {
			res, err := m.Remember(ctx, RememberRequest{Who: who, ID: "x", Content: secret, NoStore: true})
			if res.Skipped == "" {
				t.Error("not skipped")
			}
			return err
		}},
		{"", func() error { // could mean nothing
			if _, err := m.Remember(ctx, RememberRequest{Who: who}); !errors.Is(err, store.ErrInvalid) {
				t.Error(err)
			}
			return nil
		}},
		{"update ann 2 map[] ", func() error {
			got, err := m.Update(ctx, UpdateRequest{Who: who, ID: it.ID, Content: &content})
			it = got
			return err
		}},
		{"update ann 1 map[] not_found", func() error {
			if _, err := m.Update(ctx, UpdateRequest{Who: who, ID: "unknown"}); !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			return nil
		}},
		{"outcome ann 1 map[] ", func() error {
			_, err := m.Outcome(ctx, OutcomeRequest{Who: who, ID: it.ID, Outcome: store.Succeeded})
			return err
		}},
		{"export ann 0 map[items:2] ", func() error { _, err := m.Export(ctx, who, io.Discard); return err }},
		{"import bob 0 map[erased:0 failed:1 imported:1 same:0] ", func() error {
			_, err := m.Import(ctx, Who{User: "bob"}, strings.NewReader(`{"text":"`+secret+"\"}\n{nonsense\n"), nil)
			return err
		}},
		{"import bob 0 map[erased:0 failed:0 imported:1 same:0] ", func() error {
			_, err := m.ImportFrom(ctx, Who{User: "bob"}, "memory-registry", strings.NewReader(`{"id":"a","type":"fact","content":"`+secret+`"}`), nil)
			return err
		}},
		{"", func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who, All: true, DryRun: true}); return err }},
		{"forget ann 2 map[derived:0 items:1 sections:0] ", func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who, IDs: []string{it.ID}}); return err }},
		{"pause  0 map[] ", func() error { return m.Pause(ctx) }},
		{"resume  0 map[] ", func() error { return m.Resume(ctx) }},
		{"approve  1 map[approved:0 refused:0] ", func() error { _, err := m.Approve(ctx, []string{"q"}); return err }},
		{"reject  1 map[rejected:0] ", func() error { _, err := m.Reject(ctx, []string{"q"}); return err }},
		{"retry events  1 map[revived:0] ", func() error { _, err := m.RetryEvents(ctx, []string{"e"}); return err }},
	} {
		before, err := m.Audit(ctx, AuditRequest{})
		must(err)
		clock.set(clock.now().Add(time.Minute))
		must(step.do())
		after, err := m.Audit(ctx, AuditRequest{})
		must(err)
		got := ""
		if n := len(after.Entries) - len(before.Entries); n == 1 {
			e := after.Entries[0]
			got = fmt.Sprintf("%s %s %d %v %s", e.Verb, e.User, len(e.IDs), e.Counts, e.Error)
			if e.By != "ops" || e.Request != "r-1" || !e.At.Equal(clock.now()) {
				t.Errorf("%s by %q in %q at %v", e.Verb, e.By, e.Request, e.At)
			}
		} else if n != 0 {
			t.Errorf("%d entries for %s", n, step.want)
		}
		if got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
	all, err := m.Audit(ctx, AuditRequest{})
	must(err)
	b, err := json.Marshal(all)
	must(err)
	if bytes.Contains(b, []byte(secret)) {
		t.Errorf("what was said is in the log: %s", b)
	}
	bobs, err := m.Audit(ctx, AuditRequest{User: "bob", Verb: "import"})
	must(err)
	if len(bobs.Entries) != 2 {
		t.Errorf("%d imports into bob's", len(bobs.Entries))
	}
	var paged []store.Audit
	for r := (AuditRequest{Limit: 3, From: all.Entries[len(all.Entries)-2].At}); ; {
		page, err := m.Audit(ctx, r)
		must(err)
		paged = append(paged, page.Entries...)
		if r.Cursor = page.Next; r.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(slices.Concat(all.Entries[:len(all.Entries)-1]), paged); diff != "" {
		t.Errorf("in pages: %s", diff)
	}
	other, err := m.ForTenant("other")
	must(err)
	if log, err := other.Audit(ctx, AuditRequest{}); err != nil || len(log.Entries) != 0 {
		t.Errorf("another tenant's log: %+v, %v", log, err)
	}
}
