package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"evoke"
	"evoke/extract/message"
	"evoke/scoring"
	"evoke/store"
)

// Distiller is what an extraction run drives: the façade of an open memory.
type Distiller interface {
	Ingest(ctx context.Context, r evoke.IngestRequest) (evoke.IngestResult, error)
	Flush(ctx context.Context, w evoke.Who) (int, error)
	List(ctx context.Context, r evoke.ListRequest) (store.Page, error)
}

// Chat is a labelled conversation: what its user prefers is known, and never reaches an engine.
type Chat struct {
	Name     string // of the user
	Topic    string
	Messages []message.Message
	Label    string
}

// LoadChats reads <name>.conversations.jsonl[.gz] {ns, session, messages: [{role, content}]} and
// <name>.facts.jsonl[.gz] {ns, session, kind, text} of a folder of that name within dir, or of dir itself. It returns
// those conversations that one fact of kind preference belongs to; none when the files are not there.
func LoadChats(dir, name string) ([]Chat, error) {
	for _, d := range []string{filepath.Join(dir, name), dir} {
		chats, err := loadChats(d, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return chats, err
	}
	return nil, nil
}

func loadChats(dir, name string) ([]Chat, error) {
	type key struct{ ns, session string }
	labels := map[key][]string{}
	err := eachLine(filepath.Join(dir, name+".facts.jsonl"), func(b []byte) error {
		var r struct {
			NS, Session, Kind, Text string
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		if r.Kind == "preference" {
			labels[key{r.NS, r.Session}] = append(labels[key{r.NS, r.Session}], r.Text)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var chats []Chat
	err = eachLine(filepath.Join(dir, name+".conversations.jsonl"), func(b []byte) error {
		var r struct {
			NS, Session string
			Messages    []struct {
				Role    message.Role
				Content string
			}
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		l := labels[key{r.NS, r.Session}]
		if len(l) != 1 {
			return nil
		}
		c := Chat{Name: r.NS, Topic: r.Session, Label: l[0]}
		for _, m := range r.Messages {
			c.Messages = append(c.Messages, message.Message{Role: m.Role, Content: m.Content})
		}
		chats = append(chats, c)
		return nil
	})
	return chats, err
}

// What counts as finding a preference.
const (
	longestItem = 40  // words
	stemsHeld   = 0.4 // of the label's content stems
	mostItems   = 3   // items of a chat
)

// ChatResult is what a run over labelled chats found.
type ChatResult struct {
	Name      string
	N         int
	Found     Share // of the chats: one preference holds the label's stems, and the chat has few items
	Any       Share // the same, however many items the chat has
	Sentence  Share // of the chats: the best single sentence of the user does; what picking sentences could reach
	Facts     int
	Most      Share // of the chats: at most mostItems items
	PerChat   map[int]int
	Ungrounds int // items whose quote is not in the turn that they name
	Chats     []ChatItems
	Took      time.Duration // ingest, extraction and listing
}

// ChatItems is one chat's outcome, for reading by hand.
type ChatItems struct {
	Chat  string   `json:"chat"`
	Label string   `json:"label"`
	Found bool     `json:"found"`
	Items []string `json:"items"` // "category: content"
}

// Share is a part of a whole with its 95 % interval.
type Share struct {
	Mean     float64
	Interval Interval
}

func shareOf(x []float64) Share { return Share{mean(x), Bootstrap(x)} }

// RunChats ingests every chat into a memory of its own, flushes, and compares the facts with the label.
func RunChats(ctx context.Context, m Distiller, name string, chats []Chat) (*ChatResult, error) {
	r := &ChatResult{Name: name, N: len(chats), PerChat: map[int]int{}}
	began := time.Now()
	var found, anyOf, sentence, few []float64
	for i := range chats {
		c := &chats[i]
		facts, bad, err := distil(ctx, m, evoke.Who{User: fmt.Sprintf("%s/%d", name, i), Thread: "chat"}, c.Messages)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", c.Name, c.Topic, err)
		}
		r.Ungrounds += bad
		r.Facts += len(facts)
		r.PerChat[len(facts)]++
		hit := slices.ContainsFunc(facts, func(it store.Item) bool { return it.Category == store.Preference && Holds(it.Content, c.Label) })
		out := ChatItems{Chat: c.Name + "/" + c.Topic, Label: c.Label, Found: hit}
		for _, it := range facts {
			out.Items = append(out.Items, fmt.Sprintf("%s: %s", it.Category, it.Content))
		}
		r.Chats = append(r.Chats, out)
		anyOf, found = append(anyOf, one(hit)), append(found, one(hit && len(facts) <= mostItems))
		few, sentence = append(few, one(len(facts) <= mostItems)), append(sentence, one(c.sentence()))
	}
	r.Found, r.Any, r.Sentence, r.Most = shareOf(found), shareOf(anyOf), shareOf(sentence), shareOf(few)
	r.Took = time.Since(began)
	return r, nil
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Holds reports whether a text of at most 40 words holds at least 40 % of a label's content stems.
func Holds(text, label string) bool {
	if scoring.WordCount(text) > longestItem {
		return false
	}
	has := map[string]bool{}
	for _, t := range scoring.Tokens(text) {
		has[t] = true
	}
	stems := map[string]bool{}
	n := 0
	for _, t := range scoring.Tokens(label) {
		if !stems[t] && has[t] {
			n++
		}
		stems[t] = true
	}
	return len(stems) > 0 && float64(n) >= stemsHeld*float64(len(stems))
}

// sentence reports whether any one sentence of the user holds the label.
func (c *Chat) sentence() bool {
	for _, m := range c.Messages {
		if m.Role != message.User {
			continue
		}
		for _, s := range strings.FieldsFunc(m.Content, func(r rune) bool { return strings.ContainsRune(".!?\n", r) }) {
			if Holds(s, c.Label) {
				return true
			}
		}
	}
	return false
}

// distil ingests a conversation, waits for its facts and returns them, and how many of all of the memory's quote what is
// not in the turn they name.
func distil(ctx context.Context, m Distiller, w evoke.Who, ms []message.Message) ([]store.Item, int, error) {
	if _, err := m.Ingest(ctx, evoke.IngestRequest{Who: w, Messages: ms}); err != nil {
		return nil, 0, err
	}
	if _, err := m.Flush(ctx, w); err != nil {
		return nil, 0, err
	}
	items, err := listAll(ctx, m, evoke.Who{User: w.User})
	if err != nil {
		return nil, 0, err
	}
	facts, bad := grounded(items)
	return facts, bad, nil
}

func listAll(ctx context.Context, m Distiller, w evoke.Who) ([]store.Item, error) {
	r := evoke.ListRequest{Who: w, Order: store.ByID, Limit: 1000}
	var items []store.Item
	for {
		page, err := m.List(ctx, r)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == "" {
			return items, nil
		}
		r.Cursor = page.Next
	}
}

// grounded picks the facts of a memory and counts those whose quote no turn that they name holds.
func grounded(items []store.Item) (facts []store.Item, bad int) {
	turns := map[string]string{}
	for _, it := range items {
		if it.Kind == store.Episodic {
			turns[it.ID] = it.Content
		}
	}
	for _, it := range items {
		if it.Provenance.Extractor == "" {
			continue
		}
		facts = append(facts, it)
		quotes := func(id string) bool { return strings.Contains(turns[id], it.Provenance.Quote) }
		if it.Provenance.Quote == "" || !slices.ContainsFunc(it.Provenance.Turns, quotes) {
			bad++
		}
	}
	return facts, bad
}
