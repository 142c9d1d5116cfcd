package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"evoke/store"
)

// deerFile is DeerFlow's memory.json.
type deerFile struct {
	User struct {
		Work     deerSection `json:"workContext"`
		Personal deerSection `json:"personalContext"`
		TopOf    deerSection `json:"topOfMind"`
	} `json:"user"`
	History struct {
		Recent  deerSection `json:"recentMonths"`
		Earlier deerSection `json:"earlierContext"`
		Long    deerSection `json:"longTermBackground"`
	} `json:"history"`
	Facts []json.RawMessage `json:"facts"`
}

type deerSection struct {
	Summary   string `json:"summary"`
	UpdatedAt when   `json:"updatedAt"`
}

// deerFlow reads the sections as those of the profile, and the facts.
func (s *sink) deerFlow(r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, MaxEntry+1))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if len(b) > MaxEntry {
		return errLarge
	}
	var file deerFile
	if err := json.Unmarshal(b, &file); err != nil {
		return broken(decode(b, &file))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil || members["facts"] == nil && members["user"] == nil {
		return otherFormat()
	}
	for i, section := range []deerSection{file.User.Work, file.User.Personal, file.User.TopOf, file.History.Recent, file.History.Earlier, file.History.Long} {
		s.entry++
		if strings.TrimSpace(section.Summary) == "" {
			continue
		}
		key := store.ProfileKey(store.ProfileSections()[i])
		it := store.Item{
			ID: "deer-flow:" + key, Kind: store.Semantic, Content: section.Summary, Importance: 0.5, ContentKey: key,
			ValidFrom: section.UpdatedAt.Time, Provenance: store.Provenance{Origin: store.ProfileOrigin, Subject: key, Extractor: string(DeerFlow)},
		}
		if err := s.put(record{Item: it}); err != nil {
			return err
		}
	}
	for _, raw := range file.Facts {
		s.entry++
		if err := s.deerFact(raw); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) deerFact(raw []byte) error {
	var f struct {
		ID         string   `json:"id"`
		Content    string   `json:"content"`
		Category   string   `json:"category"`
		Confidence *float64 `json:"confidence"`
		CreatedAt  when     `json:"createdAt"`
		Source     string   `json:"source"`
	}
	if err := decode(raw, &f); err != nil {
		return s.bad(err)
	}
	it := store.Item{
		ID: id(DeerFlow, f.ID, f.Content), Kind: store.Semantic, Content: f.Content, Importance: 0.5, Confidence: 1,
		ValidFrom: f.CreatedAt.Time, RecordedAt: f.CreatedAt.Time, Provenance: store.Provenance{Extractor: string(DeerFlow)},
	}
	if f.Confidence != nil {
		it.Confidence = *f.Confidence
	}
	for _, c := range store.Categories() {
		if strings.EqualFold(string(c), f.Category) {
			it.Category = c
		}
	}
	md := store.Metadata{}
	if it.Category == "" && f.Category != "" {
		md["category"] = store.String(f.Category)
	}
	if f.Source != "" {
		md["source"] = store.String(f.Source) // the thread it was taken from
	}
	if len(md) > 0 {
		it.Metadata = md
	}
	return s.put(record{Item: it})
}

// registry reads JSON Lines.
func (s *sink) registry(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		b, err := lineOf(lines)
		s.entry++
		if errors.Is(err, errLarge) {
			if err := s.bad(errLarge); err != nil {
				return err
			}
			continue
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			if err := s.registryLine(b); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
}

// lineOf reads a line; one that is too large is read past.
func lineOf(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxEntry; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLarge
		}
		return line, err //nolint:wrapcheck // io.EOF as it is
	}
}

func (s *sink) registryLine(b []byte) error {
	var l struct {
		ID         string                     `json:"id"`
		Type       string                     `json:"type"`
		Content    string                     `json:"content"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
		CreatedAt  when                       `json:"created_at"`
		UpdatedAt  when                       `json:"updated_at"`
		Uses       int                        `json:"access_count"`
		Importance *float64                   `json:"importance"`
	}
	if err := decode(b, &l); err != nil {
		return s.bad(err)
	}
	it := store.Item{
		ID: id(Registry, l.ID, l.Content), Kind: store.Semantic, Content: l.Content, Metadata: metadata(l.Metadata), Importance: 0.5, Uses: l.Uses,
		ValidFrom: l.CreatedAt.Time, RecordedAt: l.CreatedAt.Time,
	}
	if l.Importance != nil {
		it.Importance = *l.Importance
	}
	if l.UpdatedAt.After(l.CreatedAt.Time) {
		it.ValidFrom = l.UpdatedAt.Time // what it says now holds since then
	}
	for _, k := range store.Kinds() {
		if strings.EqualFold(string(k), l.Type) {
			it.Kind = k
			return s.put(record{Item: it})
		}
	}
	if l.Type != "" {
		if it.Metadata == nil {
			it.Metadata = store.Metadata{}
		}
		it.Metadata["type"] = store.String(l.Type)
	}
	return s.put(record{Item: it})
}

func (s *sink) mem0(b json.RawMessage) error {
	var m struct {
		ID         string                     `json:"id"`
		Memory     string                     `json:"memory"`
		Text       string                     `json:"text"`
		Data       string                     `json:"data"`
		User       string                     `json:"user_id"`
		Agent      string                     `json:"agent_id"`
		Run        string                     `json:"run_id"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
		Categories []string                   `json:"categories"`
		CreatedAt  when                       `json:"created_at"`
		UpdatedAt  when                       `json:"updated_at"`
	}
	if err := decode(b, &m); err != nil {
		return s.bad(err)
	}
	for _, other := range []string{m.Text, m.Data} {
		if m.Memory == "" {
			m.Memory = other
		}
	}
	it := store.Item{
		ID: id(Mem0, m.ID, m.Memory), Kind: store.Semantic, Content: m.Memory, Metadata: metadata(m.Metadata), Importance: 0.5,
		ValidFrom: m.CreatedAt.Time, RecordedAt: m.CreatedAt.Time,
	}
	if m.UpdatedAt.After(m.CreatedAt.Time) {
		it.ValidFrom = m.UpdatedAt.Time
	}
	if it.Metadata == nil {
		it.Metadata = store.Metadata{}
	}
	if m.Run != "" {
		it.Metadata["run_id"] = store.String(m.Run)
	}
	if len(m.Categories) > 0 {
		it.Metadata["categories"] = store.List(m.Categories...)
	}
	if len(it.Metadata) == 0 {
		it.Metadata = nil
	}
	return s.put(record{Item: it, User: m.User, Agent: m.Agent})
}

// id is the entry's own under the name of its format; without one, its statement's.
func id(f Format, own, content string) string {
	if own == "" {
		own = store.ContentKey(store.Semantic, store.CleanText(content))
	}
	return string(f) + ":" + own
}
