package redact

import (
	"net/netip"
	"strings"
)

// group is a run of digits.
type group struct{ start, end int }

func (g group) len() int { return g.end - g.start }

// found are the finds among the digits of a text.
type found struct{ cards, ids, ips, phones [][2]int }

const longest = 19 // digits of a number that is looked at

func numbers(s string) found {
	var f found
	var gs []group
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			continue
		}
		start := i
		for i < len(s) && digit(s[i]) {
			i++
		}
		gs = append(gs, group{start, i})
	}
	for i := 0; i < len(gs); {
		if n, list := f.number(s, gs[i:]); n > 0 {
			*list = append(*list, [2]int{gs[i].start, gs[i+n-1].end})
			i += n
			continue
		}
		start, end, n := phoneAt(s, gs[i:])
		if n > 0 {
			f.phones = append(f.phones, [2]int{start, end})
			i += n
			continue
		}
		i++
	}
	f.extend(s)
	return f
}

// extend takes the X that ends a Chinese id.
func (f *found) extend(s string) {
	for i, r := range f.ids {
		if r[1]-r[0] == 17 {
			f.ids[i][1]++
		}
	}
}

// number says how many groups from the first on make a card, an id or an address, and which list they belong to.
func (f *found) number(s string, gs []group) (int, *[][2]int) {
	left := byteAt(s, gs[0].start-1)
	if word(left) || (left == '.' || left == ',') && digit(byteAt(s, gs[0].start-2)) {
		return 0, nil
	}
	if cnID(s, gs[0]) {
		return 1, &f.ids
	}
	if n := ssn(s, gs); n > 0 {
		return n, &f.ids
	}
	if n := card(s, gs); n > 0 {
		return n, &f.cards
	}
	if ipv4(s, gs) {
		return 4, &f.ips
	}
	return 0, nil
}

// closed reports whether nothing of a number follows a group.
func closed(s string, end int) bool {
	c, next := byteAt(s, end), byteAt(s, end+1)
	return !word(c) && !(strings.IndexByte(".,-", c) >= 0 && digit(next))
}

// cnID checks a resident identity number: region, date of birth, check digit.
func cnID(s string, g group) bool {
	if g.len() != 17 && g.len() != 18 {
		return false
	}
	id := s[g.start:g.end]
	end := g.end
	if g.len() == 17 {
		if c := byteAt(s, g.end); c != 'X' && c != 'x' {
			return false
		}
		end, id = end+1, id+"X"
	}
	if id[0] < '1' || id[0] > '9' || word(byteAt(s, end)) {
		return false
	}
	year, month, day := id[6:10], id[10:12], id[12:14]
	if year < "1800" || year > "2099" || month < "01" || month > "12" || day < "01" || day > "31" {
		return false
	}
	sum := 0
	for i, w := range [17]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += int(id[i]-'0') * w
	}
	return "10X98765432"[sum%11] == id[17]
}

// ssn takes 3-2-4 digits, or nine when they are called so.
func ssn(s string, gs []group) int {
	if gs[0].len() == 9 && closed(s, gs[0].end) {
		head := before(s, gs[0].start, 28)
		if (strings.Contains(head, "ssn") || strings.Contains(head, "social security")) && validSSN(s[gs[0].start:gs[0].end]) {
			return 1
		}
		return 0
	}
	if len(gs) < 3 || gs[0].len() != 3 || gs[1].len() != 2 || gs[2].len() != 4 || !closed(s, gs[2].end) {
		return 0
	}
	a, b := s[gs[0].end:gs[1].start], s[gs[1].end:gs[2].start]
	if a != b || a != "-" && a != " " || byteAt(s, gs[0].start-1) == '-' {
		return 0
	}
	if a == " " && !strings.Contains(before(s, gs[0].start, 28), "s") {
		return 0
	}
	if !validSSN(s[gs[0].start:gs[0].end] + s[gs[1].start:gs[1].end] + s[gs[2].start:gs[2].end]) {
		return 0
	}
	return 3
}

func validSSN(d string) bool {
	return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

// cardShapes are the ways in which card numbers are written in groups.
var cardShapes = [][]int{{4, 4, 4, 4}, {4, 6, 5}, {4, 4, 4, 4, 3}, {4, 6, 4}, {6, 13}, {4, 4, 4, 1}}

func card(s string, gs []group) int {
	if byteAt(s, gs[0].start-1) == '-' && word(byteAt(s, gs[0].start-2)) {
		return 0
	}
	if n := gs[0].len(); n >= 13 && n <= longest {
		if closed(s, gs[0].end) && issued(s[gs[0].start:gs[0].end]) {
			return 1
		}
		return 0
	}
shapes:
	for _, shape := range cardShapes {
		if len(gs) < len(shape) {
			continue
		}
		digits := make([]byte, 0, longest)
		for i, n := range shape {
			if gs[i].len() != n {
				continue shapes
			}
			if i > 0 {
				sep := s[gs[i-1].end:gs[i].start]
				if sep != " " && sep != "-" && sep != "." && sep != "  " {
					continue shapes
				}
			}
			digits = append(digits, s[gs[i].start:gs[i].end]...)
		}
		if !word(byteAt(s, gs[len(shape)-1].end)) && issued(string(digits)) {
			return len(shape)
		}
	}
	return 0
}

// issued checks the network's digits, its lengths and the check digit.
func issued(d string) bool {
	n := len(d)
	known := false
	switch {
	case d[0] == '4':
		known = n == 13 || n == 16 || n == 19
	case d[:2] >= "51" && d[:2] <= "55", d[:4] >= "2221" && d[:4] <= "2720":
		known = n == 16
	case d[:2] == "34", d[:2] == "37":
		known = n == 15
	case d[:2] == "62", d[:2] == "81":
		known = n >= 16
	case d[:2] == "35", d[:4] == "6011", d[:2] == "65", d[:3] >= "644" && d[:3] <= "649", d[:2] == "60":
		known = n >= 16
	case d[:2] == "36", d[:2] == "38", d[:2] == "39", d[:3] >= "300" && d[:3] <= "305":
		known = n >= 14 && n <= 16
	case d[:2] == "50", d[:2] >= "56" && d[:2] <= "58", d[:2] == "67", d[:2] == "63":
		known = n >= 13
	}
	return known && luhn(d)
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && strings.Trim(d, d[:1]) != ""
}

var versionWords = []string{"version", "ver", "ver.", "v", "版本", "release", "build", "firmware", "固件", "バージョン"}

// ipv4 takes four parts that nothing calls a version; loopback, the unspecified address and net masks stay.
func ipv4(s string, gs []group) bool {
	if len(gs) < 4 || !closed(s, gs[3].end) {
		return false
	}
	for i := 1; i < 4; i++ {
		if s[gs[i-1].end:gs[i].start] != "." {
			return false
		}
	}
	ip, err := netip.ParseAddr(s[gs[0].start:gs[3].end])
	if err != nil || ip.IsLoopback() || ip.IsUnspecified() || s[gs[0].start:gs[0].end] == "255" {
		return false
	}
	if at := gs[0].start; byteAt(s, at-1) == '/' && alnum(byteAt(s, at-2)) {
		return false // product/1.2.3.4
	}
	head := strings.TrimRight(before(s, gs[0].start, 24), " :=号为是")
	for _, w := range versionWords {
		if strings.HasSuffix(head, w) && (w[0] >= 0x80 || !alnum(byteAt(head, len(head)-len(w)-1))) {
			return false
		}
	}
	return true
}

func ipv6(s string) [][2]int {
	var out [][2]int
	for i := 0; i < len(s); {
		if !hex(s[i]) && s[i] != ':' {
			i++
			continue
		}
		start, colons, digits := i, 0, 0
		for i < len(s) && (hex(s[i]) || s[i] == ':' || s[i] == '.') {
			if s[i] == ':' {
				colons++
			}
			if digit(s[i]) {
				digits++
			}
			i++
		}
		end := i
		for end > start && s[end-1] == '.' {
			end--
		}
		if v := s[start:end]; strings.HasSuffix(v, ":") && !strings.HasSuffix(v, "::") {
			end--
		}
		if colons < 2 || digits == 0 || end-start > 45 || end-start < 5 || word(byteAt(s, start-1)) || word(byteAt(s, end)) {
			continue
		}
		if ip, err := netip.ParseAddr(s[start:end]); err == nil && ip.Is6() && !ip.IsLoopback() {
			out = append(out, [2]int{start, end})
		}
	}
	return out
}
