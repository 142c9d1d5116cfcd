package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"evoke/extract"
	"evoke/extract/llm/internal/reply"
	"evoke/store"
)

// run is one extraction.
type run struct {
	x       *Extractor
	batch   *extract.Batch
	prompt  Prompt
	room    int  // tokens of a call beside the prompt
	chinese bool // the prompt is

	order   map[string]int        // of turns, by id
	grounds map[string]*grounding // by turn's id
	seen    map[seenKey]bool
	ops     []extract.Operation
	profile profile
	refused []extract.Rejected
	prose   bool // what is asked for is a text, not operations
	asks    int  // requests that the gate was asked about
	asked   int  // groups that were answered
	lost    int  // turns whose answer never comes to its first operation
	usage   extract.Usage
}

// seenKey tells operations apart within a batch.
type seenKey struct {
	action                extract.Action
	target, turn, content string
}

func newRun(x *Extractor, b *extract.Batch) *run {
	r := &run{x: x, batch: b, prompt: x.english, order: map[string]int{}, grounds: map[string]*grounding{}, seen: map[seenKey]bool{}}
	if isChinese(b.Turns) {
		r.prompt, r.chinese = x.chinese, true
	}
	r.room = x.opts.room(&r.prompt)
	r.profile.begin(b.Profile)
	for i := range b.Turns {
		r.order[b.Turns[i].ID] = i
	}
	return r
}

// The shares of a call's room, in sixteenths: the profile, known items, earlier turns, and the rest for the turns
// themselves.
const (
	shares       = 16
	profileShare = 3
	knownShare   = 4
	beforeShare  = 2
	turnShare    = shares - profileShare - knownShare - beforeShare
)

// all runs through the batch.
func (r *run) all(ctx context.Context) error {
	said := slices.ContainsFunc(r.batch.Turns, func(t store.Item) bool { return strings.TrimSpace(t.Content) != "" })
	if !said {
		return nil // asked about nothing, a model invents
	}
	room := r.room * turnShare / shares
	before := r.x.unitsOf(r.batch.Before, room)
	for _, group := range r.x.chunks(r.x.unitsOf(r.batch.Turns, room), room) {
		if err := r.group(ctx, before, group); err != nil {
			return err
		}
		before = append(slices.Clip(before), group...)
	}
	switch {
	case r.asked > 0:
		return nil
	case r.lost > 0:
		return fmt.Errorf("llm: %w", extract.ErrUnreadable)
	default:
		return fmt.Errorf("llm: %w", extract.ErrRefused)
	}
}

// group extracts from units that fit into a call. When their answer does not, or they are what the service refuses,
// they are split.
func (r *run) group(ctx context.Context, before, units []unit) error {
	known := r.x.related(r.batch.Known, units, r.room*knownShare/shares)
	sections := r.profile.show(r.room*profileShare/shares, r.x.cost)
	tail := r.x.tail(before, r.room*beforeShare/shares)
	parsed, verdict, err := r.converse(ctx, data{&r.profile, sections, known, tail, units})
	if err != nil {
		return err
	}
	if verdict != fine {
		if parts := halves(units); parts != nil {
			r.x.stats.split()
			for _, part := range parts {
				if err := r.group(ctx, before, part); err != nil {
					return err
				}
				before = append(slices.Clip(before), part...)
			}
			return nil
		}
		switch verdict {
		case tooLong:
			return &Failure{what: "the prompt alone is too long for the model: lower MaxInputTokens or MaxOutputTokens", kind: store.ErrInvalid}
		case refuses:
			r.reject(Refused, extract.Operation{Turn: units[0].item.ID, Speaker: speakerOf(units[0].item)})
			return nil
		case fine, cut: // of an answer that cannot be made shorter, what there is of it counts
		}
	}
	switch {
	case parsed.Understood:
	case parsed.Truncated || verdict == cut: // a turn that a model stumbles over does not cost the others
		r.lost++
		r.reject(Truncated, extract.Operation{Turn: units[0].item.ID, Speaker: speakerOf(units[0].item)})
		return nil
	default:
		return fmt.Errorf("llm: %w", extract.ErrUnreadable)
	}
	r.asked++
	r.x.stats.answered(&parsed)
	said := r.said(tail, known, units)
	r.take(&parsed, known, said, units)
	r.takeSections(&parsed, said, units)
	return nil
}

// verdict is what became of a request that was answered.
type verdict uint8

const (
	fine    verdict = iota
	cut             // the answer ends in the middle
	tooLong         // the request is too long
	refuses         // the service or the model will not
)

// converse asks about units and reads the answer; once more when it cannot be read.
func (r *run) converse(ctx context.Context, d data) (reply.Result, verdict, error) {
	ids := shortIDs(d.units)
	messages := []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: r.prompt.Text},
		{Role: openai.ChatMessageRoleUser, Content: r.x.compose(r.now(), d, ids)},
	}
	expect := reply.Expect{Turns: map[string]bool{}, Known: map[string]bool{}, Zone: r.x.opts.Zone, MostOps: 40 + 20*len(d.units)}
	for _, id := range ids {
		expect.Turns[id] = true
	}
	for i := range d.known {
		expect.Known[fmt.Sprintf("k%d", i+1)] = true
	}
	for again := 0; ; again++ {
		a, err := r.ask(ctx, messages)
		var f *Failure
		switch {
		case errors.As(err, &f) && f.long:
			return reply.Result{}, tooLong, nil
		case a.refused, f != nil && f.filtered:
			return reply.Result{}, refuses, nil
		case err != nil:
			return reply.Result{}, fine, err
		}
		parsed := reply.Parse(a.text, expect)
		if a.cut || parsed.Truncated && (parsed.Understood || halves(d.units) != nil) {
			return parsed, cut, nil
		}
		if again == r.x.opts.Rereads && strings.TrimSpace(a.text) == "" { // it says nothing about these turns
			return reply.Result{}, fine, &Failure{kind: store.ErrUnavailable, what: "the service answers with nothing"}
		}
		if parsed.Understood || again == r.x.opts.Rereads {
			return parsed, fine, nil
		}
		r.x.stats.reread()
		if again == 0 {
			messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: r.prompt.Again})
		}
	}
}

func (r *run) now() time.Time {
	if !r.batch.Now.IsZero() {
		return r.batch.Now
	}
	latest := time.Time{}
	for i := range r.batch.Turns {
		if t := r.batch.Turns[i].ValidFrom; t.After(latest) {
			latest = t
		}
	}
	return latest
}

// shortIDs names the turns of a group; the parts of one turn have one name.
func shortIDs(units []unit) map[string]string {
	ids := map[string]string{}
	for _, u := range units {
		if ids[u.item.ID] == "" {
			ids[u.item.ID] = fmt.Sprintf("t%d", len(ids)+1)
		}
	}
	return ids
}

// report is what came of the run, operations in the order of their turns.
func (r *run) report() extract.Report {
	slices.SortStableFunc(r.ops, func(a, b extract.Operation) int { return r.order[a.Turn] - r.order[b.Turn] })
	return extract.Report{Operations: r.ops, Rejected: r.refused, Sections: r.profile.changed(), Usage: r.usage}
}

func (r *run) reject(why Reason, op extract.Operation) {
	r.refused = append(r.refused, extract.Rejected{Reason: string(why), Operation: op})
}
