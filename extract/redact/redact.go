// Package redact finds personal data and secrets in text and masks them before anything is stored or sent: e-mail
// addresses, phone numbers, payment cards, national ids, IBANs, IP addresses, keys and tokens of services, private keys
// and secrets. A number must pass its check digit or its numbering plan, so that dates, versions and orders stay.
//
// What it leaves, on purpose: UUIDs; hashes of 32, 40 or 64 hex digits that nothing names a secret (commits, digests);
// loopback addresses and net masks; four-part versions that are called so.
package redact

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"evoke/store"
)

// Mode is what happens to text in which something was found.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // nothing is looked for
	Mask   Mode = "mask"   // each find is replaced by its kind, such as [email]
	Reject Mode = "reject" // the text is refused
)

// The kinds that are found; those of Options.Patterns come on top.
const (
	Email      = "email"
	Phone      = "phone"
	Card       = "card"
	NationalID = "national_id"
	IBAN       = "iban"
	IP         = "ip"
	Token      = "token" // of a well-known service
	PrivateKey = "private_key"
	Secret     = "secret"
)

var kinds = []string{Email, Phone, Card, NationalID, IBAN, IP, Token, PrivateKey, Secret}

// Pattern is something else to find.
type Pattern struct {
	Name  string // 1–40 of a-z, 0-9 and _, beginning with a letter; the mask is [name]
	Match string // a regular expression (RE2) that never matches the empty text
}

// Options of New. The zero value is off.
type Options struct {
	Mode     Mode // "" is Off
	Patterns []Pattern
}

// ErrFound is wrapped, beside store.ErrInvalid, by the refusal of text under Reject.
var ErrFound = errors.New("the text holds what must not be kept")

type custom struct {
	name string
	re   *regexp.Regexp
}

// Redactor masks or refuses text. It may be used from several goroutines.
type Redactor struct {
	mode    Mode
	customs []custom
	masks   *regexp.Regexp // every mask that it writes
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// New checks the options.
func New(opts *Options) (*Redactor, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	r := &Redactor{mode: o.Mode}
	switch o.Mode {
	case "":
		r.mode = Off
	case Off, Mask, Reject:
	default:
		return nil, store.Invalid("redaction.mode", "off, mask or reject", string(o.Mode))
	}
	names := slices.Clone(kinds)
	for i, p := range o.Patterns {
		at := fmt.Sprintf("redaction.patterns[%d]", i)
		if !nameForm.MatchString(p.Name) {
			return nil, store.Invalid(at+".name", "1 to 40 of a-z, 0-9 and _, beginning with a letter", "")
		}
		re, err := regexp.Compile(p.Match)
		if err != nil {
			return nil, store.Invalid(at+".match", "a regular expression (RE2 syntax)", "")
		}
		if re.MatchString("") {
			return nil, store.Invalid(at+".match", "such that it does not match the empty text", "")
		}
		r.customs = append(r.customs, custom{p.Name, re})
		names = append(names, p.Name)
	}
	r.masks = regexp.MustCompile(`\[(?:` + strings.Join(names, "|") + `)\]`)
	return r, nil
}

// Mode is the mode in force.
func (r *Redactor) Mode() Mode { return r.mode }

// Patterns are those of the options.
func (r *Redactor) Patterns() []Pattern {
	list := make([]Pattern, len(r.customs))
	for i, c := range r.customs {
		list[i] = Pattern{Name: c.name, Match: c.re.String()}
	}
	return list
}

// MaskAll masks what Redact would mask, under Reject too; with Off it changes nothing.
func (r *Redactor) MaskAll(text string) (clean string, found map[string]int) {
	if r == nil || r.mode == Off {
		return text, nil
	}
	m := *r
	m.mode = Mask
	clean, found, _ = m.Redact(text)
	return clean, found
}

// rounds bounds how often text is looked at again: a mask may uncover a neighbour that was part of a longer word.
const rounds = 12

// Redact returns the text with every find masked and the number of finds by kind, nil for none. Text that was redacted
// once is left as it is. Under Reject a find is an error that wraps store.ErrInvalid and ErrFound and names the kinds,
// never the text.
func (r *Redactor) Redact(text string) (clean string, found map[string]int, err error) {
	if r == nil || r.mode == Off || text == "" {
		return text, nil, nil
	}
	for range rounds {
		out, n := r.round(text)
		if len(n) == 0 {
			break
		}
		if found == nil {
			found = map[string]int{}
		}
		for k, v := range n {
			found[k] += v
		}
		if r.mode == Reject {
			return "", found, fmt.Errorf("%w: %w: %s (take it out and send the rest)", store.ErrInvalid, ErrFound, strings.Join(slices.Sorted(maps.Keys(found)), ", "))
		}
		text = out
	}
	return text, found, nil
}

// round looks once at each stretch of text between masks.
func (r *Redactor) round(text string) (string, map[string]int) {
	var b strings.Builder
	found := map[string]int{}
	at := 0
	for _, m := range r.masks.FindAllStringIndex(text, -1) {
		r.stretch(&b, text[at:m[0]], found)
		b.WriteString(text[m[0]:m[1]])
		at = m[1]
	}
	r.stretch(&b, text[at:], found)
	return b.String(), found
}

// span is a find: bytes of the folded text.
type span struct {
	start, end int
	kind       string
	rank       int // of two that overlap the lower names the mask
}

func (r *Redactor) stretch(b *strings.Builder, text string, found map[string]int) {
	if text == "" {
		return
	}
	f := fold(text)
	spans := r.find(f.text)
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.rank - b.rank
	})
	at := 0
	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].start < s.end; i++ {
			s.end = max(s.end, spans[i].end)
			if spans[i].rank < s.rank {
				s.kind, s.rank = spans[i].kind, spans[i].rank
			}
		}
		from, to := f.original(s.start), f.original(s.end)
		b.WriteString(text[at:from])
		b.WriteString("[" + s.kind + "]")
		found[s.kind]++
		at = to
	}
	b.WriteString(text[at:])
}

func (r *Redactor) find(s string) []span {
	var all []span
	add := func(rank int, kind string, found [][2]int) {
		for _, f := range found {
			all = append(all, span{f[0], f[1], kind, rank})
		}
	}
	for _, c := range r.customs {
		for _, m := range c.re.FindAllStringIndex(s, -1) {
			if m[0] < m[1] {
				all = append(all, span{m[0], m[1], c.name, 0})
			}
		}
	}
	add(1, PrivateKey, privateKeys(s))
	add(2, Token, tokens(s))
	add(3, Secret, assigned(s))
	add(4, Email, emails(s))
	add(5, IBAN, ibans(s))
	n := numbers(s)
	add(6, Card, n.cards)
	add(7, NationalID, n.ids)
	add(8, IP, n.ips)
	add(8, IP, ipv6(s))
	add(9, Phone, n.phones)
	add(10, Secret, random(s))
	return all
}
