package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store"
)

func itemsOf(turns ...string) []store.Item {
	b := batch(turns...)
	return b.Turns
}

// A summary is what the model said, if it is prose, and of nothing but what was shown.
func TestSummarize(t *testing.T) {
	english := itemsOf("user: I moved to Porto on 3 May with my sister Ines.", "user: We pay 900 euros for the flat.", "user: The landlord is called Rui.")
	chinese := itemsOf("user: 我五月三日和姐姐王芳搬到了杭州。", "user: 房租是900元。", "user: 房东叫李强。")
	for name, c := range map[string]struct {
		reply llmtest.Reply
		items []store.Item
		want  string
	}{
		"en":               {llmtest.Always("The user moved to Porto with sister Ines on 3 May; the flat costs 900 euros, and the landlord is Rui."), english, "The user moved to Porto with sister Ines on 3 May; the flat costs 900 euros, and the landlord is Rui."},
		"zh":               {llmtest.Always("用户五月三日和姐姐王芳搬到杭州，房租900元，房东叫李强。"), chinese, "用户五月三日和姐姐王芳搬到杭州，房租900元，房东叫李强。"},
		"a number made up": {llmtest.Always("The user moved to Porto with sister Ines; the flat costs 950 euros, landlord Rui."), english, ""},
		"a name made up":   {llmtest.Always("The user moved to Porto with sister Ines; the flat costs 900 euros, landlord Mario."), english, ""},
		"something else":   {llmtest.Always("Nothing of interest happened during these sunny holidays."), english, ""},
		"nothing":          {llmtest.Always("  "), english, ""},
		"JSON":             {llmtest.Always(`{"summary":"The user moved to Porto"}`), english, ""},
		"a fence":          {llmtest.Always("```\nThe user moved to Porto\n```"), english, ""},
		"cut off":          {llmtest.Cut("The user moved to Porto with"), english, ""},
	} {
		x, s := open(t, c.reply, nil)
		got, err := x.Summarize(context.Background(), store.Scope{Tenant: "t", User: "u"}, c.items)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		r := s.Requests()[0]
		if r.Format() != "plain" || len(r.Texts("items")) != 3 || strings.Contains(r.Messages[0].Content, "短文") != (name == "zh") {
			t.Errorf("%s: asked with %s", name, r.Format())
		}
	}
}

// Budgets hold for summaries, too, and a service that is away is an error, not an empty summary.
func TestSummarizeWithoutAModel(t *testing.T) {
	spent := errors.New("spent")
	x, s := open(t, llmtest.Always("x"), func(o *llm.Options) {
		o.Gate = func(context.Context, llm.Call) (func(extract.Usage), error) { return nil, spent }
	})
	if _, err := x.Summarize(context.Background(), store.Scope{Tenant: "t"}, itemsOf("user: a")); !errors.Is(err, spent) || s.Calls() != 0 {
		t.Errorf("%v after %d calls", err, s.Calls())
	}
	x, _ = open(t, llmtest.Stall(), func(o *llm.Options) { o.Timeout, o.Retries = 20*time.Millisecond, -1 })
	if _, err := x.Summarize(context.Background(), store.Scope{Tenant: "t"}, itemsOf("user: a")); !errors.Is(err, store.ErrUnavailable) {
		t.Error(err)
	}
}
