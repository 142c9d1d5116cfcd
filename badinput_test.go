package evoke

import (
	"errors"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
	"math"
	"strings"
	"testing"
	"time"
)

func TestBadInput(t *testing.T) {
	m := open(t, nil)
	ctx, who := t.Context(), Who{User: "u", Thread: "t"}
	long := strings.Repeat("x", 1<<20+1)
	for name, call := range map[string]func() error{
		"blank content":    func() error { _, err := m.Remember(ctx, RememberRequest{Who: who, Content: " \x00\n"}); return err },
		"content too long": func() error { _, err := m.Remember(ctx, RememberRequest{Who: who, Content: long}); return err },
		"unknown kind": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Kind: "dream"})
			return err
		},
		"importance": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Importance: ptr(math.NaN())})
			return err
		},
		"year 0": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", ValidFrom: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)})
			return err
		},
		"end before start": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", ValidFrom: time.Now(), ValidTo: time.Now().Add(-time.Hour)})
			return err
		},
		"reserved metadata": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", Metadata: store.Metadata{"evoke_id": store.String("")}})
			return err
		},
		"negative limit": func() error { _, err := m.List(ctx, ListRequest{Who: who, Limit: -1}); return err },
		"recall limit": func() error {
			_, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "x", Limit: 5000}})
			return err
		},
		"min_score": func() error {
			_, err := m.Recall(ctx, RecallRequest{Who: who, Request: recall.Request{Query: "x", MinScore: ptr(1.5)}})
			return err
		},
		"budget":         func() error { _, err := m.Context(ctx, ContextRequest{Who: who, MaxTokens: ptr(-1)}); return err },
		"forget nothing": func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who}); return err },
		"forget empty":   func() error { _, err := m.Forget(ctx, ForgetRequest{Who: who, Filter: &store.Filter{}}); return err },
		"forget two ways": func() error {
			_, err := m.Forget(ctx, ForgetRequest{Who: who, All: true, IDs: []string{"a"}})
			return err
		},
		"no ids": func() error { _, err := m.Feedback(ctx, FeedbackRequest{Who: who}); return err },
		"key too long": func() error {
			_, err := m.Remember(ctx, RememberRequest{Who: who, Content: "x", IdempotencyKey: long})
			return err
		},
		"unknown role": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: []message.Message{{Role: "robot", Content: "x"}}})
			return err
		},
		"no thread": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: Who{User: "u"}, Messages: chat("x")})
			return err
		},
		"user with newlines": func() error {
			_, err := m.Ingest(ctx, IngestRequest{Who: Who{User: "a\nb", Thread: "t"}, Messages: chat("x")})
			return err
		},
	} {
		if err := call(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st, err := m.Stats(ctx, who); err != nil || st.Total != 0 {
		t.Errorf("nothing was kept of all that: %+v, %v", st, err)
	}
	if _, err := m.Event(ctx, "unknown", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown event: %v", err)
	}
	if _, err := Open(ctx, &Options{Memory: MemoryOptions{MaxFacts: 5}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("max_facts: %v", err)
	}
}
