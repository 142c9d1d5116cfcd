package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"evoke/scoring"
	"evoke/store"
)

// HeldShare is how much of the content words of a source its summary holds at the least. A summary that holds less does not
// stand for it.
const HeldShare = 0.6

// quotedShare is how much of them a summary made of quotations holds: what is left out beyond that are courtesies.
const quotedShare = 0.8

// Held is the share of the content words (stems, see scoring.Tokens) of a text that a summary holds; 1 for a text without any.
func Held(summary, text string) float64 { return heldBy(scoring.Terms(summary), scoring.Terms(text)) }

func heldBy(have, want []scoring.TermFreq) float64 {
	if len(want) == 0 {
		return 1
	}
	n := 0
	for _, t := range want {
		if _, ok := slices.BinarySearchFunc(have, t.Term, func(f scoring.TermFreq, t scoring.Term) int { return cmp.Compare(f.Term, t) }); ok {
			n++
		}
	}
	return float64(n) / float64(len(want))
}

// Summarizer puts what items say in fewer words.
type Summarizer interface {
	// Name is what stands as Provenance.Extractor of its summaries.
	Name() string
	// Summarize returns a text, or "" when it has none that can be used. Errors: store.ErrUnavailable when it cannot be asked
	// now, and the context's.
	Summarize(ctx context.Context, sc store.Scope, items []store.Item) (string, error)
}

// Quotations is the Summarizer that invents nothing: a summary is sentences of the sources in their order, each under the
// name of whoever said it and, where there is more than one day, under its date.
type Quotations struct{}

// Name of the summarizer.
func (Quotations) Name() string { return "quotations/1" }

// Summarize leaves out the sentences that say least, for as long as enough of every item is held.
func (Quotations) Summarize(_ context.Context, _ store.Scope, items []store.Item) (string, error) {
	var all []*sentence
	wanted := make([]holder, len(items))
	for i := range items {
		wanted[i] = newHolder(items[i].Content)
		for _, s := range scoring.Sentences(items[i].Content) {
			all = append(all, &sentence{item: i, text: s, worth: worth(s), kept: true})
		}
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *sentence) int { return cmp.Compare(a.worth, b.worth) })
	for _, q := range order {
		q.kept = false
		have := newHolder(quote(items, all))
		q.kept = slices.ContainsFunc(wanted, func(want holder) bool {
			return heldBy(have.terms, want.terms) < quotedShare || !have.holdsValues(&want)
		})
	}
	return quote(items, all), nil
}

// sentence is one of an item.
type sentence struct {
	item  int
	text  string
	worth float64
	kept  bool
}

// worth is how much a sentence says: its content words, numbers and names above all; a question says less.
func worth(s string) float64 {
	const special, asking = 3, 2
	n := float64(len(scoring.Terms(s)))
	for i, w := range strings.Fields(s) {
		r, size := utf8.DecodeRuneInString(w)
		if unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) && size < len(w) {
			n += special
		}
	}
	if strings.ContainsAny(s, "?？") {
		n -= asking
	}
	return n
}

// quote joins the sentences that are kept. A day and a name stand where they change.
func quote(items []store.Item, all []*sentence) string {
	days := slices.ContainsFunc(items, func(it store.Item) bool { return it.Date() != items[0].Date() })
	var b strings.Builder
	last, speaker, day := -1, "", ""
	for _, q := range all {
		if !q.kept {
			continue
		}
		it := &items[q.item]
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if q.item != last {
			if d := it.Date(); days && d != day && d != "" {
				b.WriteString("[" + d + "] ")
				day, speaker = d, ""
			}
			if who := nameOf(it); who != speaker && who != "" {
				b.WriteString(who + ": ")
				speaker = who
			}
			last = q.item
		}
		b.WriteString(q.text)
	}
	return b.String()
}

func nameOf(it *store.Item) string { return cmp.Or(it.Turn.Speaker, it.Turn.Role) }

// names are those who speak in items, each once, in order.
func names(items []store.Item) []string {
	var out []string
	for i := range items {
		if who := nameOf(&items[i]); !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out
}

// Why a text is no summary of its sources.
var (
	ErrEmpty    = errors.New("the summary is empty")
	ErrLong     = errors.New("the summary is longer than its sources")
	ErrLanguage = errors.New("the summary is in another language than its sources")
	ErrThin     = errors.New("the summary holds too little of its sources")
)

// CheckSummary returns the items that a text can stand for, or why it is no summary of them. least is how many it needs.
func CheckSummary(text string, items []store.Item, least int) ([]store.Item, error) {
	if store.CleanText(text) == "" {
		return nil, ErrEmpty
	}
	var b strings.Builder
	for i := range items {
		b.WriteString("[" + items[i].Date() + "] " + nameOf(&items[i]) + ": " + items[i].Content + " ")
	}
	sources := b.String()
	if utf8.RuneCountInString(text) > utf8.RuneCountInString(sources) {
		return nil, ErrLong
	}
	if gap := hanShare(text) - hanShare(joined(items)); gap > languageGap || gap < -languageGap {
		return nil, ErrLanguage
	}
	have := newHolder(text)
	var held []store.Item
	for i := range items {
		if want := newHolder(items[i].Content); have.holds(&want) {
			held = append(held, items[i])
		}
	}
	if len(held) < least {
		return nil, ErrThin
	}
	return held, nil
}

func joined(items []store.Item) string {
	var b strings.Builder
	for i := range items {
		b.WriteString(items[i].Content)
	}
	return b.String()
}

// languageGap is how far the share of Chinese or Japanese letters may differ: names of another script are no other language.
const languageGap = 0.5

func hanShare(s string) float64 {
	han, all := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
				han++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(han) / float64(all)
}

// SummaryID is the id of the summary of items: the same as long as they and what they say are.
func SummaryID(items []store.Item, by string) string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = items[i].ID + "\x00" + items[i].TextKey()
	}
	slices.Sort(keys)
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("summary\x00"+by+"\x00"+strings.Join(keys, "\x01"))).String()
}

// NewSummary is the item that stands for sources: of their kind and place, dated as the first of them, as important as the
// most important. A summary of turns of one session stands in the place of the last of them.
func NewSummary(text string, sources []store.Item, extractor, op string, now time.Time) store.Item {
	first, last := &sources[0], &sources[len(sources)-1]
	it := store.Item{
		ID: SummaryID(sources, extractor), Kind: first.Kind, Category: first.Category, Content: text, Metadata: first.Metadata.Clone(),
		Confidence: 1, ValidFrom: first.ValidFrom, RecordedAt: now, ContentKey: store.ContentKey(first.Kind, text),
		Turn: store.Turn{Thread: first.Turn.Thread},
		Provenance: store.Provenance{
			Origin: store.SummaryOrigin, Extractor: extractor, Zone: first.Provenance.Zone, Precision: first.Provenance.Precision, Durability: first.Provenance.Durability, By: op,
		},
	}
	same := true
	var who []string
	for i := range sources {
		s := &sources[i]
		it.Importance, it.Confidence = max(it.Importance, s.Importance), min(it.Confidence, s.Confidence)
		it.Uses, it.Provenance.Turns = it.Uses+s.Uses, append(it.Provenance.Turns, s.ID)
		same = same && s.Turn.Session == first.Turn.Session
		if !scoring.GenericSpeaker(s.Turn.Speaker) && !slices.Contains(who, s.Turn.Speaker) {
			who = append(who, s.Turn.Speaker)
		}
		if s.LastUsed.After(it.LastUsed) {
			it.LastUsed = s.LastUsed
		}
	}
	it.Turn.Speaker = strings.Join(who, speakersBetween)
	if one := names(sources); len(one) == 1 {
		it.Turn.Speaker, it.Turn.Role = first.Turn.Speaker, first.Turn.Role
	}
	if same && first.Turn.IsTurn() {
		it.Turn.Session, it.Turn.Position = last.Turn.Session, last.Turn.Position
	}
	return it
}

const speakersBetween = ", "
