package extract

import "strings"

// Echo is a part of a text, text[Start:End], that reads like a line of a memory block. It is one if Key is the content
// key of a stored item; without a Key it is a part of the block's frame. Several echoes may begin at one place: a line
// may have been wrapped, so that where it ends is only known by what is stored.
type Echo struct {
	Start, End int
	Key        string
}

// echoKeys lists the keys that echoes in the messages may have.
func echoKeys(texts func(yield func(string) bool), find func(string) []Echo) []string {
	var keys []string
	seen := map[string]bool{}
	for text := range texts {
		for _, e := range find(text) {
			if e.Key != "" && !seen[e.Key] {
				seen[e.Key] = true
				keys = append(keys, e.Key)
			}
		}
	}
	return keys
}

// stripEchoes cuts out what is stored, the longest reading first, and then what is left of the frame. Without anything
// stored a frame alone goes only when nothing else stands there.
func stripEchoes(d *Draft) string {
	text := d.Content
	if d.opts.FindEchoes == nil {
		return text
	}
	echoes := d.opts.FindEchoes(text)
	if len(echoes) == 0 {
		return text
	}
	end := map[int]int{} // of what is cut, by where it begins
	known := false
	for _, e := range echoes {
		if d.opts.Known[e.Key] && e.Key != "" {
			known = true
			end[e.Start] = max(end[e.Start], e.End)
		}
	}
	frameless := cutSpans(text, echoes, func(e Echo) int { return max(end[e.Start], frameEnd(e)) })
	if known || strings.TrimSpace(frameless) == "" {
		return frameless
	}
	return text
}

func frameEnd(e Echo) int {
	if e.Key == "" {
		return e.End
	}
	return 0
}

// cutSpans leaves out, for each echo in order, the text up to where end says; nothing when it says 0.
func cutSpans(text string, echoes []Echo, end func(Echo) int) string {
	var b strings.Builder
	at := 0
	for _, e := range echoes {
		to := end(e)
		if e.Start < at || to <= e.Start {
			continue
		}
		b.WriteString(text[at:e.Start])
		at = to
	}
	b.WriteString(text[at:])
	return b.String()
}
