package llm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests of this package speak of the service in short.
type (
	request = llmtest.Request
	line    = llmtest.Line
	service = llmtest.Service
)

var (
	say    = llmtest.Say
	finish = llmtest.Finish
	always = llmtest.Always
	fail   = llmtest.Fail
	fact   = llmtest.Fact
	answer = llmtest.Answer
)

const secretKey = "sk-very-secret"

// open starts the service and an extractor that asks it.
func open(t testing.TB, reply llmtest.Reply, change func(o *llm.Options)) (*llm.Extractor, *service) {
	t.Helper()
	s := llmtest.Start(t, reply)
	o := llm.Options{BaseURL: s.URL + "/", APIKey: secretKey, HTTPClient: s.Client, Pause: time.Millisecond, Timeout: 10 * time.Second}
	if change != nil {
		change(&o)
	}
	x, err := llm.New("test-model", &o)
	if err != nil {
		t.Fatal(err)
	}
	return x, s
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// turns makes a conversation: "user: I like tea", "assistant: Noted", "Ann: …".
func turns(lines ...string) []store.Item {
	var out []store.Item
	for i, l := range lines {
		speaker, text, _ := strings.Cut(l, ": ")
		role := "user"
		if speaker == "assistant" || strings.HasPrefix(speaker, "*") {
			role = "assistant"
		}
		out = append(out, store.Item{
			ID: fmt.Sprintf("turn-%d", i), Kind: store.Episodic, Content: text, ValidFrom: noon.Add(time.Duration(i) * time.Minute),
			Turn: store.Turn{Thread: "th", Session: "th", Position: i, Speaker: strings.TrimPrefix(speaker, "*"), Role: role},
		})
	}
	return out
}

func batch(lines ...string) extract.Batch {
	return extract.Batch{Scope: store.Scope{Tenant: "acme", User: "ann"}, Thread: "th", Turns: turns(lines...), Now: noon.Add(time.Hour)}
}

func run(t testing.TB, x *llm.Extractor, b extract.Batch) extract.Report {
	t.Helper()
	rep, err := x.Report(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func contents(ops []extract.Operation) string {
	var out []string
	for _, o := range ops {
		out = append(out, o.Content)
	}
	return strings.Join(out, "; ")
}

func reasons(rs []extract.Rejected) string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Reason)
	}
	return strings.Join(out, " ")
}
