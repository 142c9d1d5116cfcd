package qdrantstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// pointSpace is the namespace of point ids; it never changes.
var pointSpace = uuid.MustParse("6f1b3c1e-5f0a-5d43-9a4e-0e2c6b1d7a55")

// pointUUID is the id of an item's point. A scope's key ends where it says, so no two pairs share a name.
func pointUUID(sc store.Scope, id string) string {
	return uuid.NewSHA1(pointSpace, []byte(sc.Key()+id)).String()
}

func pointID(sc store.Scope, id string) *qdrant.PointId { return qdrant.NewIDUUID(pointUUID(sc, id)) }

func pointIDs(sc store.Scope, ids []string) []*qdrant.PointId {
	out := make([]*qdrant.PointId, len(ids))
	for i, id := range ids {
		out[i] = pointID(sc, id)
	}
	return out
}

// parseScope reads what Scope.Key wrote.
func parseScope(key string) (store.Scope, error) {
	var parts [3]string
	rest := key
	for i := range parts {
		head, tail, ok := strings.Cut(rest, ":")
		n, err := strconv.Atoi(head)
		if !ok || err != nil || n < 0 || n > len(tail) {
			return store.Scope{}, fmt.Errorf("%w: a stored scope cannot be read", store.ErrCorrupt)
		}
		parts[i], rest = tail[:n], tail[n:]
	}
	sc := store.Scope{Tenant: parts[0], User: parts[1], Agent: parts[2]}
	if rest != "" || sc.Key() != key {
		return store.Scope{}, fmt.Errorf("%w: a stored scope cannot be read", store.ErrCorrupt)
	}
	return sc, nil
}

// prepared is an item in stored form with all that is derived from it.
type prepared struct {
	scope   store.Scope
	item    store.Item
	textKey string
	doc     scoring.Doc
	json    string
	docText string
}

// prepare checks an item and brings it into stored form.
func prepare(sc store.Scope, it store.Item, l store.Limits) (*prepared, error) {
	if err := it.Prepare(l); err != nil {
		return nil, err
	}
	return newPrepared(sc, &it)
}

// newPrepared derives what is stored with an item. The item is taken from its JSON: what filters see is what comes back.
func newPrepared(sc store.Scope, it *store.Item) (*prepared, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(it); err != nil {
		return nil, fmt.Errorf("encode item: %w", err)
	}
	p := &prepared{scope: sc, json: strings.TrimSuffix(b.String(), "\n")}
	if err := json.Unmarshal(b.Bytes(), &p.item); err != nil {
		return nil, fmt.Errorf("encode item: %w", err)
	}
	p.textKey = p.item.TextKey()
	p.doc = scoring.NewDoc(p.item.Turn.Speaker, p.item.Content, p.item.Local())
	doc, err := p.doc.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("encode analysed text: %w", err)
	}
	p.docText = base64.RawStdEncoding.EncodeToString(doc)
	return p, nil
}

// bytes is about how large the point is on its way.
func (p *prepared) bytes() int { return len(p.json) + len(p.docText) + 24*len(p.doc.Date) + 4096 }

// point is the item's point without dense vectors.
func (p *prepared) point(m scoring.BM25) *qdrant.PointStruct {
	return &qdrant.PointStruct{Id: pointID(p.scope, p.item.ID), Payload: p.payload(),
		Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{lexicalVector: p.lexical(m)})}
}

func (p *prepared) lexical(m scoring.BM25) *qdrant.Vector {
	ws := p.doc.Weights(m)
	terms, weights := make([]uint32, len(ws)), make([]float32, len(ws))
	for i, w := range ws {
		terms[i], weights[i] = uint32(w.Term), w.Weight
	}
	return qdrant.NewVectorSparse(terms, weights)
}

func (p *prepared) payload() map[string]*qdrant.Value {
	it := &p.item
	text := qdrant.NewValueString
	m := map[string]*qdrant.Value{
		fieldScope: text(p.scope.Key()), fieldTenant: text(p.scope.Tenant), fieldID: text(it.ID), fieldItem: text(p.json), fieldDoc: text(p.docText),
		fieldTextKey: text(p.textKey), fieldKind: text(string(it.Kind)), fieldCategory: text(string(it.Category)), fieldThread: text(it.Turn.Thread),
		fieldSession: text(it.Turn.Session), fieldRole: text(it.Turn.Role), fieldSpeaker: text(it.Turn.Speaker), fieldContentKey: text(it.ContentKey),
		fieldSubject:    text(it.Provenance.Subject),
		fieldImportance: qdrant.NewValueDouble(it.Importance), fieldCurrent: qdrant.NewValueBool(it.Counted()),
		fieldMoment: text(timeText(moment(it))), fieldRank: qdrant.NewValueInt(rank(it)), fieldTie: qdrant.NewValueInt(tie(it.ID)),
		fieldSize: qdrant.NewValueInt(int64(len(it.Content))), fieldChunks: qdrant.NewValueInt(int64(max(len(p.doc.Chunks), 1))),
		fieldIDHead: qdrant.NewValueInt(idHead(it.ID)),
	}
	if it.OfTask() {
		m[fieldTask] = qdrant.NewValueBool(true)
	}
	if it.Provenance.Extractor != "" {
		m[fieldDistilled] = qdrant.NewValueBool(true)
	}
	if it.Turn.IsTurn() {
		m[fieldPosition] = qdrant.NewValueInt(int64(it.Turn.Position))
		m[fieldPlace] = qdrant.NewValueInt(place(p.scope, it.Turn.Session, it.Turn.Position))
	}
	for name, t := range map[string]time.Time{fieldValidFrom: it.ValidFrom, fieldValidTo: it.ValidTo, fieldRecordedAt: it.RecordedAt,
		fieldClosedAt: it.ClosedAt, fieldOver: it.Over(), fieldRetracted: it.RetractedAt, fieldExpires: it.ExpiresAt,
		fieldSummarized: it.Aside.SummarizedAt, fieldForgotten: it.Aside.ForgottenAt} {
		if !t.IsZero() {
			m[name] = text(timeText(t))
		}
	}
	own := p.doc.Terms()
	terms := make([]*qdrant.Value, len(own))
	for i, t := range own {
		terms[i] = qdrant.NewValueInt(int64(t.Term))
	}
	m[fieldTerms] = qdrant.NewValueFromList(terms...)
	entries, nums := metaEntries(it.Metadata)
	m[fieldMeta], m[fieldNums] = qdrant.NewValueFromList(entries...), qdrant.NewValueFromList(nums...)
	return m
}

// The times that a store may hold, as store.Item.Prepare checks them.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
)

// timeText is a time as the server indexes it. Any other form it would keep and silently not find.
func timeText(t time.Time) string {
	if t.Before(minTime) { // only an item that nobody dated
		t = minTime
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// moment orders the recent arm.
func moment(it *store.Item) time.Time {
	if it.ValidFrom.IsZero() {
		return it.RecordedAt
	}
	return it.ValidFrom
}

const (
	importanceSteps = 1<<24 - 1
	momentBits      = 39 // seconds from the year 1 to 9999
)

// rank is importance, to 24 bits, and then the moment, to seconds, in one number, so that one order of the server serves the
// important arm.
func rank(it *store.Item) int64 {
	seconds := max(moment(it).Unix()-minTime.Unix(), 0)
	return int64(math.Round(it.Importance*importanceSteps))<<momentBits | seconds
}

// tie is a hash of an item's id, not negative. It breaks ties the same way every time.
func tie(id string) int64 {
	sum := sha256.Sum256([]byte(id))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// place is a hash of a scope, a session and a position. Whoever looks one up compares the session and position found.
func place(sc store.Scope, session string, position int) int64 {
	sum := sha256.Sum256([]byte(sc.Key() + strconv.Itoa(position) + ":" + session))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// idHead is the first six bytes of an id as a number: it orders as the ids do, as far as it reaches, and a float64 holds it.
func idHead(id string) int64 {
	var b [8]byte
	copy(b[2:], id[:min(len(id), 6)])
	return int64(binary.BigEndian.Uint64(b[:]))
}

// metaEntries are metadata as the server finds it: a text for each value and member of a list, a pair for each number.
func metaEntries(m store.Metadata) (entries, nums []*qdrant.Value) {
	add := func(key string, v store.Value) { entries = append(entries, qdrant.NewValueString(metaEntry(key, v))) }
	for key, v := range m {
		add(key, v)
		for _, s := range v.Strings() {
			add(key, store.String(s))
		}
		if v.Kind() == store.NumberValue {
			nums = append(nums, qdrant.NewValueFromFields(map[string]*qdrant.Value{
				fieldNumKey: qdrant.NewValueString(metaKey(key)), fieldNumValue: qdrant.NewValueDouble(v.Num())}))
		}
	}
	return entries, nums
}

// metaEntry is key and value in one text. The key's length, the kind's letter and JSON for lists keep any two apart; what is
// long or no text is replaced by its hash, under a letter of its own.
func metaEntry(key string, v store.Value) string {
	kind, value := "", ""
	switch v.Kind() {
	case store.StringValue:
		kind, value = "s", v.Str()
	case store.NumberValue:
		kind, value = "n", number(v.Num())
	case store.BoolValue:
		kind, value = "b", strconv.FormatBool(v.IsTrue())
	case store.ListValue:
		kind, value = "l", listText(v.Strings())
	}
	if len(value) > 128 || !utf8.ValidString(value) {
		sum := sha256.Sum256([]byte(value))
		kind, value = strings.ToUpper(kind), base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return metaKey(key) + kind + value
}

func metaKey(key string) string {
	if !utf8.ValidString(key) { // no stored key is
		sum := sha256.Sum256([]byte(key))
		key = "\uFFFD" + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return strconv.Itoa(len(key)) + ":" + key
}

func number(f float64) string {
	if f == 0 {
		f = 0 // one zero, not two
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func listText(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	return b.String()
}

// itemOf reads the item of a payload.
func itemOf(payload map[string]*qdrant.Value) (store.Item, error) {
	var it store.Item
	if err := json.Unmarshal([]byte(payload[fieldItem].GetStringValue()), &it); err != nil {
		return it, fmt.Errorf("%w: a stored item cannot be read: %w", store.ErrCorrupt, err)
	}
	return it, nil
}

// docOf reads the analysed text of a payload. One that cannot be read is made of the item again.
func docOf(payload map[string]*qdrant.Value) (*scoring.Doc, error) {
	b, err := base64.RawStdEncoding.DecodeString(payload[fieldDoc].GetStringValue())
	if err == nil {
		var d scoring.Doc
		if d, err = scoring.UnmarshalDoc(b); err == nil {
			return &d, nil
		}
	}
	it, err := itemOf(payload)
	if err != nil {
		return nil, err
	}
	d := scoring.NewDoc(it.Turn.Speaker, it.Content, it.Local())
	return &d, nil
}
