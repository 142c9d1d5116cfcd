package redact

// ibanLength is the length of an IBAN by country.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21,
	"CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27,
	"GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
	"IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24,
	"ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29,
	"RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24,
	"TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

func up(c byte) byte {
	if lower(c) {
		return c - 'a' + 'A'
	}
	return c
}

func ibans(s string) [][2]int {
	var out [][2]int
	for i := 0; i+15 <= len(s); i++ {
		if !digit(s[i+2]) || !digit(s[i+3]) || word(byteAt(s, i-1)) {
			continue
		}
		want := ibanLength[string([]byte{up(s[i]), up(s[i+1])})]
		if want == 0 {
			continue
		}
		chars := make([]byte, 0, want)
		p := i
		for ; p < len(s) && len(chars) < want; p++ {
			c := s[p]
			switch {
			case alnum(c):
				chars = append(chars, up(c))
			case (c == ' ' || c == '-') && len(chars)%4 == 0 && alnum(s[p-1]):
			default:
				want = 0
			}
		}
		if len(chars) == want && want > 0 && !word(byteAt(s, p)) && mod97(chars) == 1 {
			out = append(out, [2]int{i, p})
			i = p - 1
		}
	}
	return out
}

func mod97(chars []byte) int {
	n := 0
	for i := range chars {
		c := chars[(i+4)%len(chars)]
		if digit(c) {
			n = (n*10 + int(c-'0')) % 97
		} else {
			n = (n*100 + int(c-'A') + 10) % 97
		}
	}
	return n
}
