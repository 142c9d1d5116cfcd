package redact

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// called are words that say that a number is a telephone's.
var called = []string{"phone", "tel", "mobile", "cell", "call", "whatsapp", "fax", "text me", "sms", "wechat", "contact", "电话", "手机", "電話", "手機", "联系", "号码", "微信", "携帯", "전화", "telefon", "teléfono", "móvil", "handy", "dial", "reach me", "hotline"}

// counted are words that say that it is not.
var counted = []string{"order", "invoice", "tracking", "订单", "订单号", "单号", "运单", "快递", "id", "no.", "ref", "ticket", "isbn", "sku", "#", "编号", "serial", "account", "qq", "population", "version", "issue", "注文"}

// regions whose national forms are recognised, with what they look like: the first digits and how many there are.
var regions = []struct {
	code     string
	first    string
	min, max int
}{
	{"CN", "01", 10, 12},
	{"US", "23456789", 10, 10}, {"US", "1", 11, 11},
	{"GB", "0", 10, 11}, {"DE", "0", 9, 13}, {"FR", "0", 10, 10}, {"JP", "0", 10, 11}, {"KR", "0", 9, 11}, {"IT", "03", 9, 11},
	{"AU", "0", 10, 10}, {"IN", "6789", 10, 10}, {"BR", "123456789", 10, 11}, {"ES", "6789", 9, 9}, {"TW", "0", 9, 10},
	{"HK", "2356789", 8, 8}, {"SG", "3689", 8, 8}, {"RU", "8", 11, 11}, {"MX", "123456789", 10, 10}, {"NL", "0", 10, 10},
}

const maxPhone = 15 // digits, by E.164

// phoneAt says which bytes make a phone number that begins with the first group, and how many groups it takes.
func phoneAt(s string, gs []group) (start, end, n int) {
	start = gs[0].start
	left := byteAt(s, start-1)
	plus, paren := left == '+', left == '('
	if plus {
		start--
		if byteAt(s, start-1) == '(' {
			start--
		}
	} else if paren {
		start--
	}
	if c := byteAt(s, start-1); word(c) || strings.IndexByte(".,-/:+", c) >= 0 && digit(byteAt(s, start-2)) {
		return 0, 0, 0
	}
	if paren && byteAt(s, start-1) == '+' {
		start--
	}
	// The longest run of groups with the separators of phone numbers.
	digits, most := gs[0].len(), 1
	for most < len(gs) && most < 7 && digits+gs[most].len() <= maxPhone && phoneSep(s[gs[most-1].end:gs[most].start]) {
		digits += gs[most].len()
		most++
	}
	for n = most; n > 0; n-- {
		end = gs[n-1].end
		if closedPhone(s, end, n < most) && (plus || n == most || n > 1) && digits >= 7 && digits <= maxPhone && isPhone(s, start, end, gs[:n], digits, plus, n == most) {
			return start, end, n
		}
		digits -= gs[n-1].len()
	}
	return 0, 0, 0
}

func closedPhone(s string, end int, inner bool) bool {
	c, next := byteAt(s, end), byteAt(s, end+1)
	if word(c) {
		return false
	}
	return !digit(next) || c == ' ' || c == ',' && !inner || c == ';' || c >= 0x80
}

func phoneSep(sep string) bool {
	switch sep {
	case " ", "-", ".", ") ", ")", " (", "(", ") - ", "/", ")-", " - ", "‑", "–", "(0)", " (0) ":
		return true
	}
	return false
}

func isPhone(s string, start, end int, gs []group, digits int, plus, whole bool) bool {
	text := s[start:end]
	if plus {
		return digits >= 8 && valid(text, "ZZ")
	}
	first := s[gs[0].start:gs[0].end]
	if strings.HasPrefix(first, "00") && digits >= 10 && len(first) > 2 {
		return valid("+"+strings.TrimPrefix(text, "00"), "ZZ")
	}
	if looksDated(s, gs) {
		return false
	}
	head := before(s, start, 24)
	isCalled, isCounted := lastWord(head, called), lastWord(head, counted)
	if isCounted > isCalled {
		return false
	}
	// A Chinese mobile number is known by itself.
	if digits == 11 && first[0] == '1' && (len(gs) == 1 || len(gs) == 3 && len(first) == 3) && byteAt(first, 1) >= '3' {
		return valid(text, "CN")
	}
	formatted := len(gs) >= 2
	if !formatted && isCalled < 0 {
		return false
	}
	if formatted && isCalled < 0 && !national(s, gs, whole) {
		return false
	}
	for _, r := range regions {
		if digits >= r.min && digits <= r.max && strings.IndexByte(r.first, first[0]) >= 0 && valid(text, r.code) {
			return true
		}
	}
	return false
}

// national tells the ways in which numbers of several regions are written, when nothing calls them phone numbers.
func national(s string, gs []group, whole bool) bool {
	first := s[gs[0].start:gs[0].end]
	if s[gs[0].start-min(1, gs[0].start):gs[0].start] == "(" {
		return true
	}
	if first[0] == '0' && len(first) >= 2 && len(first) <= 5 {
		return true
	}
	n := len(gs)
	if n == 4 && first == "1" { // 1-212-555-0100
		gs, n = gs[1:], 3
	}
	return n == 3 && gs[0].len() == 3 && gs[1].len() == 3 && gs[2].len() == 4 || whole && n == 2 && !digit(byteAt(s, gs[0].start-2)) && gs[0].len() == 5 && gs[1].len() == 5
}

// looksDated tells a date from a number: a part is a year, or three short parts are day, month and year.
func looksDated(s string, gs []group) bool {
	if len(gs) < 2 {
		return false
	}
	for _, g := range gs {
		if g.len() == 4 && len(gs) <= 3 {
			y := s[g.start:g.end]
			short := 0
			for _, h := range gs {
				if h.len() <= 2 {
					short++
				}
			}
			if y >= "1900" && y <= "2099" && short >= len(gs)-1 {
				return true
			}
		}
	}
	return false
}

// lastWord is where the last of the words begins, -1 for none. A word of Latin letters is a word of its own.
func lastWord(head string, words []string) int {
	last := -1
	for _, w := range words {
		k := strings.LastIndex(head, w)
		if k > last && !(len(w) <= 3 && alnum(w[0]) && (alnum(byteAt(head, k-1)) || alnum(byteAt(head, k+len(w))))) {
			last = k
		}
	}
	return last
}

func valid(text, region string) bool {
	n, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsValidNumber(n)
}
