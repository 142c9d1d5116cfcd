package llm_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/store"
)

// A model is asked about a conversation. Of its answer, what rests on the turns is kept.
func Example() {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		say(w, "Here you are:\n"+answer(
			fact("t1", "moved to Oslo", "The user lives in Oslo", "subject", "home"),
			fact("t1", "own a yacht", "The user owns a yacht"),
		))
	}))
	defer model.Close()
	defer model.Client().CloseIdleConnections()
	x, err := llm.New("some-model", &llm.Options{BaseURL: model.URL, HTTPClient: model.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := store.Item{ID: "m1", Kind: store.Episodic, Content: "I moved to Oslo.", ValidFrom: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Turn: store.Turn{Thread: "t", Session: "t", Role: "user", Speaker: "user"}}
	rep, err := x.Report(context.Background(), extract.Batch{Thread: "t", Turns: []store.Item{said}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range rep.Operations {
		fmt.Printf("%s: %s (%q)\n", op.Action, op.Content, op.Quote)
	}
	for _, r := range rep.Rejected {
		fmt.Printf("%s: %s\n", r.Reason, r.Operation.Content)
	}
	// Output:
	// add: The user lives in Oslo ("moved to Oslo")
	// ungrounded: The user owns a yacht
}
