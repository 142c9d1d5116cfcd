package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

// Echo is a part of a text, text[Start:End], that reads like a line of a memory block. It is one if Key is the content
// key of a stored item; without a Key it is a part of the block's frame. Several echoes may begin at one place: a line
// may have been wrapped, so that where it ends is only known by what is stored.
type Echo struct {
	Start, End int
	Key        string
	// Kind and Day, of ValidFrom, as far as the line tells: where an item is looked for whose text was changed a little
	// when it was put into the block, so that its line has the key that FilterOptions.EchoKey gives.
	Kind store.Kind
	Day  time.Time
	Weak bool // it reads like any quotation, too: an echo only beside others
}

// echoID begins the key of an echo that names its item by id.
const echoID = "id:"

// filter is what Filter is asked with for a call: with the keys of those stored items that stand in the messages.
func (g *Ingester) filter(ctx context.Context, sc store.Scope, msgs []message.Message, call *Call) (FilterOptions, error) {
	o := g.opts.Filter
	o.ToolSummaries = o.ToolSummaries || call.ToolSummaries
	echoes := echoesIn(msgs, o)
	if len(echoes) == 0 {
		return o, nil
	}
	o.Known = map[string]bool{}
	scopes := call.Recalled
	if scopes == nil {
		scopes = []store.Scope{sc}
	}
	keys := store.ProfileKeys() // a section of the profile is not found by what it says
	var ids []string
	for _, e := range echoes {
		if id, ok := strings.CutPrefix(e.Key, echoID); ok {
			ids = append(ids, id)
		} else {
			keys = append(keys, e.Key)
		}
	}
	tell := func(it *store.Item) {
		o.Known[echoID+it.ID] = true
		if it.ContentKey != "" { // that is what a frame has
			o.Known[it.ContentKey] = true
		}
		if o.EchoKey != nil {
			o.Known[o.EchoKey(it)] = true
		}
	}
	const most = 500 // keys in one question
	var asked []store.Filter
	for part := range slices.Chunk(sorted(keys), most) {
		asked = append(asked, store.Filter{ContentKeys: part})
	}
	for part := range slices.Chunk(sorted(ids), most) {
		asked = append(asked, store.Filter{IDs: part})
	}
	for _, f := range asked {
		if err := g.known(ctx, scopes, f, tell); err != nil {
			return o, err
		}
	}
	return o, g.changed(ctx, scopes, echoes, o)
}

// sorted sorts a list, each once.
func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// changed looks for items whose text was changed when it was put into a block, on the days of the lines that are not
// known by their content key.
func (g *Ingester) changed(ctx context.Context, scopes []store.Scope, echoes []Echo, o FilterOptions) error {
	if o.EchoKey == nil {
		return nil
	}
	type page struct {
		kind store.Kind
		day  time.Time
	}
	open := map[int]page{} // by where the line begins
	for _, e := range echoes {
		open[e.Start] = page{e.Kind, e.Day}
	}
	for _, e := range echoes {
		if o.Known[e.Key] {
			delete(open, e.Start)
		}
	}
	const mostDays = 20
	seen := map[page]bool{}
	for _, p := range open {
		if p.day.IsZero() || seen[p] || len(seen) == mostDays {
			continue
		}
		seen[p] = true
		f := store.Filter{Kinds: []store.Kind{p.kind}, Valid: store.TimeRange{From: p.day, To: p.day.AddDate(0, 0, 1)}}
		if err := g.known(ctx, scopes, f, func(it *store.Item) { o.Known[o.EchoKey(it)] = true }); err != nil {
			return err
		}
	}
	return nil
}

// known tells of the items of the scopes that a filter selects, in whatever version; of very many, of the first.
func (g *Ingester) known(ctx context.Context, scopes []store.Scope, f store.Filter, tell func(*store.Item)) error {
	const mostPages = 5
	for _, sc := range scopes {
		q := store.ListQuery{Filter: f, View: store.View{All: true}, Order: store.Newest, Limit: 1000}
		for range mostPages {
			page, err := g.store.List(ctx, sc, q)
			if err != nil {
				return fmt.Errorf("look up what was recalled: %w", err)
			}
			for i := range page.Items {
				tell(&page.Items[i])
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return nil
}

// echoesIn lists the echoes that may be in the messages, those of the frame left out.
func echoesIn(msgs []message.Message, o FilterOptions) []Echo {
	if o.FindEchoes == nil || slices.Contains(o.Off, DropEcho) {
		return nil
	}
	var out []Echo
	base := 0 // keeps the places of different messages apart
	for i := range msgs {
		text := msgs[i].Content
		if o.StripInjected != nil && !slices.Contains(o.Off, DropInjected) {
			text = o.StripInjected(text)
		}
		for _, e := range o.FindEchoes(text) {
			if e.Key != "" {
				e.Start += base
				out = append(out, e)
			}
		}
		base += len(text) + 1
	}
	return out
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
	strong := slices.ContainsFunc(echoes, func(e Echo) bool { return !e.Weak && d.opts.Known[e.Key] })
	end := map[int]int{} // of what is cut, by where it begins
	for _, e := range echoes {
		if d.opts.Known[e.Key] && (strong || !e.Weak) {
			end[e.Start] = max(end[e.Start], e.End)
		}
	}
	for _, e := range echoes { // beside lines of a block another one is of it, too: its item was erased meanwhile
		if strong && !e.Weak && end[e.Start] == 0 {
			end[e.Start] = e.End
		}
	}
	frameless := cutSpans(text, echoes, func(e Echo) int { return max(end[e.Start], frameEnd(e)) })
	switch {
	case !says(frameless): // marks of quoting, bullets
		return ""
	case strong:
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
