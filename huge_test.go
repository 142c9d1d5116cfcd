package evoke

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

// ask returns whether the query's first five hits hold the text.
func ask(t *testing.T, m *Memory, w Who, query, text string) bool {
	t.Helper()
	res, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: query}})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(contents(res.Hits), text)
}

func TestMegabyteLineWithoutBlanksIsKeptWhole(t *testing.T) {
	oneByOne(t)
	m := open(t, nil)
	who := Who{User: "u", Thread: "t"}
	for _, unit := range []string{"a", "汉", "🙂", "\u202e"} {
		text := "begin " + strings.Repeat(unit, 1_000_000/len(unit)) + " finalmarker" + fmt.Sprint(len(unit))
		if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: []message.Message{{Role: message.User, Content: text}}}); err != nil {
			t.Fatalf("%q: %v", unit, err)
		}
		// One word of forty pieces is a small part of what the line says: it may stay below the default min_score.
		marker := "finalmarker" + fmt.Sprint(len(unit))
		res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: marker, MinScore: ptr(0.05)}})
		if err != nil || len(res.Hits) == 0 || !strings.HasSuffix(res.Hits[0].Item.Content, marker) {
			t.Errorf("%q: the end of a long line is not found first: %d hits, %v", unit, len(res.Hits), err)
		}
	}
}

func TestTenThousandMessagesInOneCall(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute under the race detector; it runs without -short")
	}
	m := open(t, &Options{Memory: MemoryOptions{Debounce: 300 * time.Second}})
	who := Who{User: "u", Thread: "t"}
	msgs := make([]message.Message, 10_000)
	for i := range msgs {
		msgs[i] = message.Message{Role: message.User, Content: fmt.Sprintf("entry number%d of the log", i)}
		if i%2 == 1 {
			msgs[i].Role = message.Assistant
		}
	}
	msgs[0].Content, msgs[4999].Content, msgs[9999].Content = "the heron nests at dawn", "a walrus plays chess", "the last word is marzipan"
	res, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: msgs})
	if err != nil || len(res.Turns) != 10_000 {
		t.Fatalf("%d turns, %v", len(res.Turns), err)
	}
	for query, text := range map[string]string{"where does the heron nest": "heron", "who plays chess": "walrus", "what is the last word": "marzipan"} {
		if !ask(t, m, who, query, text) {
			t.Errorf("%q is not answered", query)
		}
	}
	if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: append(msgs, msgs[0])}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("one message too many: %v", err)
	}
	if n, err := m.Flush(t.Context(), who); err != nil || n != 1 {
		t.Errorf("flush: %d, %v", n, err)
	}
}

func TestFiftyMegabytesAreRefusedWithoutBeingKept(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u", Thread: "t"}
	big := strings.Repeat("x ", 25_000_000)
	_, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: []message.Message{{Role: message.User, Content: big}}})
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "messages[0]") {
		t.Errorf("%v", err)
	}
	if _, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: big}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("query: %v", err)
	}
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	if held := int64(ms.HeapAlloc) - int64(len(big)); held > 200<<20 {
		t.Errorf("%d MB are held afterwards", held>>20)
	}
	if st, err := m.Stats(t.Context(), who); err != nil || st.Total != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestOddText(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u", Thread: "t"}
	for _, tc := range []struct{ in, out string }{
		{"x", "x"}, {"a\x00b", "ab"}, {"broken \xff\xfe tail", "broken \uFFFD tail"}, {"surrogate \xed\xa0\x80 tail", "surrogate \uFFFD tail"},
		{"\u202eright to left\u202c", "\u202eright to left\u202c"}, {"👩‍👩‍👧‍👦 family", "👩‍👩‍👧‍👦 family"}, {"  padded  ", "padded"},
	} {
		res, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: []message.Message{{Role: message.User, Content: tc.in}}})
		if err != nil || len(res.Turns) != 1 {
			t.Fatalf("%q: %+v, %v", tc.in, res, err)
		}
		it, err := m.Get(t.Context(), who, res.Turns[0].ID)
		if err != nil || it.Content != tc.out {
			t.Errorf("%q is kept as %q, want %q, %v", tc.in, it.Content, tc.out, err)
		}
	}
}
