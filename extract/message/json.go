package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"evoke/store"
)

// Parse reads a JSON array of messages in the OpenAI chat format, or an object that holds one under "messages".
//
// Beside the format's own fields it reads id, time (RFC 3339, or seconds since 1970) and the marks that clients use for
// hidden messages: hide_from_ui, hidden and internal, on the message or in its metadata or additional_kwargs. Broken
// UTF-8 and lone surrogates become U+FFFD, NUL is dropped, numbers and booleans stand for their text. Every error is a
// store.FieldError that names the message.
func Parse(data []byte, opts *Options) ([]Message, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	list, err := messageList(data)
	if err != nil {
		return nil, err
	}
	if len(list) > o.MaxMessages {
		return nil, tooMany(o, len(list))
	}
	out := make([]Message, len(list))
	for i, raw := range list {
		m, err := parseOne(i, raw)
		if err != nil {
			return nil, err
		}
		if err := m.clean(i, o); err != nil {
			return nil, err
		}
		out[i] = m
	}
	return out, nil
}

func messageList(data []byte) ([]json.RawMessage, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	const want = "a JSON list of messages"
	switch {
	case len(data) == 0:
		return nil, store.Invalid("messages", want, "nothing")
	case data[0] == '{':
		var body struct {
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(data, &body); err != nil {
			return nil, notJSON(err)
		}
		if data = bytes.TrimSpace(body.Messages); len(data) == 0 || data[0] != '[' {
			return nil, store.Invalid("messages", want, kindOf(data))
		}
	case data[0] != '[':
		return nil, store.Invalid("messages", want, kindOf(data))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, notJSON(err)
	}
	return list, nil
}

// notJSON keeps the place of a syntax error and leaves out the text around it, which is user content.
func notJSON(err error) error {
	var at string
	if s, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // encoding/json returns it unwrapped
		at = fmt.Sprintf("a syntax error at byte %d", s.Offset)
	}
	return store.Invalid("messages", "valid JSON", at)
}

// kindOf names the JSON kind of a value, for messages.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

type wire struct {
	ID               json.RawMessage `json:"id"`
	Role             json.RawMessage `json:"role"`
	Name             json.RawMessage `json:"name"`
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	Audio            json.RawMessage `json:"audio"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage `json:"function_call"`
	ToolCallID       json.RawMessage `json:"tool_call_id"`
	Time             json.RawMessage `json:"time"`
	HideFromUI       json.RawMessage `json:"hide_from_ui"`
	Hidden           json.RawMessage `json:"hidden"`
	Internal         json.RawMessage `json:"internal"`
	Metadata         json.RawMessage `json:"metadata"`
	AdditionalKwargs json.RawMessage `json:"additional_kwargs"`
}

func parseOne(i int, raw json.RawMessage) (Message, error) {
	at := func(field string) string { return fmt.Sprintf("messages[%d].%s", i, field) }
	if k := kindOf(raw); k != "an object" {
		return Message{}, store.Invalid(fmt.Sprintf("messages[%d]", i), "an object with role and content", k)
	}
	var w wire
	if err := json.Unmarshal(raw, &w); err != nil {
		return Message{}, store.Invalid(fmt.Sprintf("messages[%d]", i), "an object with role and content", "")
	}
	var m Message
	if k := kindOf(w.Role); k != "a string" {
		return m, store.Invalid(at("role"), legalRoles, k)
	}
	role, _ := scalar(w.Role)
	m.Role = Role(role)
	for _, f := range [...]struct {
		name string
		raw  json.RawMessage
		to   *string
	}{{"id", w.ID, &m.ID}, {"name", w.Name, &m.Name}, {"tool_call_id", w.ToolCallID, &m.ToolCallID}} {
		s, ok := scalar(f.raw)
		if !ok {
			return m, store.Invalid(at(f.name), "a string", kindOf(f.raw))
		}
		*f.to = s
	}
	var err error
	if m.Time, err = parseTime(at("time"), w.Time); err != nil {
		return m, err
	}
	m.ToolCalls = count(w.ToolCalls) + count(w.FunctionCall)
	m.Hidden = hidden(w)
	if err := m.readContent(at("content"), w); err != nil {
		return m, err
	}
	return m, nil
}

// readContent joins the text of all parts and notes the other ones.
func (m *Message) readContent(at string, w wire) error {
	texts, err := m.parts(at, w.Content)
	if err != nil {
		return err
	}
	if s, ok := scalar(w.Refusal); ok && s != "" {
		texts = append(texts, s)
	}
	if kindOf(w.Audio) == "an object" {
		var a struct {
			Transcript json.RawMessage `json:"transcript"`
		}
		if json.Unmarshal(w.Audio, &a) == nil {
			if s, ok := scalar(a.Transcript); ok && s != "" {
				texts = append(texts, s)
			}
		}
		m.Media = append(m.Media, Audio)
	}
	role := Role(strings.ToLower(strings.TrimSpace(string(m.Role))))
	if len(bytes.TrimSpace(w.Content)) == 0 && len(texts)+len(m.Media)+m.ToolCalls == 0 && (role == User || role == Assistant) {
		return store.Invalid(at, `given: a string, a list of parts, or null`, "nothing")
	}
	m.Content = strings.Join(texts, "\n")
	return nil
}

type wirePart struct {
	Type    json.RawMessage `json:"type"`
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

func (m *Message) parts(at string, raw json.RawMessage) ([]string, error) {
	switch kindOf(raw) {
	case "nothing", "null":
		return nil, nil
	case "a list":
	case "an object":
		s, err := m.part(at, raw)
		return nonEmpty(s), err
	default:
		s, _ := scalar(raw)
		return nonEmpty(s), nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, store.Invalid(at, "a string or a list of parts", "")
	}
	var texts []string
	for j, p := range list {
		s, err := m.part(fmt.Sprintf("%s[%d]", at, j), p)
		if err != nil {
			return nil, err
		}
		texts = append(texts, nonEmpty(s)...)
	}
	return texts, nil
}

// part returns a part's text, or notes its medium.
func (m *Message) part(at string, raw json.RawMessage) (string, error) {
	switch k := kindOf(raw); k {
	case "an object":
	case "a string":
		s, _ := scalar(raw)
		return s, nil
	case "null":
		return "", nil
	default:
		return "", store.Invalid(at, "a part: an object with a type", k)
	}
	var p wirePart
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", store.Invalid(at, "a part: an object with a type", "")
	}
	kind, ok := scalar(p.Type)
	if !ok {
		return "", store.Invalid(at+".type", "a string", kindOf(p.Type))
	}
	text := p.Text
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "text", "input_text", "output_text", "":
	case "refusal":
		text = p.Refusal
	case "thinking", "redacted_thinking", "reasoning":
		return "", nil
	case "tool_use", "tool_call":
		m.ToolCalls++
		return "", nil
	case "tool_result":
		return "", nil
	case "image_url", "image", "input_image":
		m.Media = append(m.Media, Image)
		return "", nil
	case "input_audio", "audio", "audio_url":
		m.Media = append(m.Media, Audio)
		return "", nil
	case "video_url", "video", "input_video":
		m.Media = append(m.Media, Video)
		return "", nil
	case "file", "input_file", "document":
		m.Media = append(m.Media, File)
		return "", nil
	default:
		m.Media = append(m.Media, Attachment)
		return "", nil
	}
	s, ok := scalar(text)
	if !ok {
		return "", store.Invalid(at+".text", "a string", kindOf(text))
	}
	return s, nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// scalar returns the text of a string, number or boolean; "" for null and for a missing value; false for lists and objects.
func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch kindOf(raw) {
	case "nothing", "null":
		return "", true
	case "a string":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", false
		}
		return s, true
	case "a number", "a boolean":
		return string(raw), true
	}
	return "", false
}

func parseTime(at string, raw json.RawMessage) (time.Time, error) {
	const want = "an RFC 3339 time with a zone, such as 2026-03-01T09:30:00Z (or seconds since 1970)"
	switch k := kindOf(raw); k {
	case "nothing", "null":
		return time.Time{}, nil
	case "a number":
		var f float64
		if err := json.Unmarshal(raw, &f); err != nil || math.Abs(f) > 253402300799 {
			return time.Time{}, store.Invalid(at, want, "a number out of range")
		}
		sec, frac := math.Modf(f)
		return time.Unix(int64(sec), int64(frac*1e9)).UTC(), nil
	case "a string":
		s, _ := scalar(raw)
		if s = strings.TrimSpace(s); s == "" {
			return time.Time{}, nil
		}
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return time.Time{}, store.Invalid(at, want, short(store.CleanText(s)))
		}
		return t, nil
	default:
		return time.Time{}, store.Invalid(at, want, k)
	}
}

// count returns the length of a list, or 1 for an object that is not empty.
func count(raw json.RawMessage) int {
	switch kindOf(raw) {
	case "a list":
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			return len(list)
		}
	case "an object":
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) == nil && len(fields) > 0 {
			return 1
		}
	}
	return 0
}

func hidden(w wire) bool {
	if truthy(w.HideFromUI) || truthy(w.Hidden) || truthy(w.Internal) {
		return true
	}
	for _, raw := range [...]json.RawMessage{w.Metadata, w.AdditionalKwargs} {
		if kindOf(raw) != "an object" {
			continue
		}
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		for _, key := range [...]string{"hide_from_ui", "hidden", "internal"} {
			if truthy(f[key]) {
				return true
			}
		}
	}
	return false
}

func truthy(raw json.RawMessage) bool {
	s, ok := scalar(raw)
	if !ok {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "false", "0", "no", "null":
		return false
	}
	return true
}
