package demo_test

import (
	"errors"
	"os"
	"testing"

	"evoke"
	"evoke/cmd/internal/demo"
	"evoke/embed"
	"evoke/embed/modelstore"
	"evoke/extract/message"
	"evoke/recall"
)

func load(t *testing.T) *demo.Sample {
	t.Helper()
	s, err := demo.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSampleIsWhole(t *testing.T) {
	s := load(t)
	turns := map[string]bool{}
	var last int64
	for _, c := range s.Conversations {
		if c.Time.Unix() <= last {
			t.Errorf("%s is not later than the conversation before", c.Session)
		}
		last = c.Time.Unix()
		msgs, err := message.Parse(c.Messages, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.Session, err)
		}
		for _, m := range msgs {
			if m.ID == "" || turns[m.ID] {
				t.Errorf("%s: id %q is empty or used twice", c.Session, m.ID)
			}
			turns[m.ID] = true
		}
	}
	shown, languages := 0, map[string]int{}
	for _, q := range s.Questions {
		for _, id := range q.Expect {
			if !turns[id] {
				t.Errorf("%q expects %s, which does not exist", q.Query, id)
			}
		}
		if q.Shown && q.Open {
			t.Errorf("%q is shown and not found", q.Query)
		}
		if q.Shown {
			shown++
		}
		languages[q.Language]++
	}
	if shown != 8 || languages["en"] < 4 || languages["zh"] < 4 || languages["ja"] < 4 {
		t.Errorf("%d questions shown, languages %v", shown, languages)
	}
}

func open(t *testing.T, e embed.Embedder) *evoke.Memory {
	t.Helper()
	m, err := evoke.Open(t.Context(), &evoke.Options{Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// hits returns how many questions of the sample have their answer among the first three; asked says which are asked.
func hits(t *testing.T, m *evoke.Memory, s *demo.Sample, asked func(demo.Question) bool) (found, all int) {
	t.Helper()
	if _, err := s.Ingest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.Questions {
		if !asked(q) {
			continue
		}
		all++
		res, err := m.Recall(t.Context(), evoke.RecallRequest{Who: evoke.Who{User: s.User}, Request: recall.Request{Query: q.Query, Limit: 3}})
		if err != nil {
			t.Fatal(err)
		}
		ok := false
		for _, h := range res.Hits {
			ok = ok || q.Answers(h)
		}
		if ok {
			found++
			continue
		}
		t.Logf("missed: %s (expected %v)", q.Query, q.Expect)
		for _, h := range res.Hits {
			t.Logf("   %.3f %s %.60s", h.Score, h.Item.ID, h.Item.Content)
		}
	}
	return found, all
}

// crosses reports whether a question is in another language than its answer.
func crosses(q demo.Question) bool { return q.Expect[0][:2] != q.Language }

func TestWordsAloneFindAnswersInTheSameLanguage(t *testing.T) {
	found, all := hits(t, open(t, nil), load(t), func(q demo.Question) bool { return !crosses(q) && !q.Open })
	if found < all-1 {
		t.Errorf("%d of %d", found, all)
	}
}

func TestTheModelFindsEveryAnswer(t *testing.T) {
	models, err := modelstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := models.Open(t.Context(), "", nil)
	if errors.Is(err, modelstore.ErrNotInstalled) {
		t.Skipf("no model on this machine (%s): evoke model pull", os.Getenv(modelstore.EnvDir))
	}
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, e)
	if found, all := hits(t, m, load(t), func(q demo.Question) bool { return !q.Open }); found != all || all < 22 {
		t.Errorf("%d of %d within the first three", found, all)
	}
	found, all := hits(t, m, load(t), func(q demo.Question) bool { return q.Open })
	t.Logf("of the %d questions known to be hard, %d are found", all, found)
}

func TestTakingTheSampleInTwiceChangesNothing(t *testing.T) {
	s, m := load(t), open(t, nil)
	first, err := s.Ingest(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	before, err := m.Stats(t.Context(), evoke.Who{User: s.User})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Ingest(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	after, err := m.Stats(t.Context(), evoke.Who{User: s.User})
	if err != nil {
		t.Fatal(err)
	}
	if first.Turns != 40 || second.Turns != first.Turns || before.Total != after.Total {
		t.Errorf("turns %d then %d, items %d then %d", first.Turns, second.Turns, before.Total, after.Total)
	}
}
