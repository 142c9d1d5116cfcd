package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

// settleWait is how long a writing command waits for vectors before it leaves them to the next one.
const settleWait = 30 * time.Second

func (a *app) ingestCmd() *cobra.Command {
	var key, expires string
	var noStore, noWait bool
	c := &cobra.Command{
		Use:   "ingest [FILE…]",
		Short: "Take conversations in",
		Long: `Takes conversations in from files or standard input ("-" or nothing): a JSON list of messages in the OpenAI chat format,
{"messages": […]} objects (with "user", "thread" or "session", and "time", where known), or one message a line. Messages that
neither --thread nor the file places in a conversation go to the conversation "default".`,
		Example: `  evoke ingest --user ada --thread trip chat.json
  echo '[{"role":"user","content":"I moved to Lisbon"},{"role":"assistant","content":"Noted!"}]' | evoke ingest --user ada`,
	}
	c.Flags().StringVar(&key, "idempotency-key", "", "the same key with the same messages is taken in once")
	c.Flags().BoolVar(&noStore, "no-store", false, "answer as usual and keep nothing")
	c.Flags().StringVar(&expires, "expires", "", "until when the turns are kept: "+laterForms+" (default: for good)")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait for vectors")
	c.RunE = func(c *cobra.Command, args []string) error {
		until, err := later("expires", expires)
		if err != nil {
			return err
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			var all []evoke.IngestResult
			err := a.eachInput(args, "ingesting", func(in io.Reader) error {
				return readConversations(in, func(conv conversation) error {
					r := evoke.IngestRequest{Who: a.whoOf(conv), Messages: conv.Messages, NoStore: noStore, IdempotencyKey: numbered(key, len(all)), ExpiresAt: until}
					res, err := s.Ingest(ctx, r)
					if err == nil {
						all = append(all, res)
					}
					return err
				})
			})
			if err != nil && len(all) > 0 {
				return fmt.Errorf("after %s taken in: %w", count(len(all), "conversation"), err)
			}
			if err != nil {
				return err
			}
			if !noWait && !noStore {
				if err := a.settle(ctx, s, settleWait); err != nil {
					return err
				}
			}
			return a.printIngested(all)
		})
	}
	return c
}

// numbered gives each batch of one call a key of its own.
func numbered(key string, n int) string {
	if key == "" || n == 0 {
		return key
	}
	return fmt.Sprintf("%s#%d", key, n)
}

// defaultThread is the conversation of messages that neither a flag nor the file places in one.
const defaultThread = "default"

// whoOf lets flags decide, then the file.
func (a *app) whoOf(c conversation) evoke.Who {
	thread := first(first(a.who.Thread, c.Thread), defaultThread)
	return evoke.Who{User: first(a.who.User, c.User), Agent: first(a.who.Agent, c.Agent), Thread: thread}
}

func (a *app) printIngested(all []evoke.IngestResult) error {
	if a.json {
		return a.printJSON(map[string][]evoke.IngestResult{"results": all})
	}
	turns, dropped := 0, map[string]int{}
	for _, r := range all {
		turns += len(r.Turns)
		for _, d := range r.Dropped {
			dropped[string(d.Reason)]++
		}
		if r.Skipped != "" {
			a.printf("nothing kept: %s\n", r.Skipped)
		}
	}
	a.printf("%s kept", count(turns, "turn"))
	for _, reason := range sortedKeys(dropped) {
		a.printf(", %d dropped (%s)", dropped[reason], reason)
	}
	a.printf("\n")
	return nil
}

// eachInput opens the files, or standard input, one after the other, with a progress bar where sizes are known.
func (a *app) eachInput(args []string, what string, f func(io.Reader) error) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, name := range args {
		if err := a.oneInput(name, what, f); err != nil {
			if name != "-" {
				return fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	return nil
}

func (a *app) oneInput(name, what string, f func(io.Reader) error) error {
	if name == "-" {
		if isTerminal(a.process.In) {
			a.note("reading standard input; end it with ctrl-D")
		}
		return f(a.process.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	defer file.Close()
	size := int64(-1)
	if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
		size = st.Size()
	} else if err == nil && st.IsDir() {
		return store.Invalid("file", "a file, or - for standard input", "a directory")
	}
	bar := a.bar(size, what)
	defer bar.Finish() //nolint:errcheck // nothing can be done about a bar that is not drawn
	return f(io.TeeReader(file, bar))
}

func (a *app) flushCmd() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "flush", Short: "Distil facts from waiting conversations now", Args: cobra.NoArgs,
		Long: "Distils facts now from what waits: of the conversation of --thread, of the user of --user, or with --all of the whole tenant.",
	}
	c.Flags().BoolVar(&all, "all", false, "every memory of the tenant")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if all && a.who != (evoke.Who{}) {
			return store.Invalid("--all", "left out when --user, --agent or --thread is given", "both")
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			flush := func() (int, error) { return s.Flush(ctx, a.who) }
			if all {
				flush = func() (int, error) { return s.FlushAll(ctx) }
			}
			n, err := flush()
			if err != nil {
				return err
			}
			if err := a.settle(ctx, s, settleWait); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]int{"threads": n})
			}
			a.printf("%s flushed\n", count(n, "conversation"))
			return nil
		})
	}
	return c
}

func (a *app) rememberCmd() *cobra.Command {
	var f itemFlags
	var id, kind, speaker, subject, key string
	var noStore, noWait bool
	c := &cobra.Command{
		Use: "remember TEXT…", Short: "Store one item as it is", Args: cobra.MinimumNArgs(1),
		Example: `  evoke remember --user ada --category preference "I prefer window seats"
  evoke remember --user ada --kind procedural - < how-to.txt`,
	}
	f.add(c)
	c.Flags().StringVar(&id, "id", "", "id of the item (default: a new one)")
	c.Flags().StringVar(&kind, "kind", "", "episodic, semantic or procedural (default semantic)")
	c.Flags().StringVar(&speaker, "speaker", "", "who said it")
	c.Flags().StringVar(&subject, "subject", "", "what it says one thing about at a time, such as home; it takes the place of what was said of that before")
	c.Flags().StringVar(&key, "idempotency-key", "", "the same key with the same item is stored once")
	c.Flags().BoolVar(&noStore, "no-store", false, "answer as usual and keep nothing")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait for the vector")
	c.RunE = func(c *cobra.Command, args []string) error {
		r := evoke.RememberRequest{
			Who: a.who, ID: id, Kind: store.Kind(kind), Category: store.Category(f.category), Speaker: speaker, Subject: subject,
			Importance: &f.importance, Confidence: &f.confidence, IdempotencyKey: key, NoStore: noStore,
		}
		var err error
		if r.Content, err = a.text(args); err != nil {
			return err
		}
		if r.Metadata, err = metadata(f.metadata); err != nil {
			return err
		}
		if r.ValidFrom, err = when("valid-from", f.validFrom); err != nil {
			return err
		}
		if r.ValidTo, err = when("valid-to", f.validTo); err != nil {
			return err
		}
		if r.ExpiresAt, err = later("expires", f.expires); err != nil {
			return err
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			res, err := s.Remember(ctx, r)
			if err != nil {
				return err
			}
			if !noWait && res.Skipped == "" {
				if err := a.settle(ctx, s, settleWait); err != nil {
					return err
				}
			}
			return a.printRemembered(res)
		})
	}
	return c
}

func (a *app) printRemembered(res evoke.RememberResult) error {
	switch {
	case a.json:
		return a.printJSON(res)
	case res.Skipped != "":
		a.printf("nothing kept: %s\n", res.Skipped)
	case res.Existing:
		a.printf("%s (known already, confirmed)\n", res.Item.ID)
	default:
		a.printf("%s\n", res.Item.ID)
	}
	return nil
}

func (a *app) updateCmd() *cobra.Command {
	var f itemFlags
	var content string
	c := &cobra.Command{
		Use: "update ID", Short: "Change fields of one item; new content makes a new version", Args: cobra.ExactArgs(1),
		Example: `  evoke update 0192… --user ada --content "I prefer aisle seats"`,
	}
	f.add(c)
	c.Flags().StringVar(&content, "content", "", "new content")
	for _, name := range []string{"importance", "confidence"} { // one that is not given stays as it is
		c.Flags().Lookup(name).DefValue = "0" // which help does not print
	}
	c.Flags().Lookup("valid-from").Usage = "when it became true: " + timeForms + " (default: now for new content)"
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := f.update(c, content)
		if err != nil {
			return err
		}
		r.Who, r.ID = a.who, args[0]
		return a.withMemory(c, func(ctx context.Context, s session) error {
			it, err := s.Update(ctx, r)
			if err != nil {
				return err
			}
			if err := a.settle(ctx, s, settleWait); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(it)
			}
			return a.itemDetail(it)
		})
	}
	return c
}

func (a *app) feedbackCmd() *cobra.Command {
	return &cobra.Command{
		Use: "feedback ID…", Short: "Say that items helped", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				res, err := s.Feedback(ctx, evoke.FeedbackRequest{Who: a.who, IDs: args})
				if err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(res); err != nil {
						return err
					}
				} else if res.Updated > 0 {
					a.printf("%s\n", count(res.Updated, "item"))
				}
				return unknownIDs(res.Unknown)
			})
		},
	}
}

func (a *app) forgetCmd() *cobra.Command {
	var r evoke.ForgetRequest
	var filter filterFlags
	var until string
	var yes bool
	c := &cobra.Command{
		Use: "forget [ID…]", Short: "Remove items, for good or (--soft) until a time, by id, by filter, or all of a memory",
		Example: `  evoke forget --user ada --dry-run --category goal
  evoke forget --user ada --dry-run --query "my sister"
  evoke forget --user ada --soft --until 90d 0192…
  evoke forget --user ada --thread trip --dry-run
  evoke forget --user ada --all --yes`,
	}
	filter.add(c)
	c.Flags().BoolVar(&r.All, "all", false, "everything in the memory that --user and --agent name (with --thread, of that conversation: the same without --all)")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count and show only")
	c.Flags().StringVar(&r.Query, "query", "", "with --dry-run, show what speaks of this: forget the ids of what is meant")
	c.Flags().BoolVar(&r.Soft, "soft", false, "take them out of sight and keep them for memory.forget_days: evoke restore brings them back")
	c.Flags().StringVar(&until, "until", "", "softly, and until then: "+laterForms)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		f, err := filter.filter()
		if err != nil {
			return err
		}
		if r.Until, err = later("until", until); err != nil {
			return err
		}
		r.Soft = r.Soft || !r.Until.IsZero()
		r.Who, r.IDs = a.who, args
		if !f.IsZero() {
			r.Filter = &f
		}
		if r.Query != "" && !r.DryRun {
			return store.Invalid("--query", "looked at with --dry-run first: it only shows what speaks of this; then forget the ids of what is meant", "")
		}
		if r.Thread != "" && len(r.IDs) > 0 {
			return store.Invalid("--thread", "left out when ids are given", "both")
		}
		if r.Thread != "" && r.Filter == nil && r.Query == "" {
			r.All = true // of that conversation
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			if !yes && !r.DryRun && !r.Soft {
				if err := a.confirmForget(ctx, s, r); err != nil {
					return err
				}
			}
			res, err := s.Forget(ctx, r)
			if err != nil {
				return err
			}
			if err := a.printForgotten(res); err != nil {
				return err
			}
			return unknownIDs(res.Unknown)
		})
	}
	return c
}

func (a *app) printForgotten(res evoke.ForgetResult) error {
	if a.json {
		return a.printJSON(res)
	}
	verb, gone := "forgotten", "went with them, or are marked where they rest on more"
	if res.DryRun {
		verb, gone = "would be forgotten", "would go with them, or be marked where they rest on more"
	}
	if err := a.printShown(res); err != nil {
		return err
	}
	a.printf("%s %s\n", count(res.Forgotten, "item"), verb)
	if res.Derived > 0 {
		a.printf("%s that rested on nothing else %s\n", count(res.Derived, "fact"), verb)
	}
	if res.Sections > 0 {
		a.printf("%s of the profile %s\n", count(res.Sections, "version"), gone)
	}
	if !res.Until.IsZero() && res.ID != "" {
		a.printf("until %s they come back with: evoke restore --batch %s\n", res.Until.Format(time.DateOnly), res.ID)
	}
	return nil
}

// unknownIDs is the error of ids that the memory does not have; what was known is done.
func unknownIDs(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	shown := make([]string, 0, min(len(ids), 20))
	for _, id := range ids[:min(len(ids), 20)] {
		shown = append(shown, visible(id))
	}
	more := ""
	if len(ids) > len(shown) {
		more = fmt.Sprintf(" and %d more", len(ids)-len(shown))
	}
	return fmt.Errorf("%w in this memory: %s%s (evoke list shows what is; --user and --agent say whose memory)", store.ErrNotFound, strings.Join(shown, ", "), more)
}

// confirmForget counts what would go and asks. Without a person to ask it refuses.
func (a *app) confirmForget(ctx context.Context, s session, r evoke.ForgetRequest) error {
	r.DryRun = true
	res, err := s.Forget(ctx, r)
	if err != nil {
		return err
	}
	if !isTerminal(a.process.In) {
		return store.Invalid("forget", fmt.Sprintf("confirmed with --yes: %s would be removed for good", count(res.Forgotten, "item")), "")
	}
	fmt.Fprintf(a.process.Err, "Remove %s for good? [y/N] ", count(res.Forgotten, "item"))
	answer, err := bufio.NewReader(a.process.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing was removed: %w", context.Canceled)
	}
	return nil
}
