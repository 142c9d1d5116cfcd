package extract

import (
	"slices"
	"strings"

	"evoke/extract/message"
	"evoke/store"
)

// Reason says why a message did not become a turn: the name of the rule that dropped it, or what Ingest found.
type Reason string

// The reasons. Those down to DropEmpty are the names of rules, in the order in which Rules applies them.
const (
	DropSystem       Reason = "system"         // a system or developer message
	DropTool         Reason = "tool_result"    // what a tool answered
	DropHidden       Reason = "hidden"         // marked as not for the user
	DropToolCall     Reason = "tool_call"      // an assistant message that only calls tools
	DropIntermediate Reason = "intermediate"   // an assistant message before the turn's final one: tools run after it
	DropInjected     Reason = "injected"       // nothing but a memory block that Evoke rendered
	DropEcho         Reason = "echo"           // nothing but lines of such a block, whose items are stored
	DropUpload       Reason = "upload"         // nothing but upload blocks
	DropMention      Reason = "upload_mention" // nothing but words about a file handed over
	DropEmpty        Reason = "empty"          // no text

	DropStored   Reason = "already_stored"   // its id is stored with the same content
	DropRepeated Reason = "repeated_in_call" // its id came earlier in the same call with the same content
	DropErased   Reason = "erased"           // it was erased, and comes back by replay
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
	// Off names rules that are not applied. Messages without text are dropped all the same: an item needs some.
	Off []Reason
	// StripInjected cuts the memory blocks that Evoke itself put into a prompt out of a text. The façade passes the
	// function of the package that renders them; nil strips nothing.
	StripInjected func(string) string
	// FindEchoes finds what may be left of such blocks when their frame was lost: see Echo. nil finds nothing.
	FindEchoes func(string) []Echo
	// EchoKey is the key that the line of an item has in a block when it is not its content key; nil: always that.
	EchoKey func(*store.Item) string
	// Known are the content keys of stored items, which tell an echo from what merely looks like one. An Ingester
	// fills it for each call.
	Known map[string]bool
	// ToolSummaries keeps a line of what each tool answered, as a turn of role tool.
	ToolSummaries bool
}

// Filter chooses the turns of a conversation: what users said and what the assistant finally answered. Messages must
// be clean (message.Parse, message.Clean). Every message is either in turns or in dropped, once.
func Filter(msgs []message.Message, opts FilterOptions) (turns []Turn, dropped []Dropped) {
	rules := slices.DeleteFunc(Rules(), func(r Rule) bool { return slices.Contains(opts.Off, r.Name) })
	after := followers(msgs)
	for i := range msgs {
		d := Draft{Message: msgs[i], Content: msgs[i].Content, next: after[i], opts: &opts}
		if why := d.apply(rules); why != "" {
			dropped = append(dropped, Dropped{Index: i, Reason: why})
			continue
		}
		turns = append(turns, Turn{Index: i, Message: d.Message, Content: withMedia(d.Content, d.Message.Media)})
	}
	return turns, dropped
}

// apply runs the rules and returns why the message is dropped, or "".
func (d *Draft) apply(rules []Rule) Reason {
	for _, r := range rules {
		if r.Drop(d) {
			return r.Name
		}
	}
	if isTool(&d.Message) && d.opts.ToolSummaries {
		d.Message.Role, d.Content = message.Tool, summary(d.Content)
	}
	if d.Content == "" {
		return DropEmpty
	}
	return ""
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
		case isTool(&m):
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
