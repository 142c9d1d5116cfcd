package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

func sample() *Item {
	return &Item{ID: "a", Kind: Semantic, Category: Preference, Content: "likes tea", ContentKey: "k",
		Metadata:  Metadata{"colour": String("red"), "size": Number(3), "done": Bool(true), "tags": List("x", "y")},
		ValidFrom: noon, RecordedAt: noon.Add(time.Hour), Turn: Turn{Thread: "t", Session: "s", Position: 4, Speaker: "Ann", Role: "user"}}
}

func num(f float64) *float64 { return &f }

func TestFilterMatch(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Filter
		want bool
	}{
		{"zero", Filter{}, true},
		{"id", Filter{IDs: []string{"b", "a"}}, true},
		{"other id", Filter{IDs: []string{"b"}}, false},
		{"kind", Filter{Kinds: []Kind{Semantic}}, true},
		{"other kind", Filter{Kinds: []Kind{Episodic, Procedural}}, false},
		{"category", Filter{Categories: []Category{Preference}}, true},
		{"no category", Filter{Categories: []Category{""}}, false},
		{"thread, session, role, speaker", Filter{Threads: []string{"t"}, Sessions: []string{"s"}, Roles: []string{"user"}, Speakers: []string{"Ann"}}, true},
		{"one of them differs", Filter{Threads: []string{"t"}, Sessions: []string{"s"}, Roles: []string{"assistant"}}, false},
		{"content key", Filter{ContentKeys: []string{"k"}}, true},
		{"other content key", Filter{ContentKeys: []string{"l"}}, false},
		{"position", Filter{Positions: PositionRange{From: 4, To: 5}}, true},
		{"position at the end", Filter{Positions: PositionRange{From: 0, To: 4}}, false},
		{"open position", Filter{Positions: PositionRange{From: 4}}, true},
		{"valid from its moment on", Filter{Valid: TimeRange{From: noon}}, true},
		{"valid until its moment", Filter{Valid: TimeRange{To: noon}}, false},
		{"recorded", Filter{Recorded: TimeRange{From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)}}, true},
		{"not yet recorded", Filter{Recorded: TimeRange{From: noon.Add(2 * time.Hour)}}, false},
		{"metadata in", Filter{Metadata: []Condition{{Key: "colour", In: []Value{String("blue"), String("red")}}}}, true},
		{"metadata of another kind", Filter{Metadata: []Condition{{Key: "size", In: []Value{String("3")}}}}, false},
		{"list member", Filter{Metadata: []Condition{{Key: "tags", In: []Value{String("y")}}}}, true},
		{"whole list", Filter{Metadata: []Condition{{Key: "tags", In: []Value{List("x", "y")}}}}, true},
		{"part of a list", Filter{Metadata: []Condition{{Key: "tags", In: []Value{List("x")}}}}, false},
		{"closed range", Filter{Metadata: []Condition{{Key: "size", Min: num(3), Max: num(3)}}}, true},
		{"below the range", Filter{Metadata: []Condition{{Key: "size", Min: num(3.5)}}}, false},
		{"range on a text", Filter{Metadata: []Condition{{Key: "colour", Min: num(0)}}}, false},
		{"range on a boolean", Filter{Metadata: []Condition{{Key: "done", Min: num(0)}}}, false},
		{"both tests", Filter{Metadata: []Condition{{Key: "size", In: []Value{Number(3)}, Max: num(2)}}}, false},
		{"missing key", Filter{Metadata: []Condition{{Key: "none", In: []Value{String("")}}}}, false},
		{"all", Filter{All: []Filter{{IDs: []string{"a"}}, {Kinds: []Kind{Semantic}}}}, true},
		{"all but one", Filter{All: []Filter{{IDs: []string{"a"}}, {Kinds: []Kind{Episodic}}}}, false},
		{"any", Filter{Any: []Filter{{IDs: []string{"z"}}, {Kinds: []Kind{Semantic}}}}, true},
		{"any of none that fit", Filter{Any: []Filter{{IDs: []string{"z"}}}}, false},
		{"none", Filter{None: []Filter{{IDs: []string{"z"}}}}, true},
		{"none, but one fits", Filter{None: []Filter{{IDs: []string{"z"}}, {IDs: []string{"a"}}}}, false},
	} {
		if err := c.f.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := c.f.Match(sample()); got != c.want {
			t.Errorf("%s: match %t, want %t", c.name, got, c.want)
		}
		if zero := c.name == "zero"; c.f.IsZero() != zero {
			t.Errorf("%s: zero %t", c.name, !zero)
		}
	}
	if !(*Filter)(nil).Match(sample()) || !(*Filter)(nil).IsZero() {
		t.Error("no filter selects everything")
	}
}

func TestFilterWithoutTimeOrSession(t *testing.T) {
	it := &Item{ID: "a", Kind: Semantic}
	for name, f := range map[string]Filter{
		"valid from": {Valid: TimeRange{From: time.Time{}.Add(time.Microsecond)}}, "valid to": {Valid: TimeRange{To: noon}}, "position": {Positions: PositionRange{To: 5}},
	} {
		if f.Match(it) {
			t.Errorf("%s: an item without it is outside every range", name)
		}
	}
}

func TestFilterValidate(t *testing.T) {
	many := make([]Value, 5000)
	for i := range many {
		many[i] = Number(float64(i))
	}
	deep := Filter{}
	for range maxFilterDepth - 1 {
		deep = Filter{None: []Filter{deep}}
	}
	if err := deep.Validate(); err != nil {
		t.Errorf("nested %d deep: %v", maxFilterDepth, err)
	}
	for name, f := range map[string]Filter{
		"depth":           {Any: []Filter{deep}},
		"kind":            {Kinds: []Kind{""}},
		"category":        {Categories: []Category{"x"}},
		"ids":             {IDs: make([]string, maxFilterTerms)},
		"values":          {Metadata: []Condition{{Key: "k", In: many}}},
		"key":             {Metadata: []Condition{{Min: num(1)}}},
		"condition":       {Metadata: []Condition{{Key: "k"}}},
		"min over max":    {Metadata: []Condition{{Key: "k", Min: num(2), Max: num(1)}}},
		"NaN":             {Metadata: []Condition{{Key: "k", Min: num(math.NaN())}}},
		"range":           {Recorded: TimeRange{From: noon, To: noon}},
		"positions":       {Positions: PositionRange{From: 4, To: 4}},
		"negative":        {Positions: PositionRange{From: -1}},
		"nested":          {All: []Filter{{Any: []Filter{{Kinds: []Kind{"x"}}}}}},
		"many in all":     {All: []Filter{{IDs: make([]string, 2000)}, {IDs: make([]string, 2000)}, {IDs: make([]string, 2000)}}},
		"empty condition": {None: []Filter{{Metadata: []Condition{{}}}}},
	} {
		err := f.Validate()
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// TestFilterLaws: NOT inverts, ALL narrows, ANY widens, for filters that rapid thinks up.
func TestFilterLaws(t *testing.T) {
	leaf := rapid.Custom(func(t *rapid.T) Filter {
		return rapid.SampledFrom([]Filter{{}, {IDs: []string{"a"}}, {IDs: []string{"b"}}, {Kinds: []Kind{Semantic}}, {Roles: []string{"x"}},
			{Metadata: []Condition{{Key: "size", Min: num(1)}}}, {Valid: TimeRange{To: noon}}}).Draw(t, "leaf")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, it := leaf.Draw(t, "a"), leaf.Draw(t, "b"), sample()
		ma, mb := a.Match(it), b.Match(it)
		for name, c := range map[string]struct {
			f    Filter
			want bool
		}{
			"and": {Filter{All: []Filter{a, b}}, ma && mb}, "or": {Filter{Any: []Filter{a, b}}, ma || mb}, "nor": {Filter{None: []Filter{a, b}}, !ma && !mb},
			"not not": {Filter{None: []Filter{{None: []Filter{a}}}}, ma},
		} {
			if got := c.f.Match(it); got != c.want {
				t.Fatalf("%s of %+v and %+v: %t, want %t", name, a, b, got, c.want)
			}
		}
	})
}

// FuzzFilterJSON: whatever JSON says, a filter that passes Validate matches without a crash and survives its own JSON.
func FuzzFilterJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"ids":["a"],"kinds":["semantic"]}`, `{"metadata":[{"key":"size","min":1,"in":[3,"x",true,["a",1]]}]}`,
		`{"any":[{"none":[{"valid":{"from":"2026-01-01T00:00:00Z"}}]}],"positions":{"from":1}}`, `{"metadata":[{"key":"k","in":[{}]}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var a, b Filter
		if json.Unmarshal([]byte(s), &a) != nil || a.Validate() != nil {
			return
		}
		got := a.Match(sample())
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatalf("marshal: %v", err)
		}
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatalf("unmarshal of its own JSON: %v", err)
		}
		if b.Match(sample()) != got {
			t.Fatalf("the filter read back from %s matches otherwise", text)
		}
	})
}

func TestViewSees(t *testing.T) {
	h := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	it := &Item{ValidFrom: h(0), RecordedAt: h(2), ValidTo: h(6), ClosedAt: h(8)}
	for _, c := range []struct {
		name string
		v    View
		want bool
	}{
		{"current, by a clock that went back to before its end", Current(h(5)), false}, // its end is known, and was reached
		{"current, at its end", Current(h(6)), false},
		{"as of before it was known", AsOf(h(1)), false},
		{"as of the moment it was recorded", AsOf(h(2)), true},
		{"as of its end, not known yet", AsOf(h(7)), true},
		{"as of when its end became known", AsOf(h(8)), false},
		{"valid before it began", View{Now: h(9), ValidAt: h(-1)}, false},
		{"valid while it held", View{Now: h(9), ValidAt: h(3)}, true},
		{"all", View{All: true}, true},
	} {
		if got := c.v.Sees(it); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	planned := &Item{ValidFrom: h(0), RecordedAt: h(2), ValidTo: h(6), ClosedAt: h(4)}
	for n, want := range map[int]bool{3: true, 5: true, 6: false} {
		if got := Current(h(n)).Sees(planned); got != want {
			t.Errorf("an end to come, after %d h: %t, want %t", n, got, want)
		}
	}
	it = &Item{RecordedAt: h(0), RetractedAt: h(3)}
	for n, want := range map[int]bool{-1: false, 0: true, 2: true, 3: false, 4: false} {
		if got := AsOf(h(n)).Sees(it); got != want {
			t.Errorf("retracted after 3 h, as of %d h: %t, want %t", n, got, want)
		}
	}
	if Current(h(1)).Sees(it) {
		t.Error("a retracted item is in the current view")
	}
}

func TestScope(t *testing.T) {
	seen := map[string]Scope{}
	names := []string{"", "a", "b", "1:a", "a1:", "0:", ":", "aa", "a/b", "0:1:a"}
	for _, tenant := range names {
		for _, user := range names {
			for _, agent := range names {
				sc := Scope{tenant, user, agent}
				if other, taken := seen[sc.Key()]; taken {
					t.Fatalf("%+v and %+v share the key %q", sc, other, sc.Key())
				}
				seen[sc.Key()] = sc
				want := error(nil)
				switch {
				case tenant == "":
					want = ErrTenant
				case user == "" && agent == "":
					want = ErrInvalid
				}
				if err := sc.Validate(); !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("%+v: %v, want %v", sc, err, want)
				}
			}
		}
	}
	if err := ValidateName("thread", "   "); !errors.Is(err, ErrInvalid) {
		t.Errorf("a blank name: %v", err)
	}
}

func TestFieldError(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", Invalid("importance", "a number from 0 to 1", "7"))
	if !errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) {
		t.Error("a FieldError is an ErrInvalid and nothing else")
	}
	var field *FieldError
	if !errors.As(err, &field) {
		t.Fatal("the field is lost in wrapping")
	}
	if diff := cmp.Diff("importance: must be a number from 0 to 1, got 7", field.Error()); diff != "" {
		t.Error(diff)
	}
	if got := Invalid("id", "given", "").Error(); got != "id: must be given" {
		t.Errorf("message %q", got)
	}
}
