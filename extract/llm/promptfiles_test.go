package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"evoke/extract/llm"
	"evoke/store"
)

const ownText = "Read <conversation> and answer {\"operations\":[]}."

func TestReadPrompts(t *testing.T) {
	english, chinese, err := llm.ReadPrompts(map[string][]byte{"en.acme-7.md": []byte(ownText), "en.acme-7.again.md": []byte("Once more.")})
	if err != nil || chinese != nil || *english != (llm.Prompt{Version: "acme-7", Text: ownText, Again: "Once more."}) {
		t.Fatalf("%+v, %+v, %v", english, chinese, err)
	}
	x, s := open(t, always(answer()), func(o *llm.Options) { o.English = english })
	if _, err := x.Extract(context.Background(), batch("user: hi")); err != nil || s.Requests()[0].Messages[0].Content != ownText || x.Name() != "llm/acme-7+2/test-model" {
		t.Errorf("%s: %v", x.Name(), err)
	}
	english, chinese, err = llm.ReadPrompts(map[string][]byte{"zh.1.2.md": []byte(ownText)})
	if err != nil || english != nil || chinese.Version != "1.2" {
		t.Errorf("%+v, %+v, %v", english, chinese, err)
	}
	if english, chinese, err = llm.ReadPrompts(nil); english != nil || chinese != nil || err != nil {
		t.Error(err)
	}
}

func TestBadPromptsNameTheFileAndTheMend(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"another language": {map[string]string{"fr.1.md": ownText}, "fr.1.md: must be named LANGUAGE.VERSION.md"},
		"no version":       {map[string]string{"en.md": ownText}, "en.md: must be named"},
		"another kind":     {map[string]string{"en.1.txt": ownText}, "en.1.txt: must be named"},
		"version":          {map[string]string{"en.a b.md": ownText}, "rename the file"},
		"empty":            {map[string]string{"en.1.md": " \n"}, "en.1.md: must be a text"},
		"bytes":            {map[string]string{"en.1.md": ownText + "\xff"}, "UTF-8"},
		"too long":         {map[string]string{"en.1.md": strings.Repeat(ownText, 5000)}, "at most 65536 bytes"},
		"two versions":     {map[string]string{"en.1.md": ownText, "en.2.md": ownText}, "remove it or en.1.md"},
		"no conversation":  {map[string]string{"en.1.md": "operations"}, "<conversation>"},
		"no operations":    {map[string]string{"en.1.md": "<conversation>"}, "operations"},
		"again alone":      {map[string]string{"en.1.md": ownText, "en.2.again.md": "Again."}, "en.2.again.md: must be beside en.2.md"},
	} {
		files := map[string][]byte{}
		for n, text := range c.files {
			files[n] = []byte(text)
		}
		_, _, err := llm.ReadPrompts(files)
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
