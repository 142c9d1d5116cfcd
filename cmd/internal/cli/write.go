package cli

import (
	"context"
	"fmt"
	"io"
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

func (a *app) flushCmd() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "flush", Short: "Distil facts from waiting conversations now", Args: noArgs,
		Long: "Distils facts now from what waits: of the conversation of --thread, of the user of --user, or with --all-of-tenant of everybody.",
	}
	addAllOfTenant(c, &all)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if all && a.who != (evoke.Who{}) {
			return store.Invalid("--"+allOfTenant, "left out when --user, --agent or --thread is given", "both")
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
				return unknownItem(err, r.ID)
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
