package evoke

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/extract/rules"
	"evoke/store"
)

// The options' interim extractor takes the model's place when the gate says that the budget is spent.
func TestInterimOfTheOptions(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing(llmtest.Statement{Quote: "green tea", Content: "The user likes green tea"}))
	var spent atomic.Bool
	x, err := llm.New("m", &llm.Options{BaseURL: srv.URL, HTTPClient: srv.Client, Gate: func(context.Context, llm.Call) (func(extract.Usage), error) {
		if spent.Load() {
			return nil, fmt.Errorf("%w: nothing left today", store.ErrBudget)
		}
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, &Options{Extractor: x, Interim: rules.New(nil)})
	for thread, want := range map[string]string{"one": "llm/2/m", "two": "rules/"} {
		spent.Store(thread == "two")
		who := Who{User: "ada", Thread: thread}
		res, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I like green tea.", "I see.")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		ev, err := m.Event(t.Context(), res.EventID, 0)
		if err != nil || ev.State != store.EventStored || !strings.HasPrefix(ev.Extractor, want) {
			t.Errorf("%s: %+v, %v", thread, ev, err)
		}
	}
	if srv.Calls() != 1 {
		t.Errorf("%d calls", srv.Calls())
	}
}
