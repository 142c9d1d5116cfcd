package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

// eachInput opens the files, or standard input, one after the other, with a progress bar where sizes are known.
func (a *app) eachInput(args []string, what string, f func(io.Reader) error) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, name := range args {
		if err := a.oneInput(name, what, f); err != nil {
			if name != "-" {
				return fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	return nil
}

func (a *app) oneInput(name, what string, f func(io.Reader) error) error {
	if name == "-" {
		if isTerminal(a.process.In) {
			a.note("reading standard input; end it with ctrl-D")
		}
		return f(a.process.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	defer file.Close()
	size := int64(-1)
	if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
		size = st.Size()
	} else if err == nil && st.IsDir() {
		return store.Invalid("file", "a file, or - for standard input", "a directory")
	}
	bar := a.bar(size, what)
	defer bar.Finish() //nolint:errcheck // nothing can be done about a bar that is not drawn
	return f(io.TeeReader(file, bar))
}

// conversation is a run of messages of one thread, as a file gave it.
type conversation struct {
	User     string
	Agent    string
	Thread   string
	Messages []message.Message
}

// conversationLine is an object that holds a conversation: {"messages": […]} with, optionally, whose and which it is.
type conversationLine struct {
	Role     json.RawMessage `json:"role"`
	Messages json.RawMessage `json:"messages"`
	User     string          `json:"user"`
	NS       string          `json:"ns"`
	Agent    string          `json:"agent"`
	Thread   string          `json:"thread"`
	Session  string          `json:"session"`
	Time     time.Time       `json:"time"`
}

// inputBatch is how many single messages are handed on together. A batch ends a message list, never a message.
const inputBatch = 500

// maxValue is the longest JSON value that is read into memory.
const maxValue = 256 << 20

// readConversations reads any mixture of: a JSON array of messages, {"messages": […]} objects, and messages one after
// the other (JSON Lines). It hands conversations on as they are complete, so that long files need little memory.
func readConversations(in io.Reader, each func(conversation) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	if b, err := r.Peek(3); err == nil && bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		r.Discard(3) //nolint:errcheck // peeked
	}
	counted := &meter{r: r}
	dec := json.NewDecoder(counted)
	var loose []json.RawMessage
	flush := func() error {
		if len(loose) == 0 {
			return nil
		}
		msgs, err := parseLoose(loose)
		loose = nil
		if err != nil {
			return err
		}
		return each(conversation{Messages: msgs})
	}
	for n := 1; ; n++ {
		counted.left = maxValue
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			if n == 1 {
				return store.Invalid("input", "a conversation: a JSON list of messages, {\"messages\": […]}, or one message a line", "nothing")
			}
			return flush()
		}
		if err != nil {
			return valueError(n, err)
		}
		c, single, err := oneValue(raw)
		if err != nil {
			return fmt.Errorf("value %d: %w", n, err)
		}
		if single {
			if loose = append(loose, raw); len(loose) == inputBatch {
				if err := flush(); err != nil {
					return err
				}
			}
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := each(c); err != nil {
			return err
		}
	}
}

// oneValue reads a list or a conversation object; single is true for a message, which the caller gathers.
func oneValue(raw json.RawMessage) (c conversation, single bool, err error) {
	if raw[0] == '[' {
		c.Messages, err = message.Parse(raw, nil)
		return c, false, err
	}
	if raw[0] != '{' {
		return c, false, store.Invalid("input", "a list of messages, {\"messages\": […]} or a message", "")
	}
	var l conversationLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return c, false, lineFault(err)
	}
	if l.Messages == nil {
		if l.Role == nil {
			return c, false, store.Invalid("input", "a message with role and content, or {\"messages\": […]}", "an object with neither")
		}
		return c, true, nil
	}
	c = conversation{User: first(l.User, l.NS), Agent: l.Agent, Thread: first(l.Thread, l.Session)}
	if c.Messages, err = message.Parse(l.Messages, nil); err != nil {
		return c, false, err
	}
	for i := range c.Messages {
		if c.Messages[i].Time.IsZero() {
			c.Messages[i].Time = l.Time
		}
	}
	return c, false, nil
}

func parseLoose(raws []json.RawMessage) ([]message.Message, error) {
	list, err := json.Marshal(raws)
	if err != nil {
		return nil, err
	}
	return message.Parse(list, nil)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// valueError says where the input stops being JSON, without repeating it.
func valueError(n int, err error) error {
	at := fmt.Sprintf("value %d of the input", n)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return store.Invalid(at, "JSON: a list of messages, {\"messages\": […]}, or one message a line", "")
	case errors.Is(err, errTooLong):
		return store.Invalid(at, fmt.Sprintf("at most %d bytes long (write one message a line)", maxValue), "")
	}
	return fmt.Errorf("read input: %w", err)
}

func lineFault(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return store.Invalid(t.Field, "of another JSON type", "a JSON "+t.Value)
	}
	return store.Invalid("time", "RFC 3339, such as 2026-01-31T09:30:00Z", "")
}

var errTooLong = errors.New("value too long")

// meter bounds how much is read for one value.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLong
	}
	if len(p) > m.left {
		p = p[:m.left]
	}
	n, err := m.r.Read(p)
	m.left -= n
	return n, err
}
