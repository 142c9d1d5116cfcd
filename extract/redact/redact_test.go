package redact_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"evoke/extract/redact"
	"evoke/store"
)

func TestModes(t *testing.T) {
	t.Parallel()
	text := "write to bob@example.com"
	for _, mode := range []redact.Mode{"", redact.Off} {
		x, err := redact.New(&redact.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if got, found, err := x.Redact(text); got != text || found != nil || err != nil {
			t.Errorf("%q: %q, %v, %v", mode, got, found, err)
		}
	}
	var none *redact.Redactor
	if got, _, err := none.Redact(text); got != text || err != nil {
		t.Errorf("nil: %q, %v", got, err)
	}
	x, err := redact.New(&redact.Options{Mode: redact.Reject})
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := x.Redact(text)
	if got != "" || found[redact.Email] != 1 || !errors.Is(err, store.ErrInvalid) || !errors.Is(err, redact.ErrFound) {
		t.Errorf("reject: %q, %v, %v", got, found, err)
	}
	if err != nil && (!strings.Contains(err.Error(), "email") || strings.Contains(err.Error(), "bob")) {
		t.Errorf("the error names the content or not the kind: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []redact.Options{
		{Mode: "hide"}, {Patterns: []redact.Pattern{{Name: "", Match: "x"}}}, {Patterns: []redact.Pattern{{Name: "Bad", Match: "x"}}},
		{Patterns: []redact.Pattern{{Name: "a", Match: "("}}}, {Patterns: []redact.Pattern{{Name: "a", Match: "x*"}}},
	} {
		if _, err := redact.New(&o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v, want store.ErrInvalid", o, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	x, err := redact.New(&redact.Options{Mode: redact.Mask, Patterns: []redact.Pattern{{"staff_no", `EMP-\d+`}, {"codename", `蓝鲸`}, {"digits", `\d+`}}})
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := x.Redact("EMP-42 在蓝鲸项目 7 a@b.io")
	if want := "[staff_no] 在[codename]项目 [digits] [email]"; got != want || err != nil {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
	if want := map[string]int{"staff_no": 1, "codename": 1, "digits": 1, "email": 1}; !maps.Equal(found, want) {
		t.Errorf("counts %v, want %v", found, want)
	}
}

// check holds what is true of any text.
func check(t interface{ Fatalf(string, ...any) }, x *redact.Redactor, text string) {
	once, found, err := x.Redact(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if again, more, _ := x.Redact(once); again != once || more != nil {
		t.Fatalf("%q became %q, and that %q (%v)", text, once, again, more)
	}
	if found == nil && once != text {
		t.Fatalf("%q changed to %q and nothing was counted", text, once)
	}
	if utf8.ValidString(text) && !utf8.ValidString(once) {
		t.Fatalf("%q was cut within a character: %q", text, once)
	}
}

func pieces() []string {
	all := []string{" ", "", "-", ".", "/", "@", "=", ":", "的", "，", "é", "１", "0", "7", "[email]", "password", "密码是", "&a=", "+", "(", "v1.2", "\xff", "x"}
	for _, texts := range planted {
		for _, text := range texts {
			all = append(all, strings.NewReplacer("⟦", "", "⟧", "").Replace(text))
		}
	}
	return all
}

func TestInvariants(t *testing.T) {
	t.Parallel()
	x, all := masker(t), pieces()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 0, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " ", "和"}).Draw(t, "glue"))
		if at := rapid.IntRange(0, len(text)).Draw(t, "cut"); rapid.Bool().Draw(t, "cuts") {
			text = text[at:]
		}
		check(t, x, text)
	})
}

// Every find is found within Chinese text without blanks and in full-width digits as well.
func TestAmongCJK(t *testing.T) {
	t.Parallel()
	x := masker(t)
	for kind, texts := range planted {
		for _, text := range texts {
			_, rest, _ := strings.Cut(text, "⟦")
			find, _, _ := strings.Cut(rest, "⟧")
			if find == "" || strings.Contains(find, "BEGIN") && !strings.Contains(find, "END") || kind == redact.Secret || kind == redact.Phone || kind == redact.NationalID && len(find) < 15 {
				continue // those lean on the words in front of them
			}
			if got, _, _ := x.Redact("我把" + find + "告诉你了"); got != "我把["+kind+"]告诉你了" {
				t.Errorf("%s %q: %q", kind, find, got)
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, p := range pieces() {
		f.Add(p)
	}
	for line := range strings.Lines(plain) {
		f.Add(line)
	}
	x := masker(f)
	f.Fuzz(func(t *testing.T, text string) { check(t, x, text) })
}

// One long line of what is nearly a find takes time in proportion to its length.
func TestLinear(t *testing.T) {
	t.Parallel()
	x := masker(t)
	for _, unit := range []string{"a", "@", "1", "12 ", "0301 901820 ", "password: ", "a@b.", "1.1.1.1.", "::", "DE89 ", "-----BEGIN " + "PRIVATE KEY", "eyJ", "=", "＠", "密码是", "a@b.io ", "[email]", "https://u:"} {
		took := func(n int) time.Duration {
			text := strings.Repeat(unit, n/len(unit))
			began := time.Now()
			if _, _, err := x.Redact(text); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		small, large := took(1<<14), took(1<<17)
		t.Logf("%-14q %v for 16 KiB, %v for 128 KiB", unit, small, large)
		if large > 40*small && large > 2*time.Second || large > 60*time.Second {
			t.Errorf("%q: %v for 16 KiB and %v for 128 KiB", unit, small, large)
		}
	}
}
