package scoring

import (
	"strconv"
	"strings"
	"time"
)

// DateText is the calendar date of at, in at's own zone, as people write it: "8 May 2023", or "2023年5月8日" where like,
// a sample of the text, is Chinese or Japanese. It is empty for the zero time and for years outside 1 to 9999.
func DateText(at time.Time, like string) string {
	y, m, d := at.Date()
	if at.IsZero() || y < 1 || y > 9999 {
		return ""
	}
	if mostlyDense(like) {
		return strconv.Itoa(y) + "年" + strconv.Itoa(int(m)) + "月" + strconv.Itoa(d) + "日"
	}
	return strconv.Itoa(d) + " " + m.String() + " " + strconv.Itoa(y)
}

// mostlyDense reports whether at least half of a text's words, as its beginning shows them, are Chinese or Japanese.
func mostlyDense(text string) bool {
	var m meter
	for _, r := range text {
		m.add(r)
		if m.runes >= 1000 {
			break
		}
	}
	return m.dense > 0 && float64(m.dense)/denseWord >= float64(m.plain)+float64(m.spaceless)/spacelessWord
}

// OwnView is the text an item's own vector is made of: "[8 May 2023] speaker: text", without the date when at is the
// zero time and without the speaker when that is empty.
func OwnView(speaker, text string, at time.Time) string {
	said := attribute(speaker, text)
	if date := DateText(at, said); date != "" {
		return "[" + date + "] " + said
	}
	return said
}

// ContextView is the text a turn's second vector is made of: the previous turn cut at 400 characters, a new line, then
// the turn itself. With no previous turn it is the turn alone.
func ContextView(prevSpeaker, prevText, speaker, text string) string {
	said := attribute(speaker, text)
	if strings.TrimSpace(prevText) == "" {
		return said
	}
	return clip(attribute(prevSpeaker, prevText), HeadRunes) + "\n" + said
}
