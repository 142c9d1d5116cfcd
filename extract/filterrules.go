package extract

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"evoke/extract/message"
	"evoke/store"
)

// Rule is one reason not to keep a message, or a part of it.
type Rule struct {
	Name Reason
	// Drop looks at a draft, may shorten its content, and reports whether nothing of it is to be kept.
	Drop func(d *Draft) bool
}

// Draft is a message on its way to become a turn.
type Draft struct {
	Message message.Message
	Content string // as the rules before left it

	next follower
	opts *FilterOptions
}

// NewDraft is a message as the first rule finds it, with nothing behind it and no options: for trying a rule alone.
func NewDraft(m message.Message) *Draft {
	return &Draft{Message: m, Content: m.Content, opts: new(FilterOptions)}
}

// Rules returns the rules of Filter in the order in which they are applied: first those about the message, then those
// about its text.
func Rules() []Rule {
	return []Rule{
		{DropSystem, func(d *Draft) bool { return d.Message.Role == message.System || d.Message.Role == message.Developer }},
		{DropTool, func(d *Draft) bool { return isTool(&d.Message) && !d.opts.ToolSummaries }},
		{DropHidden, func(d *Draft) bool { return d.Message.Hidden }},
		{DropToolCall, func(d *Draft) bool { return fromAssistant(d) && d.Message.ToolCalls > 0 && d.Content == "" }},
		{DropIntermediate, isIntermediate},
		{DropInjected, shorten(func(d *Draft) string {
			if d.opts.StripInjected == nil {
				return d.Content
			}
			return d.opts.StripInjected(d.Content)
		})},
		{DropEcho, shorten(stripEchoes)},
		{DropUpload, shorten(func(d *Draft) string { return stripUploads(d.Content) })},
		{DropMention, shorten(func(d *Draft) string { return stripMentions(d.Content) })},
		{DropEmpty, func(d *Draft) bool { return d.Content == "" }},
	}
}

// checkRules refuses names that no rule has.
func checkRules(names []Reason) error {
	for _, n := range names {
		if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == n }) {
			return store.Invalid("filter rule", "the name of one", fmt.Sprintf("%.40q", n))
		}
	}
	return nil
}

// shorten makes a rule of what it leaves of a text. One that had none before is another rule's.
func shorten(left func(d *Draft) string) func(d *Draft) bool {
	return func(d *Draft) bool {
		if d.Content == "" {
			return false
		}
		d.Content = store.CleanText(left(d))
		return d.Content == ""
	}
}

func isTool(m *message.Message) bool { return m.Role == message.Tool || m.Role == message.Function }

func fromAssistant(d *Draft) bool { return d.Message.Role == message.Assistant }

func isIntermediate(d *Draft) bool {
	return fromAssistant(d) && (d.next == toolNext || d.Message.ToolCalls > 0 && d.next == assistantNext)
}

// summaryRunes is how long the summary of a tool's answer is at most.
const summaryRunes = 240

// summary is the beginning of a tool's answer on one line: its own words, cut at a blank where there is one near the end.
func summary(text string) string {
	const most = 4 * summaryRunes * utf8.UTFMax // blanks that are left out come on top
	if len(text) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) <= summaryRunes {
		return line
	}
	rs := []rune(line)[:summaryRunes-1]
	line = string(rs)
	if i := strings.LastIndexByte(line, ' '); i > len(line)*3/4 {
		line = line[:i]
	}
	return line + "…"
}
