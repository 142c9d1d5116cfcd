package evoke

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// statement is a statement of the model: a value of a subject, the thread that it was said in, "" when somebody edited it, when
// it was said, which may be long before it was stored, and from when on it holds.
type statement struct {
	text, thread string
	said, from   time.Time
}

// line is what was said of one subject, what was said last on top. An undo changes it as a whole and remembers what it was: as long as
// nothing is said after it, undoing that operation brings back what it was.
type line struct {
	said []statement
	op   string      // the undo that made it what it is, "" when something was said since
	was  []statement // before that
}

func (l line) top() string {
	if len(l.said) == 0 {
		return ""
	}
	return l.said[len(l.said)-1].text
}

// at is what held at a moment: what was said last of what holds from then or earlier.
func (l line) at(valid time.Time) string {
	var held statement
	for _, s := range l.said {
		if !s.from.After(valid) {
			held = s
		}
	}
	return held.text
}

// model is a memory as simple as can be: the lines of now, and a copy of them for every moment of the past.
type model struct {
	now    map[string]line // by subject and number
	lines  int
	past   []pastView
	hidden map[string]string // subjects that are softly forgotten, and the batch
}

type pastView struct {
	at    time.Time
	lines map[string]line
}

// texts is what is seen of lines at a moment; the zero time: what holds.
func (m *model) texts(lines map[string]line, valid time.Time) []string {
	out := []string{}
	for name, l := range lines {
		subject, _, _ := strings.Cut(name, "#")
		text := l.top()
		if !valid.IsZero() {
			text = l.at(valid)
		}
		if text != "" && m.hidden[subject] == "" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

func (m *model) keep(at time.Time) { m.past = append(m.past, pastView{at, maps.Clone(m.now)}) }

// say adds a statement to the line of its subject that holds, or begins a new line. It is the value that holds unless another
// was said since; behind tells that one was.
func (m *model) say(subject string, s statement) (behind bool) {
	name := m.holder(subject, "")
	if name == "" {
		name = fmt.Sprintf("%s#%d", subject, m.lines)
		m.lines++
	}
	l := m.now[name]
	n, told := insert(l.said, s)
	if n < len(l.said) && l.op != "" { // the top is still what the undo made it
		_, was := insert(l.was, s)
		m.now[name] = line{told, l.op, was}
	} else {
		m.now[name] = line{said: told}
	}
	return n < len(l.said)
}

// insert puts a statement behind those that were said later.
func insert(said []statement, s statement) (n int, all []statement) {
	n = len(said)
	for n > 0 && said[n-1].said.After(s.said) {
		n--
	}
	return n, slices.Insert(slices.Clone(said), n, s)
}

// edit puts other words on top of a line that holds, which was said when it was.
func (m *model) edit(subject, text string, now time.Time) {
	name := m.holder(subject, "")
	said := m.now[name].said
	m.now[name] = line{said: append(slices.Clone(said), statement{text, "", said[len(said)-1].said, now})}
}

// holder is the line of the subject that holds, other than the one named; "" for none.
func (m *model) holder(subject, other string) string {
	for name, l := range m.now {
		if name != other && strings.HasPrefix(name, subject+"#") && l.top() != "" {
			return name
		}
	}
	return ""
}

// undoThread takes back what a thread said last of each subject.
func (m *model) undoThread(op, thread string) {
	for subject, l := range m.now {
		n := len(l.said)
		for n > 0 && l.said[n-1].thread == thread {
			n--
		}
		if n < len(l.said) {
			m.now[subject] = line{slices.Clone(l.said[:n]), op, l.said}
		}
	}
}

// undoOperation brings back what was before an undo, where nothing was said since; kept tells that a line stays away, as its
// subject has another value.
func (m *model) undoOperation(op, of string) (kept bool) {
	var back []string
	for name, l := range m.now {
		if l.op != of {
			continue
		}
		if was := (line{said: l.was}); was.top() != "" && l.top() == "" {
			back = append(back, name)
			continue
		}
		m.now[name] = line{l.was, op, l.said}
	}
	for _, name := range back { // what was gone comes back where nothing else holds by now
		subject, _, _ := strings.Cut(name, "#")
		if l := m.now[name]; m.holder(subject, name) == "" {
			m.now[name] = line{l.was, op, l.said}
		} else {
			kept = true
		}
	}
	return kept
}

// undoSince brings back the lines of a moment.
func (m *model) undoSince(op string, then map[string]line) {
	for subject, l := range m.now {
		old := then[subject]
		if nothing := len(old.said)+len(l.said) == 0; !nothing && (!slices.Equal(old.said, l.said) || old.op != l.op) {
			m.now[subject] = line{old.said, op, l.said}
		}
	}
}

// forget erases a subject, "" for all, from the present and the past.
func (m *model) forget(subject string) {
	of := func(name string, _ line) bool { return subject == "" || strings.HasPrefix(name, subject+"#") }
	maps.DeleteFunc(m.now, of)
	for _, p := range m.past {
		maps.DeleteFunc(p.lines, of)
	}
}
