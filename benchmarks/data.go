package benchmarks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Set is a labelled recall set. Items and Questions may reach an engine, Labels never.
type Set struct {
	Name       string
	Namespaces []Namespace
}

// Namespace is one memory of a set: its questions are answered from its items only.
type Namespace struct {
	Name      string
	Items     []Item
	Questions []Question
	Labels    []Label // of Questions, in their order
}

// Item is what is imported. Session is "" for an item that is not a chat turn.
type Item struct {
	ID      string
	Text    string
	Speaker string
	Kind    string
	Time    time.Time
	Session string
	Seq     int
	Chat    bool
}

// Question is what an engine is asked.
type Question struct {
	Text string
	Time time.Time // zero: the newest item's
}

// Label is what an answer is scored by.
type Label struct {
	ID       string
	Category string
	Relevant []string
	Stale    []string // what Relevant replaced, if anything
}

// Scored reports whether the question counts: it has evidence, and is none of those that ask for something never said.
func (l Label) Scored() bool {
	return len(l.Relevant) > 0 && l.Category != "adversarial" && l.Category != "abstention"
}

// Load reads one set's folder, or a folder of sets; only, when not empty, names the sets wanted. A set's files are
// <name>.items.jsonl[.gz] and <name>.queries.jsonl[.gz]; folders without them are passed over.
func Load(dir string, only []string) ([]Set, error) {
	dirs := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load sets: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	var sets []Set
	for _, d := range dirs {
		names, err := setNames(d)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if len(only) > 0 && !slices.Contains(only, name) {
				continue
			}
			s, err := loadSet(d, name)
			if err != nil {
				return nil, fmt.Errorf("load set %s: %w", name, err)
			}
			sets = append(sets, *s)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no set in %s: want files named <set>.items.jsonl.gz and <set>.queries.jsonl.gz", dir)
	}
	return sets, nil
}

func setNames(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.items.jsonl*"))
	if err != nil {
		return nil, fmt.Errorf("load sets: %w", err)
	}
	var names []string
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".items.jsonl")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

type rawItem struct {
	NS      string                     `json:"ns"`
	ID      string                     `json:"id"`
	Text    string                     `json:"text"`
	Speaker string                     `json:"speaker"`
	Time    *time.Time                 `json:"time"`
	Type    string                     `json:"type"`
	Meta    map[string]json.RawMessage `json:"meta"`
}

type rawQuery struct {
	NS       string     `json:"ns"`
	ID       string     `json:"id"`
	Query    string     `json:"query"`
	Time     *time.Time `json:"time"`
	Category string     `json:"category"`
	Relevant []string   `json:"relevant"`
	Stale    []string   `json:"stale"`
}

func loadSet(dir, name string) (*Set, error) {
	s := &Set{Name: name}
	at := map[string]int{}
	namespace := func(ns string) *Namespace {
		i, ok := at[ns]
		if !ok {
			i = len(s.Namespaces)
			at[ns] = i
			s.Namespaces = append(s.Namespaces, Namespace{Name: ns})
		}
		return &s.Namespaces[i]
	}
	known := map[string]map[string]bool{}
	err := eachLine(filepath.Join(dir, name+".items.jsonl"), func(b []byte) error {
		var r rawItem
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		ns := namespace(r.NS)
		ns.Items = append(ns.Items, r.item())
		if known[r.NS] == nil {
			known[r.NS] = map[string]bool{}
		}
		known[r.NS][r.ID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, name+".queries.jsonl"), func(b []byte) error {
		var r rawQuery
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		l := Label{ID: r.ID, Category: r.Category}
		for _, id := range r.Relevant {
			if known[r.NS][id] {
				l.Relevant = append(l.Relevant, id)
			}
		}
		for _, id := range r.Stale {
			if known[r.NS][id] {
				l.Stale = append(l.Stale, id)
			}
		}
		q := Question{Text: r.Query}
		if r.Time != nil {
			q.Time = *r.Time
		}
		ns := namespace(r.NS)
		ns.Questions, ns.Labels = append(ns.Questions, q), append(ns.Labels, l)
		return nil
	})
	return s, err
}

func (r *rawItem) item() Item {
	it := Item{ID: r.ID, Text: r.Text, Speaker: r.Speaker, Kind: r.Type}
	if r.Time != nil {
		it.Time = *r.Time
	}
	if seq, ok := r.Meta["seq"]; ok && json.Unmarshal(seq, &it.Seq) == nil {
		it.Chat = true
		it.Session = strings.Trim(string(r.Meta["session"]), `"`)
	}
	return it
}

// ImportLines is the namespace in the form that evoke.Memory.Import takes: id, text, type, speaker, time and place in
// the conversation, and nothing else of what the set holds.
func (n *Namespace) ImportLines() ([]byte, error) {
	type meta struct {
		Session string `json:"session"`
		Seq     int    `json:"seq"`
	}
	type line struct {
		ID      string    `json:"id"`
		Text    string    `json:"text"`
		Type    string    `json:"type,omitempty"`
		Speaker string    `json:"speaker,omitempty"`
		Time    time.Time `json:"time,omitzero"`
		Meta    *meta     `json:"meta,omitempty"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, it := range n.Items {
		l := line{ID: it.ID, Text: it.Text, Type: it.Kind, Speaker: it.Speaker, Time: it.Time}
		if it.Chat {
			l.Meta = &meta{it.Session, it.Seq}
		}
		if err := enc.Encode(l); err != nil {
			return nil, fmt.Errorf("encode item: %w", err)
		}
	}
	return b.Bytes(), nil
}

// newest is the time of the newest item; zero when none has one.
func (n *Namespace) newest() time.Time {
	var t time.Time
	for _, it := range n.Items {
		if it.Time.After(t) {
			t = it.Time
		}
	}
	return t
}

// eachLine calls f with every line of path, or of path.gz.
func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	zipped := errors.Is(err, fs.ErrNotExist)
	if zipped {
		file, err = os.Open(path + ".gz")
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var r io.Reader = file
	if zipped {
		z, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer z.Close()
		r = z
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		if err := f(sc.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return sc.Err()
}
