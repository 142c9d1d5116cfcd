// Package message reads conversations in the OpenAI chat format and brings what clients send, well formed or not, into
// one clean form: text repaired to valid UTF-8, parts joined, roles known, limits kept. What cannot be read is an error
// that names the message and the mend; nothing is dropped here.
package message

import (
	"fmt"
	"strings"
	"time"

	"evoke/store"
)

// Role is who speaks in a message.
type Role string

// The legal roles. Developer is system under its newer name, Function is tool under its older one.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	Function  Role = "function"
)

const legalRoles = "system, developer, user, assistant, tool or function"

func (r Role) known() bool {
	switch r {
	case System, Developer, User, Assistant, Tool, Function:
		return true
	}
	return false
}

// Message is one message of a conversation. A caller that builds it in Go sets Role and Content and, when it knows
// them, the rest; Clean checks and repairs it.
type Message struct {
	ID         string    `json:"id,omitempty"` // the caller's own id: makes sending it again harmless
	Role       Role      `json:"role"`
	Name       string    `json:"name,omitempty"` // of the speaker
	Content    string    `json:"content"`        // all text parts, joined by newlines
	Media      []Medium  `json:"media,omitempty"`
	ToolCalls  int       `json:"tool_calls,omitempty"` // how many tools it calls
	ToolCallID string    `json:"tool_call_id,omitempty"`
	Time       time.Time `json:"time,omitzero"`    // when it was said; zero: not known
	Hidden     bool      `json:"hidden,omitempty"` // meant for the model, not part of the visible conversation
}

// Medium is the kind of a part that is not text.
type Medium string

// The media. A part of a type that is none of these is an Attachment.
const (
	Image      Medium = "image"
	Audio      Medium = "audio"
	Video      Medium = "video"
	File       Medium = "file"
	Attachment Medium = "attachment"
)

// Options bound what is read. The zero value of a field means its default.
type Options struct {
	MaxMessages     int // messages in one call; default 10,000
	MaxMessageBytes int // text of one message; default 1 MiB, which is also what an item may hold
}

// The default limits.
const (
	DefaultMaxMessages     = 10_000
	DefaultMaxMessageBytes = 1 << 20
)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxMessages == 0 {
		c.MaxMessages = DefaultMaxMessages
	}
	if c.MaxMessageBytes == 0 {
		c.MaxMessageBytes = DefaultMaxMessageBytes
	}
	return c
}

func (o Options) validate() error {
	if o.MaxMessages < 0 {
		return store.Invalid("max_messages", "1 or more (0 for the default)", fmt.Sprint(o.MaxMessages))
	}
	if o.MaxMessageBytes < 0 {
		return store.Invalid("max_message_bytes", "1 or more (0 for the default)", fmt.Sprint(o.MaxMessageBytes))
	}
	return nil
}

// Clean returns repaired copies of the messages, or the first error: an unknown role, a name or id that is too long or
// holds control characters, a time outside the years 1 to 9999, a message or a conversation over its limit.
func Clean(msgs []Message, opts *Options) ([]Message, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if len(msgs) > o.MaxMessages {
		return nil, tooMany(o, len(msgs))
	}
	out := make([]Message, len(msgs))
	for i, m := range msgs {
		if err := m.clean(i, o); err != nil {
			return nil, err
		}
		out[i] = m
	}
	return out, nil
}

func tooMany(o Options, n int) error {
	return store.Invalid("messages", fmt.Sprintf("at most %d in one call (send the rest in further calls, or raise max_messages)", o.MaxMessages), fmt.Sprint(n))
}

func (m *Message) clean(i int, o Options) error {
	at := func(field string) string { return fmt.Sprintf("messages[%d].%s", i, field) }
	role := Role(strings.ToLower(store.CleanText(string(m.Role))))
	if !role.known() {
		if role == "" {
			return store.Invalid(at("role"), legalRoles, "nothing")
		}
		return store.Invalid(at("role"), legalRoles, short(string(role)))
	}
	m.Role = role
	m.ID, m.Name, m.ToolCallID = store.CleanText(m.ID), store.CleanText(m.Name), store.CleanText(m.ToolCallID)
	for _, f := range [...]struct{ field, v string }{{"id", m.ID}, {"name", m.Name}} {
		if err := store.ValidateName(at(f.field), f.v); err != nil {
			return err
		}
	}
	if len(m.Content) > o.MaxMessageBytes {
		return store.Invalid(at("content"), fmt.Sprintf("at most %d bytes (split it, or raise max_message_bytes)", o.MaxMessageBytes), fmt.Sprintf("%d bytes", len(m.Content)))
	}
	m.Content = store.CleanText(m.Content)
	if !m.Time.IsZero() {
		if m.Time = m.Time.Truncate(time.Microsecond); store.ZoneOf(m.Time) == "" {
			m.Time = m.Time.UTC()
		}
		if !store.Writable(m.Time) {
			return store.Invalid(at("time"), "in the years 1 to 9999", "")
		}
	}
	return nil
}

// short gives a safe form of a role for an error message.
func short(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
