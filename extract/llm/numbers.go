package llm

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// A model may put everything in its own words but numbers: those of a text must be numbers that were shown, in digits or
// in words. Dates are the exception, since "yesterday" is to be resolved: they need a year that can be meant.

var (
	thousands = regexp.MustCompile(`(\d)[,'’](\d{3})\b`)
	digitRun  = regexp.MustCompile(`\d+`)
	isoDate   = regexp.MustCompile(`\b(\d{4})\s*[-/.年]\s*\d{1,2}\b(?:\s*[-/.月]\s*\d{1,2}\b日?|月)?`)
	hanDay    = regexp.MustCompile(`\b(?:(\d{4})年)?\d{1,2}月(?:\d{1,2}\b[日号號]?)?`)
	monthName = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`
	dayMonth  = regexp.MustCompile(`\b\d{1,2}(?:st|nd|rd|th)?(?: of)? ` + monthName + `(?:,? (\d{4})\b)?`)
	monthDay  = regexp.MustCompile(`\b` + monthName + ` \d{1,2}(?:st|nd|rd|th)?\b(?:,? (\d{4})\b)?`)
)

// figures is a text in the form in which its numbers are read.
func figures(text string) string {
	return thousands.ReplaceAllString(strings.ToLower(norm.NFKC.String(text)), "$1$2")
}

// numbersIn are the numbers of a text in digits, without leading zeros.
func numbersIn(text string) []string {
	var out []string
	for _, n := range digitRun.FindAllString(figures(text), -1) {
		if n = strings.TrimLeft(n, "0"); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// isCounted reports whether all numbers of a text were shown, or are dates that can be meant.
func (s *sources) isCounted(text string) bool {
	if s.areShown(numbersIn(text)) {
		return true
	}
	t := figures(text)
	for _, date := range []*regexp.Regexp{isoDate, hanDay, dayMonth, monthDay} {
		t = date.ReplaceAllStringFunc(t, func(match string) string {
			if year := date.FindStringSubmatch(match)[1]; year == "" || s.numbers[year] || s.years[year] {
				return " "
			}
			return match
		})
	}
	return s.areShown(numbersIn(t))
}

func (s *sources) areShown(numbers []string) bool {
	for _, n := range numbers {
		if s.numbers[n] || s.years[n] {
			continue
		}
		if hour, err := strconv.Atoi(n); err == nil && hour > 12 && hour < 24 && s.numbers[strconv.Itoa(hour-12)] {
			continue // 2 pm is 14:00
		}
		return false
	}
	return true
}

// meant adds the years that a text of this moment can mean: this one, the last and the next.
func (s *sources) meant(t time.Time) {
	if t.IsZero() {
		return
	}
	for y := t.Year() - 1; y <= t.Year()+1; y++ {
		s.years[strconv.Itoa(y)] = true
	}
}

// spelled are the numbers of a text that are written in English or Chinese words.
func spelled(text string) []string {
	var out []string
	sum := 0
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	for i, w := range words {
		n, known := englishNumbers[w]
		if known && n < 10 && sum >= 20 && sum < 100 && sum%10 == 0 {
			n += sum // twenty three
		}
		if sum = 0; known {
			sum = n
			out = append(out, strconv.Itoa(n))
		}
		if i > 0 && w == "hundred" {
			out = append(out, strconv.Itoa(100*englishNumbers[words[i-1]]))
		}
	}
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune(hanDigits+"十百千万两廿", r) }) {
		out = append(out, strconv.Itoa(hanNumber(run)))
	}
	return out
}

var englishNumbers = map[string]int{
	"one": 1, "once": 1, "two": 2, "twice": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "dozen": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1000000,
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
}

const hanDigits = "零一二三四五六七八九"

// hanNumber reads Chinese numerals: 二十三, 一百零五, 三万, and 二零二五 digit by digit.
func hanNumber(s string) int {
	total, section, digit, plain := 0, 0, 0, 0
	for _, r := range s {
		switch r {
		case '十', '百', '千':
			unit := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
			section += max(1, digit) * unit
			digit, plain = 0, -1
		case '万':
			total += max(1, section+digit) * 10000
			section, digit, plain = 0, 0, -1
		case '廿':
			section += 20
			plain = -1
		default:
			digit = hanDigit(r)
			if plain >= 0 && plain < 1e8 {
				plain = 10*plain + digit
			}
		}
	}
	if plain > 9 {
		return plain
	}
	return total + section + digit
}

func hanDigit(r rune) int {
	if r == '两' {
		return 2
	}
	return len([]rune(hanDigits[:strings.IndexRune(hanDigits, r)]))
}
