package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
)

// A passage is found wherever it stands, in whatever pieces the text is read, also after the samples were written down; in a
// text without it nothing is.
func TestSamplesAreFound(t *testing.T) {
	m := NewMarks()
	rapid.Check(t, func(t *rapid.T) {
		erased := store.Item{ID: rapid.StringN(0, 30, 60).Draw(t, "id"), Content: rapid.StringN(12, 200, -1).Draw(t, "content") + "zebraquartz 斑马石英的秘密"}
		s, err := m.NewSamples("op", "")
		if err != nil {
			t.Fatal(err)
		}
		s.AddItem(&erased)
		if s, err = m.NewSamples("op", s.Encode()); err != nil || s.Len() == 0 {
			t.Fatal(s.Len(), err)
		}
		around := rapid.SliceOfN(rapid.Byte(), 0, 300)
		text := append(append(around.Draw(t, "before"), erased.Content...), around.Draw(t, "after")...)
		found := Found{}
		n, err := s.Search(iotest.HalfReader(bytes.NewReader(text)), found)
		if err != nil || n != int64(len(text)) || len(found) == 0 {
			t.Fatalf("%d found in %d of %d bytes, %v", len(found), n, len(text), err)
		}
		other, err := m.NewSamples("another", "")
		if err != nil {
			t.Fatal(err)
		}
		other.AddItem(&erased)
		for _, h := range other.hashes {
			if s.known[h] {
				t.Fatal("the same passage has the same hash in two operations")
			}
		}
		found = Found{}
		s.SearchText(bytes.Repeat([]byte("quite another text "), 40), found)
		if len(found) > 0 && !strings.Contains(erased.Content+erased.ID, "quite") {
			t.Fatal("something was found in another text")
		}
	})
	if _, err := m.NewSamples("op", "???"); !errors.Is(err, store.ErrCorrupt) {
		t.Error(err)
	}
}

// Marks depend on the memory, the id, the text however it is spelt, and the key.
func TestMarks(t *testing.T) {
	m, other := NewMarks(), NewMarks()
	ann, bob := store.Scope{Tenant: "t", User: "ann"}, store.Scope{Tenant: "t", User: "bob"}
	it := store.Item{ID: "1", Kind: store.Semantic, Content: "Ann sails.", Provenance: store.Provenance{Extractor: "x/1", Turns: []string{"a", "b"}}}
	again, text, id := it, it, it
	again.Content, again.ContentKey = "ann  SAILS", "forged"
	text.Content, id.ID = "Ann swims.", "2"
	if m.Item(ann, &it) != m.Item(ann, &again) || m.Text(ann, &it) != m.Text(ann, &id) {
		t.Error("the same has another mark")
	}
	marks := map[string]bool{}
	for _, h := range []string{
		m.Item(ann, &it), m.Item(bob, &it), m.Item(ann, &text), m.Item(ann, &id), m.Text(ann, &it), m.Text(bob, &it), m.Turn(ann, &it), other.Item(ann, &it),
		m.Fact(ann, it.Kind, it.Content, "a"), m.Fact(ann, it.Kind, it.Content, "b"), m.Key(ann, "1"), m.Pseudonym(ann, "1"),
	} {
		marks[h] = true
	}
	if len(marks) != 12 || len(m.Of(ann, &it)) != 4 {
		t.Errorf("%d of 12 marks, %d of an item", len(marks), len(m.Of(ann, &it)))
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Marks
	if err := json.Unmarshal(b, &back); err != nil || back.Item(ann, &it) != m.Item(ann, &it) || back.PublicKey() != m.PublicKey() {
		t.Error("kept and read back they are others", err)
	}
	if err := json.Unmarshal([]byte(`{"mac":"AA=="}`), &back); !errors.Is(err, store.ErrCorrupt) {
		t.Error(err)
	}
}

// A receipt verifies as it was signed, also printed nicely, and nothing else does.
func TestReceiptsVerify(t *testing.T) {
	m := NewMarks()
	r := Receipt{Operation: "op", Tenant: "t<>&", AskedAt: time.Unix(1, 0).UTC(), Probes: []Probe{{Place: "get", Looked: 3}}}
	s, err := m.Sign(&r)
	if err != nil {
		t.Fatal(err)
	}
	nice, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var back SignedReceipt
	if err := json.Unmarshal(nice, &back); err != nil {
		t.Fatal(err)
	}
	if got, err := back.Verify(m.PublicKey()); err != nil || !got.Clean || got.Version != 1 || got.Tenant != "t<>&" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := back.Verify(NewMarks().PublicKey()); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("another installation's: %v", err)
	}
	for _, change := range []func(*SignedReceipt){
		func(s *SignedReceipt) { s.Receipt = bytes.Replace(s.Receipt, []byte(`3`), []byte(`0`), 1) },
		func(s *SignedReceipt) { s.Receipt = []byte(`{`) },
		func(s *SignedReceipt) { s.Key = NewMarks().PublicKey() },
		func(s *SignedReceipt) { s.Key = "?" },
		func(s *SignedReceipt) { s.Signature = "AAAA" },
		func(s *SignedReceipt) { s.Signature = "?" },
	} {
		changed := back
		changed.Receipt = bytes.Clone(back.Receipt)
		if change(&changed); changed.Signature == "" {
			t.Fatal("no change")
		}
		if _, err := changed.Verify(""); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", changed.Receipt, err)
		}
	}
	r.Probes = append(r.Probes, Probe{Place: "files", Found: 1})
	if s, err = m.Sign(&r); err != nil || !bytes.Contains(s.Receipt, []byte(`"clean":false`)) {
		t.Errorf("%s, %v", s.Receipt, err)
	}
}

func BenchmarkSearch(b *testing.B) {
	s, err := NewMarks().NewSamples("op", "")
	if err != nil {
		b.Fatal(err)
	}
	for i := range 500 {
		s.AddItem(&store.Item{Content: strings.Repeat("x", i) + "zebraquartz is what nobody else says"})
	}
	text := bytes.Repeat([]byte("some other bytes of a database, over and over again; "), 20000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.SearchText(text, Found{})
	}
}
