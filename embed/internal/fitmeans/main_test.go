package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"evoke/embed/centre"
)

func TestCorpus(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"I like tea.\",\"speaker\":\"Zoe\"}\n{\"text\":\"...\",\"speaker\":\"Zoe\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	texts, err := corpus([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	for s := centre.Other + 1; int(s) < centre.Scripts; s++ {
		if len(texts[s]) < 80 {
			t.Errorf("%v has %d texts, want 80 or more", s, len(texts[s]))
		}
		wrong := 0
		for _, l := range texts[s] {
			if centre.Of(l) != s {
				wrong++
			}
		}
		if wrong > len(texts[s])/20 {
			t.Errorf("%d of the %d texts of %v are taken for another script", wrong, len(texts[s]), s)
		}
	}
	if _, ok := texts[centre.Other]; ok {
		t.Error("texts of no script are kept")
	}
	if all := strings.Join(texts[centre.Latin], "\n"); !strings.Contains(all, "Zoe: I like tea.") || !strings.Contains(all, "] Zoe: I like tea.") {
		t.Error("an extra text is missing in one of its forms")
	}
	if _, err := corpus([]string{file + ".none"}); err == nil {
		t.Error("a missing file: no error")
	}
	if err := run("x", "", "", nil); err == nil {
		t.Error("no folder: no error")
	}
}
