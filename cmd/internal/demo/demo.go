// Package demo holds the sample conversation that ships with the project, in English, Chinese and Japanese, and shows
// the engine's main job on it.
package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"evoke"
	"evoke/extract/message"
	"evoke/recall"
)

//go:embed sample.json
var sample []byte

// Sample is the conversation and questions about it.
type Sample struct {
	User          string         `json:"user"`
	Conversations []Conversation `json:"conversations"`
	Questions     []Question     `json:"questions"`
}

// Conversation is one sitting.
type Conversation struct {
	Session  string          `json:"session"`
	Time     time.Time       `json:"time"`
	Messages json.RawMessage `json:"messages"`
}

// Question is a query with the turns that answer it.
type Question struct {
	Query    string   `json:"query"`
	Language string   `json:"language"`
	Expect   []string `json:"expect"` // one of them is enough
	Shown    bool     `json:"shown"`  // part of the demo; the rest are for the test alone
	Open     bool     `json:"open"`   // known not to be found reliably yet: counted, not required
}

// Load reads the sample.
func Load() (*Sample, error) {
	var s Sample
	if err := json.Unmarshal(sample, &s); err != nil {
		return nil, fmt.Errorf("sample conversation: %w", err)
	}
	return &s, nil
}

// Answers reports whether the item answers the question: it is one of the expected turns, or rests on one.
func (q *Question) Answers(h recall.Hit) bool {
	rests := func(id string) bool {
		return slices.ContainsFunc(q.Expect, func(e string) bool { return e == id })
	}
	return rests(h.Item.ID) || slices.ContainsFunc(h.Item.Provenance.Turns, rests)
}

// Ingested is what became of the sample.
type Ingested struct {
	Conversations int           `json:"conversations"`
	Turns         int           `json:"turns"`
	Facts         int           `json:"facts"`
	Ingest        time.Duration `json:"ingest_ns"`
	Settle        time.Duration `json:"settle_ns"` // facts and vectors
}

// Ingest takes the sample in, has facts distilled and waits for vectors. Doing it again on the same store changes
// nothing.
func (s *Sample) Ingest(ctx context.Context, m *evoke.Memory) (Ingested, error) {
	var in Ingested
	start := time.Now()
	for i, c := range s.Conversations {
		msgs, err := message.Parse(c.Messages, nil)
		if err != nil {
			return in, fmt.Errorf("sample conversation %s: %w", c.Session, err)
		}
		for j := range msgs { // a minute apart, as people type
			msgs[j].Time = c.Time.Add(time.Duration(j) * time.Minute)
		}
		res, err := m.Ingest(ctx, evoke.IngestRequest{
			Who: evoke.Who{User: s.User, Thread: c.Session}, Messages: msgs, IdempotencyKey: fmt.Sprintf("evoke-sample-%d", i),
		})
		if err != nil {
			return in, err
		}
		in.Conversations++
		in.Turns += len(res.Turns)
	}
	in.Ingest = time.Since(start)
	start = time.Now()
	if _, err := m.Flush(ctx, evoke.Who{User: s.User}); err != nil {
		return in, err
	}
	if err := m.Settle(ctx); err != nil {
		return in, err
	}
	in.Settle = time.Since(start)
	st, err := m.Stats(ctx, evoke.Who{User: s.User})
	in.Facts = st.Semantic + st.Procedural
	return in, err
}
