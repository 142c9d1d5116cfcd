package evoke_test

import (
	"context"
	"fmt"
	"testing"

	"evoke"
	"evoke/extract/message"
	"evoke/recall"
)

// readme is the README's Go, line for line.
func readme(ctx context.Context) error {
	m, err := evoke.Open(ctx, &evoke.Options{Path: "memory"})
	if err != nil {
		return err
	}
	defer m.Close()

	who := evoke.Who{User: "ada", Thread: "trip"}
	_, err = m.Ingest(ctx, evoke.IngestRequest{Who: who, Messages: []message.Message{
		{Role: message.User, Content: "I prefer window seats on long flights."},
		{Role: message.Assistant, Content: "Noted: window seats."},
	}})
	if err != nil {
		return err // nothing was kept; when there is no error the turns are on disk
	}
	block, err := m.Context(ctx, evoke.ContextRequest{
		Who:     evoke.Who{User: "ada"},
		Request: recall.Request{Query: "book her flight: which seat?"},
	})
	if err != nil {
		return err
	}
	fmt.Println(block.Text) // goes into the prompt, never longer than the budget
	return nil
}

func TestReadmeGoRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := readme(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := evoke.Open(t.Context(), &evoke.Options{Path: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := m.Stats(t.Context(), evoke.Who{User: "ada"})
	if err != nil {
		t.Error(err)
	}
	if stats.Episodic != 2 {
		t.Errorf("%d turns after the README's example, want the 2 that were said", stats.Episodic)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
