package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spelled are letters of the scripts that put blanks between words: an address may hold them and is not glued to them.
func spelled(r rune) bool {
	return r < 0x80 && alnum(byte(r)) || r >= 0x80 && unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) && r < 0xff00
}

func emails(s string) [][2]int {
	var out [][2]int
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '@')
		if n < 0 {
			return out
		}
		at := i + n
		i = at + 1
		start := localStart(s, at)
		end := domainEnd(s, at+1)
		if start == at || end == 0 || s[at-1] == '.' && start == at-1 {
			continue
		}
		if inURL(s, start) || s[start:at] == "git" && byteAt(s, end) == ':' {
			continue
		}
		out = append(out, [2]int{start, end})
	}
}

func localStart(s string, at int) int {
	start := at
	for start > 0 && at-start < 64 {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		if !spelled(r) && !strings.ContainsRune(".!#$%&'*+=?^_{|}~-", r) {
			break
		}
		start -= size
	}
	for start < at && strings.IndexByte(".!#$%&'*+=?^{|}~-", s[start]) >= 0 { // of the sentence, not of the address
		start++
	}
	if k := strings.LastIndexAny(s[start:at], "=?&"); k >= 0 { // a query in an address of a page
		start += k + 1
	}
	return start
}

// notDomains are endings of files and of code that look like the end of a domain.
var notDomains = map[string]bool{"png": true, "jpg": true, "jpeg": true, "gif": true, "svg": true, "webp": true, "js": true, "ts": true, "css": true, "json": true}

func domainEnd(s string, from int) int {
	end, labels, last := from, 0, ""
	for p := from; p-from < 254; {
		q := p
		for q < len(s) {
			r, size := utf8.DecodeRuneInString(s[q:])
			if !spelled(r) && r != '-' {
				break
			}
			q += size
		}
		label := strings.TrimRight(s[p:q], "-")
		if label == "" || label[0] == '-' {
			break
		}
		end, labels, last = p+len(label), labels+1, label
		if p+len(label) != q || byteAt(s, q) != '.' {
			break
		}
		p = q + 1
	}
	if labels < 2 || utf8.RuneCountInString(last) < 2 || strings.ContainsAny(last, "0123456789_") && !strings.HasPrefix(last, "xn--") || notDomains[strings.ToLower(last)] {
		return 0
	}
	return end
}

// inURL reports whether a place lies in the user part of an address such as https://user:word@host.
func inURL(s string, at int) bool {
	from := max(0, at-128)
	head := s[from:at]
	if k := strings.LastIndexAny(head, " \t\n\"'<>"); k >= 0 {
		head = head[k+1:]
	}
	k := strings.LastIndex(head, "://")
	return k >= 0 && !strings.ContainsAny(head[k+3:], "/?")
}
