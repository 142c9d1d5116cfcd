package extract

import (
	"slices"
	"strings"

	"evoke/extract/message"
	"evoke/store"
)

// Reason says why a message did not become a turn.
type Reason string

// The reasons.
const (
	DropSystem       Reason = "system"           // a system or developer message
	DropTool         Reason = "tool_result"      // what a tool answered
	DropToolCall     Reason = "tool_call"        // an assistant message that only calls tools
	DropIntermediate Reason = "intermediate"     // an assistant message before the turn's final one: tools run after it
	DropHidden       Reason = "hidden"           // marked as not for the user
	DropUpload       Reason = "upload"           // nothing but upload blocks
	DropInjected     Reason = "injected"         // nothing but memory that Evoke put there
	DropEmpty        Reason = "empty"            // no text
	DropStored       Reason = "already_stored"   // its id is stored with the same content
	DropRepeated     Reason = "repeated_in_call" // its id came earlier in the same call with the same content
)

// Dropped is a message that was not kept.
type Dropped struct {
	Index  int    `json:"index"` // in the messages as given
	Reason Reason `json:"reason"`
}

// Turn is a message to keep, verbatim but for what was stripped.
type Turn struct {
	Index   int // in the messages as given
	Message message.Message
	Content string // never empty
}

// FilterOptions adapt Filter. The zero value is ready to use.
type FilterOptions struct {
	// StripInjected cuts the memory blocks that Evoke itself put into a prompt out of a text. The façade passes the
	// function of the package that renders them; nil strips nothing.
	StripInjected func(string) string
}

// Filter chooses the turns of a conversation: what users said and what the assistant finally answered. Messages must
// be clean (message.Parse, message.Clean). Every message is either in turns or in dropped, once.
func Filter(msgs []message.Message, opts FilterOptions) (turns []Turn, dropped []Dropped) {
	after := followers(msgs)
	for i := range msgs {
		content, why := keep(&msgs[i], after[i], opts)
		if why != "" {
			dropped = append(dropped, Dropped{Index: i, Reason: why})
			continue
		}
		turns = append(turns, Turn{Index: i, Message: msgs[i], Content: content})
	}
	return turns, dropped
}

// follower is the next message that tells whether an assistant message was final.
type follower uint8

const (
	nothing follower = iota
	userNext
	assistantNext
	toolNext
)

func followers(msgs []message.Message) []follower {
	out := make([]follower, len(msgs))
	next := nothing
	for i := len(msgs) - 1; i >= 0; i-- {
		out[i] = next
		switch m := msgs[i]; {
		case m.Role == message.Tool || m.Role == message.Function:
			next = toolNext
		case m.Hidden || m.Role == message.System || m.Role == message.Developer:
		case m.Role == message.User:
			next = userNext
		default:
			next = assistantNext
		}
	}
	return out
}

// keep returns a message's text, or why it is dropped.
func keep(m *message.Message, next follower, opts FilterOptions) (string, Reason) {
	switch m.Role {
	case message.System, message.Developer:
		return "", DropSystem
	case message.Tool, message.Function:
		return "", DropTool
	case message.User, message.Assistant:
	}
	switch {
	case m.Hidden:
		return "", DropHidden
	case m.Role == message.Assistant && m.ToolCalls > 0 && m.Content == "":
		return "", DropToolCall
	case m.Role == message.Assistant && (next == toolNext || m.ToolCalls > 0 && next == assistantNext):
		return "", DropIntermediate
	case m.Content == "":
		return "", DropEmpty
	}
	content := m.Content
	if opts.StripInjected != nil {
		if content = store.CleanText(opts.StripInjected(content)); content == "" {
			return "", DropInjected
		}
	}
	if content = store.CleanText(stripUploads(content)); content == "" {
		return "", DropUpload
	}
	return withMedia(content, m.Media), ""
}

// withMedia names what stood beside the text, so that "look at this" makes sense later.
func withMedia(content string, media []message.Medium) string {
	if len(media) == 0 {
		return content
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(media)))
	var b strings.Builder
	b.WriteString(content)
	for _, k := range kinds {
		if b.Len()+len(k)+3 > message.DefaultMaxMessageBytes {
			break // an item holds no more; the text matters, the note does not
		}
		b.WriteString("\n[" + string(k) + "]")
	}
	return b.String()
}
