package redact

import (
	"math"
	"regexp"
	"strings"
)

// services are the forms of keys and tokens that say whose they are.
var services = regexp.MustCompile(strings.Join([]string{
	`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}`,
	`gh[pousr]_[A-Za-z0-9]{36,}`, `github_pat_[A-Za-z0-9_]{22,}`, `gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_\-]{20,}`,
	`sk-(?:proj-|svcacct-|admin-|ant-[a-z0-9]+-|or-v1-|lf-)?[A-Za-z0-9_\-]{20,}`,
	`xox[abceoprs]-[A-Za-z0-9\-]{10,}`, `xapp-[0-9]-[A-Za-z0-9\-]{10,}`, `hooks\.slack\.com/services/[A-Za-z0-9/]{20,}`,
	`(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}`, `whsec_[A-Za-z0-9+/=]{20,}`,
	`AIza[A-Za-z0-9_\-]{35}`, `ya29\.[A-Za-z0-9_\-]{20,}`, `GOCSPX-[A-Za-z0-9_\-]{20,}`, `1//0[A-Za-z0-9_\-]{30,}`,
	`eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`,
	`hf_[A-Za-z0-9]{30,}`, `npm_[A-Za-z0-9]{36}`, `pypi-[A-Za-z0-9_\-]{40,}`, `do[opr]_v1_[a-f0-9]{64}`,
	`SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}`, `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, `(?:SK|AC)[a-f0-9]{32}`, `key-[a-f0-9]{32}`,
	`[0-9]{8,10}:[A-Za-z0-9_\-]{35}`, `LTAI[A-Za-z0-9]{12,30}`, `AKID[A-Za-z0-9]{13,40}`, `nvapi-[A-Za-z0-9_\-]{40,}`,
	`gsk_[A-Za-z0-9]{40,}`, `tvly-[A-Za-z0-9_\-]{20,}`, `lin_api_[A-Za-z0-9]{32,}`, `dapi[a-f0-9]{32}`, `ATATT3[A-Za-z0-9_\-=]{40,}`,
	`glsa_[A-Za-z0-9_]{32,}`, `sq0(?:atp|csp|idp)-[A-Za-z0-9_\-]{20,}`, `EAAA[A-Za-z0-9_\-]{56,}`, `AGE-SECRET-KEY-1[A-Z0-9]{50,}`,
	`r8_[A-Za-z0-9]{37,}`, `pplx-[A-Za-z0-9]{40,}`, `secret_[A-Za-z0-9]{40,}`, `ntn_[A-Za-z0-9]{40,}`, `PMAK-[a-f0-9\-]{50,}`,
}, "|"))

func tokens(s string) [][2]int {
	var out [][2]int
	for i := 0; i < len(s); {
		if !serviceByte(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && serviceByte(s[i]) {
			i++
		}
		if i-start < 15 { // the shortest that there is, and most words are shorter
			continue
		}
		for _, m := range services.FindAllStringIndex(s[start:i], -1) {
			if !word(byteAt(s, start+m[0]-1)) {
				out = append(out, [2]int{start + m[0], start + m[1]})
			}
		}
	}
	return out
}

func serviceByte(c byte) bool { return word(c) || strings.IndexByte("-./:+=", c) >= 0 }

var (
	keyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
)

// privateKeys takes a block to its end, or, when that is missing, to the end of the text.
func privateKeys(s string) [][2]int {
	if !strings.Contains(s, "PRIVATE KEY") {
		return nil
	}
	var out [][2]int
	for at := 0; ; {
		m := keyBegin.FindStringIndex(s[at:])
		if m == nil {
			return out
		}
		start, end := at+m[0], len(s)
		if e := keyEnd.FindStringIndex(s[at+m[1]:]); e != nil {
			end = at + m[1] + e[1]
		}
		out = append(out, [2]int{start, end})
		at = end
	}
}

var (
	strong = `pass ?word|passwd|pass ?phrase|pwd|passcode|passwort|kennwort|contraseña|senha|mot de passe|пароль|密码|密碼|口令|パスワード|비밀번호`
	weak   = `(?:client|app|shared|webhook|signing)[_\- ]?secret|secret[_\- ]?(?:access[_\- ]?)?key|api[_\- ]?(?:key|token|secret)|access[_\- ]?(?:key|token)|auth[_\- ]?(?:key|token)|refresh[_\- ]?token|bearer[_\- ]?token|private[_\- ]?key|encryption[_\- ]?key|account[_\- ]?key|secret|token|密钥|密鑰|令牌|秘钥`
	// A value is what follows the name and a sign or verb; what it is decides believable.
	named = regexp.MustCompile(`(?i)(` + strong + `|` + weak + `)["'` + "`" + `*]{0,3}\s{0,3}(=>|:=|==?|:|\bis\b|\bto\b|是|为|為|は|은|는)\s{0,3}["'` + "`" + `「“*]{0,3}([!#-&(-Z\\^_a-z{|}~]{4,})`)
	// userinfo is the password of an address, bearer that of a header.
	userinfo = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.\-]{1,20}://[^\s/:@\[\]]*:([^\s/@\[\]]+)@`)
	bearer   = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/\-]{16,}={0,2})`)
	query    = regexp.MustCompile(`&[A-Za-z_][A-Za-z0-9_\-]*=`)
)

func assigned(s string) [][2]int {
	var out [][2]int
	for _, m := range named.FindAllStringSubmatchIndex(s, -1) {
		start, end := m[6], m[7]
		v := s[start:end]
		if q := query.FindStringIndex(v); q != nil {
			v = v[:q[0]]
		}
		v = strings.TrimRight(v, ".,;:!?)}*")
		if believable(v, s[m[4]:m[5]]) {
			out = append(out, [2]int{start, start + len(v)})
		}
	}
	if strings.Contains(s, "://") {
		for _, m := range userinfo.FindAllStringSubmatchIndex(s, -1) {
			out = append(out, [2]int{m[2], m[3]})
		}
	}
	for _, m := range bearer.FindAllStringSubmatchIndex(s, -1) {
		if v := s[m[2]:m[3]]; strings.ContainsAny(v, "0123456789") {
			out = append(out, [2]int{m[2], m[3]})
		}
	}
	return out
}

// believable tells a secret from the words that follow its name in a sentence or in code.
func believable(v, sign string) bool {
	if len(v) < 4 || strings.ContainsAny(v[:1], "$<({&/") || strings.Contains(v, "://") || strings.ContainsAny(v, "(") || strings.Trim(v, "*xX.-•") == "" {
		return false
	}
	var digits, letters, lowers, uppers, signs int
	for i := range len(v) {
		switch c := v[i]; {
		case digit(c):
			digits++
		case lower(c):
			letters, lowers = letters+1, lowers+1
		case upper(c):
			letters, uppers = letters+1, uppers+1
		case c != '-' && c != '_' && c != '.' && c != '\'':
			signs++
		}
	}
	switch l := strings.ToLower(v); {
	case strings.HasPrefix(l, "process.env"), strings.HasPrefix(l, "os."), strings.HasPrefix(l, "env."), strings.HasPrefix(l, "config."):
		return false
	case digits > 0 && letters > 0 && len(v) >= 6, digits > 0 && signs > 0, digits >= 4 && letters == 0:
		return true
	case signs > 0 && letters > 0 && len(v) >= 8:
		return true
	case sign == "=" && lowers > 0 && uppers > 1 && len(v) >= 8:
		return true
	case strings.ContainsAny(sign, "=") && sign != "==" && len(v) >= 8 && letters > 0 && !strings.ContainsAny(v, "._"):
		return !strings.HasPrefix(l, "undefined") && !strings.HasPrefix(l, "required") && !strings.HasPrefix(l, "optional")
	}
	return false
}

// random finds long words that nobody made up: letters of both cases and digits, mixed.
func random(s string) [][2]int {
	var out [][2]int
	for i := 0; i < len(s); {
		if !tokenByte(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && tokenByte(s[i]) {
			i++
		}
		end := i
		for end > start && strings.IndexByte("-/", s[end-1]) >= 0 {
			end--
		}
		for i < len(s) && s[i] == '=' && i-end < 2 && end-start >= 24 { // of base64
			i++
		}
		if i > end && !tokenByte(byteAt(s, i)) && s[end] == '=' {
			end = i
		}
		if end-start >= 24 && looksRandom(s[start:end]) && !inLink(s, start) {
			out = append(out, [2]int{start, end})
		}
	}
	return out
}

func tokenByte(c byte) bool { return word(c) || c == '-' || c == '+' || c == '/' }

// inLink reports whether a word is part of an address of a page or of a path with a name.
func inLink(s string, at int) bool {
	head := s[max(0, at-64):at]
	if k := strings.LastIndexAny(head, " \t\n\"'<>("); k >= 0 {
		head = head[k+1:]
	}
	return strings.Contains(head, "://") || strings.HasSuffix(head, ".") && strings.Contains(head, "/")
}

func looksRandom(v string) bool {
	var lowers, uppers, groups, digits, plain, turns int
	hexes := true
	var count [128]int
	for i := range len(v) {
		c := v[i]
		count[c&127]++
		hexes = hexes && (hex(c) || c == '-')
		switch {
		case digit(c):
			digits++
			if i == 0 || !digit(v[i-1]) {
				groups++
			}
		case lower(c):
			lowers++
		case upper(c):
			uppers++
		}
		if i > 0 && digit(c) != digit(v[i-1]) {
			turns++
		}
	}
	if hexes {
		return false
	}
	for _, w := range strings.FieldsFunc(v, func(r rune) bool { return !alnum(byte(r)) }) {
		if wordlike(w) {
			plain += len(w)
		}
	}
	if plain*2 >= len(v) || entropy(count[:], len(v)) < 3.3 {
		return false
	}
	if lowers > 1 && uppers > 1 {
		return groups >= 2 && digits >= 2
	}
	return len(v) >= 28 && digits >= 5 && turns >= 7
}

// wordlike tells a word, a name, an abbreviation or a number.
func wordlike(w string) bool {
	letters := strings.TrimRight(w, "0123456789")
	if letters == "" {
		return true
	}
	for i := 1; i < len(letters); i++ {
		if digit(letters[i]) || upper(letters[i]) && lower(letters[i-1]) && i < 3 {
			return false
		}
	}
	return !digit(letters[0]) && (strings.ToLower(letters[1:]) == letters[1:] || strings.ToUpper(letters) == letters)
}

func entropy(count []int, n int) float64 {
	h := 0.0
	for _, c := range count {
		if c > 0 {
			p := float64(c) / float64(n)
			h -= p * math.Log2(p)
		}
	}
	return h
}
