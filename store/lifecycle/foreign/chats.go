package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// conversation is what both services' exports come to.
type conversation struct {
	format Format
	id     string
	title  string
	turns  []turn
}

type turn struct {
	id, role, text string
	at             time.Time
}

// conversation yields the turns in their order. Turns without text leave no gap.
func (s *sink) conversation(c conversation) error {
	if c.id == "" {
		return s.bad(store.Invalid("id of the conversation", "given", ""))
	}
	thread := string(c.format) + ":" + c.id
	position := 0
	for _, t := range c.turns {
		if strings.TrimSpace(t.text) == "" {
			continue
		}
		if t.id == "" {
			t.id = fmt.Sprint("#", position)
		}
		it := store.Item{
			ID: thread + ":" + t.id, Kind: store.Episodic, Content: t.text, Importance: 0.5, ValidFrom: t.at, RecordedAt: t.at,
			Turn: store.Turn{Thread: thread, Session: thread, Position: position, Speaker: t.role, Role: t.role},
		}
		if c.title != "" {
			it.Metadata = store.Metadata{"title": store.String(c.title)}
		}
		position++
		if err := s.put(record{Item: it}); err != nil {
			return err
		}
	}
	return nil
}

type chatGPTConversation struct {
	ID       string                 `json:"conversation_id"`
	OtherID  string                 `json:"id"`
	Title    string                 `json:"title"`
	Created  when                   `json:"create_time"`
	Current  string                 `json:"current_node"`
	Messages map[string]chatGPTNode `json:"mapping"`
}

type chatGPTNode struct {
	Parent  string `json:"parent"`
	Message *struct {
		ID     string `json:"id"`
		Author struct {
			Role string `json:"role"`
		} `json:"author"`
		Created *when `json:"create_time"`
		Content struct {
			Type  string            `json:"content_type"`
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Metadata struct {
			Hidden bool `json:"is_visually_hidden_from_conversation"`
		} `json:"metadata"`
	} `json:"message"`
}

// chatGPT reads a conversation as its owner saw it last: from the current node up, with what was edited away left out.
func (s *sink) chatGPT(b json.RawMessage) error {
	var c chatGPTConversation
	if err := decode(b, &c); err != nil {
		return s.bad(err)
	}
	if c.ID == "" {
		c.ID = c.OtherID
	}
	if c.Messages == nil {
		return s.bad(store.Invalid("mapping", "the messages of the conversation", ""))
	}
	out := conversation{format: ChatGPT, id: c.ID, title: c.Title}
	seen := map[string]bool{}
	for at := c.Current; at != "" && !seen[at]; at = c.Messages[at].Parent {
		seen[at] = true
		m := c.Messages[at].Message
		if m == nil || m.Metadata.Hidden || m.Author.Role != "user" && m.Author.Role != "assistant" {
			continue
		}
		if m.Content.Type != "text" && m.Content.Type != "multimodal_text" {
			continue // code that was run, thoughts, browsing
		}
		t := turn{id: m.ID, role: m.Author.Role, at: c.Created.Time, text: joined(m.Content.Parts)}
		if m.Created != nil && !m.Created.IsZero() {
			t.at = m.Created.Time
		}
		out.turns = append(out.turns, t)
	}
	slices.Reverse(out.turns)
	return s.conversation(out)
}

// joined is the text among a message's parts; pictures and files are no text.
func joined(parts []json.RawMessage) string {
	var texts []string
	for _, p := range parts {
		var text string
		if json.Unmarshal(p, &text) == nil && text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// claude reads a conversation. A message's text is that of its content blocks; older exports have the text alone.
func (s *sink) claude(b json.RawMessage) error {
	var c struct {
		ID       string `json:"uuid"`
		Name     string `json:"name"`
		Created  when   `json:"created_at"`
		Messages []struct {
			ID      string `json:"uuid"`
			Sender  string `json:"sender"`
			Text    string `json:"text"`
			Created when   `json:"created_at"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"chat_messages"`
	}
	if err := decode(b, &c); err != nil {
		return s.bad(err)
	}
	out := conversation{format: Claude, id: c.ID, title: c.Name}
	for _, m := range c.Messages {
		var texts []string
		for _, block := range m.Content {
			if block.Type == "text" && block.Text != "" {
				texts = append(texts, block.Text)
			}
		}
		t := turn{id: m.ID, role: map[string]string{"human": "user", "assistant": "assistant"}[m.Sender], text: m.Text, at: m.Created.Time}
		if len(texts) > 0 {
			t.text = strings.Join(texts, "\n")
		}
		if t.at.IsZero() {
			t.at = c.Created.Time
		}
		if t.role != "" {
			out.turns = append(out.turns, t)
		}
	}
	return s.conversation(out)
}
