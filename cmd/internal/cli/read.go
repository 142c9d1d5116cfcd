package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/recall"
	"evoke/store"
)

// filterFlags select items.
type filterFlags struct {
	kinds, categories, speakers, sessions, meta []string
	from, to                                    string
}

func (f *filterFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringSliceVar(&f.kinds, "kind", nil, "only these kinds: episodic, semantic, procedural")
	fl.StringSliceVar(&f.categories, "category", nil, "only these categories")
	fl.StringSliceVar(&f.speakers, "speaker", nil, "only what these said")
	fl.StringSliceVar(&f.sessions, "session", nil, "only these sessions")
	fl.StringArrayVar(&f.meta, "where", nil, "only items whose metadata has name=value (repeatable)")
	fl.StringVar(&f.from, "from", "", "only what is about this time or later: "+timeForms)
	fl.StringVar(&f.to, "to", "", "only what is about an earlier time than this")
}

func (f *filterFlags) filter() (store.Filter, error) {
	out := store.Filter{Speakers: f.speakers, Sessions: f.sessions}
	for _, k := range f.kinds {
		out.Kinds = append(out.Kinds, store.Kind(k))
	}
	for _, c := range f.categories {
		out.Categories = append(out.Categories, store.Category(c))
	}
	for _, p := range f.meta {
		name, v, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return out, store.Invalid("--where", "name=value", "")
		}
		out.Metadata = append(out.Metadata, store.Condition{Key: name, In: []store.Value{value(v)}})
	}
	var err error
	if out.Valid.From, err = when("from", f.from); err != nil {
		return out, err
	}
	if out.Valid.To, err = when("to", f.to); err != nil {
		return out, err
	}
	return out, out.Validate()
}

func (a *app) getCmd() *cobra.Command {
	var history bool
	c := &cobra.Command{Use: "get ID", Short: "Show one item, or all its versions", Args: cobra.ExactArgs(1)}
	c.Flags().BoolVar(&history, "history", false, "every version, oldest first")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withStore(c, func(ctx context.Context, s session) error {
			if history {
				items, err := s.History(ctx, a.who, args[0])
				if err != nil {
					return unknownItem(err, args[0])
				}
				return a.printHistory(items)
			}
			it, err := s.Get(ctx, a.who, args[0])
			if err != nil {
				return unknownItem(err, args[0])
			}
			if a.json {
				return a.printJSON(it)
			}
			return a.itemDetail(it)
		})
	}
	return c
}

func (a *app) printItems(items []store.Item, next string, table func([]store.Item) error) error {
	if a.json {
		if items == nil {
			items = []store.Item{}
		}
		return a.printJSON(struct {
			Items []store.Item `json:"items"`
			Next  string       `json:"next,omitempty"`
		}{items, next})
	}
	if len(items) == 0 {
		a.printf("no items\n")
		return nil
	}
	if err := table(items); err != nil {
		return err
	}
	if next != "" {
		a.printf("more: --cursor %s\n", next)
	}
	return nil
}

// orders are the names of the orders of a listing.
var orders = map[string]store.Order{
	"newest": store.Newest, "oldest": store.Oldest, "event": store.NewestEvent, "id": store.ByID, "importance": store.MostImportant,
}

func (a *app) listCmd() *cobra.Command {
	var filter filterFlags
	var r evoke.ListRequest
	var order string
	var moment asOfFlags
	c := &cobra.Command{Use: "list", Short: "List items, page by page", Args: noArgs}
	filter.add(c)
	c.Flags().StringVar(&order, "order", "newest", "newest, oldest, event, id or importance")
	moment.add(c)
	c.Flags().StringVar(&r.Task, "task", "", "conversation at hand: what holds for its task only is seen, too")
	c.Flags().BoolVar(&r.All, "all", false, "every version, closed and retracted ones too")
	c.Flags().BoolVar(&r.Sources, "sources", false, "also what summaries stand for")
	c.Flags().IntVar(&r.Limit, "limit", 100, "items of a page, 1 to 1000")
	c.Flags().StringVar(&r.Cursor, "cursor", "", "where the page before ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var ok bool
		var err error
		if r.Order, ok = orders[order]; !ok {
			return store.Invalid("--order", strings.Join(slices.Sorted(maps.Keys(orders)), ", "), fmt.Sprintf("%.40q", order))
		}
		if r.Limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(r.Limit))
		}
		if r.Filter, err = filter.filter(); err != nil {
			return err
		}
		if r.AsOf, r.Known, err = moment.times(); err != nil {
			return err
		}
		r.Who = a.who
		return a.withStore(c, func(ctx context.Context, s session) error {
			page, err := s.List(ctx, r)
			if err != nil {
				return err
			}
			table := a.itemTable
			if r.All || r.Sources {
				table = a.versionTable
			}
			return a.printItems(page.Items, page.Next, table)
		})
	}
	return c
}

func (a *app) recentCmd() *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "recent", Short: "List what was recorded last", Args: noArgs}
	c.Flags().IntVar(&limit, "limit", 0, "how many, 1 to 1000 (default: setting recent.limit)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c, func(ctx context.Context, s session) error {
			if !c.Flags().Changed("limit") {
				limit = s.set.Recent.Limit
			} else if limit < 1 {
				return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(limit))
			}
			items, err := s.Recent(ctx, a.who, limit)
			if err != nil {
				return err
			}
			return a.printItems(items, "", a.itemTable)
		})
	}
	return c
}

// queryFlags are what recall and context share.
type queryFlags struct {
	filter                       filterFlags
	limit                        int
	minScore                     float64
	moment                       asOfFlags
	zone, task, profile          string
	semantic, recency, important float64
	explain, pairOnly            bool
	timeout                      time.Duration
	whyNot                       []string
}

func (q *queryFlags) add(c *cobra.Command) {
	q.filter.add(c)
	f := c.Flags()
	f.IntVar(&q.limit, "limit", 0, "hits, 1 to 1000 (default: setting recall.limit; of context, by the budget)")
	f.Float64Var(&q.minScore, "min-score", 0, "leave out hits below it, 0 to 1 (default: setting recall.min_score)")
	q.moment.add(c)
	f.StringVar(&q.task, "task", "", "conversation at hand: what holds for its task only is seen, too; unlike --thread, it narrows nothing")
	f.StringVar(&q.zone, "zone", "", "time zone that \"yesterday\" and the like are counted in: an offset (+09:00) or a name (default: that of --as-of or of this machine)")
	f.DurationVar(&q.timeout, "timeout", 0, "how long the search may take, such as 300ms: what stalls is left out (default: a few seconds a step)")
	f.StringVar(&q.profile, "profile", "", "score profile: default or classic")
	f.Float64Var(&q.semantic, "w-semantic", 0, "weight of the semantic part (of the three weights, those not given are 0)")
	f.Float64Var(&q.recency, "w-recency", 0, "weight of recency")
	f.Float64Var(&q.important, "w-importance", 0, "weight of importance")
	f.BoolVar(&q.pairOnly, "pair-only", false, "leave the user's own memory out when the agent has one with this user")
	f.StringArrayVar(&q.whyNot, "why-not", nil, "tell what became of the item of this id, with its score (repeatable, up to 20)")
}

// request builds the query; what no flag gives comes from the tenant's settings, the limit given here.
func (q *queryFlags) request(c *cobra.Command, s session, limit int, args []string) (recall.Request, error) {
	given := c.Flags().Changed
	r := recall.Request{
		Query: strings.Join(args, " "), Limit: q.limit, MinScore: &q.minScore, Profile: q.profile, Zone: q.zone, Task: q.task, Timeout: q.timeout,
		Explain: q.explain || len(q.whyNot) > 0, WhyNot: q.whyNot,
	}
	if !given("limit") {
		r.Limit = limit
	} else if r.Limit < 1 {
		return r, store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(q.limit))
	}
	if !given("min-score") {
		r.MinScore = &s.set.Recall.MinScore
	}
	if r.Profile == "" {
		r.Profile = s.set.Recall.Profile
	}
	if given("w-semantic") || given("w-recency") || given("w-importance") {
		r.Weights = &recall.Weights{Semantic: q.semantic, Recency: q.recency, Importance: q.important}
	}
	var err error
	if r.Filter, err = q.filter.filter(); err != nil {
		return r, err
	}
	r.AsOf, r.Known, err = q.moment.times()
	return r, err
}

func (a *app) recallCmd() *cobra.Command {
	var q queryFlags
	c := &cobra.Command{
		Use: "recall [QUERY…]", Short: "Find the most relevant items, ranked",
		Long:    "Finds the most relevant items. Without a query: recent and important ones.",
		Example: `  evoke recall --user ada "where does she like to sit?" --explain`,
	}
	q.add(c)
	c.Flags().BoolVar(&q.explain, "explain", false, "show how each score came about (--why-not implies it)")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withMemory(c, func(ctx context.Context, s session) error {
			r, err := q.request(c, s, s.set.Recall.Limit, args)
			if err != nil {
				return err
			}
			res, err := s.Recall(ctx, evoke.RecallRequest{Who: a.who, Request: r, PairOnly: q.pairOnly})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printRecall(ctx, s, res)
		})
	}
	return c
}

func (a *app) printRecall(ctx context.Context, s session, res evoke.RecallResult) error {
	if res.Skipped != "" {
		a.printf("nothing recalled: %s\n", res.Skipped)
		return nil
	}
	if len(res.Hits) == 0 {
		a.printf("no hits: %s\n", whyEmpty(res.Empty))
	} else if err := a.hitTable(res.Hits); err != nil {
		return err
	}
	a.printConfidence(res.Confidence, res.Basis)
	if len(res.Days) > 0 {
		a.printf("the query was read to name %s\n", strings.Join(res.Days, ", "))
	}
	if err := a.fateTable(res.WhyNot); err != nil {
		return err
	}
	for i, h := range res.Hits {
		a.printExplanation(i+1, h)
	}
	for _, f := range res.WhyNot {
		if f.Outcome != recall.Returned { // explained above
			a.printExplanation(f.Rank, recall.Hit{Item: store.Item{ID: f.ID}, Score: f.Score, Parts: f.Parts, Explain: f.Explain})
		}
	}
	a.printHealth(ctx, s, res.Embedder, res.PendingVectors, res.Degraded)
	return nil
}

// whyEmpty says in words why there are no hits.
func whyEmpty(e recall.Emptiness) string {
	switch e {
	case recall.NoItems:
		return "this memory holds no items (--user and --agent name another)"
	case recall.FilteredOut:
		return "the filter selects nothing of what was found"
	case recall.BelowMinimum:
		return "nothing reaches the minimum score (--min-score)"
	case recall.NoCandidates:
		return "nothing shares a word or a meaning with the query"
	case recall.NoRoom:
		return "none has room in the block (--max-tokens)"
	}
	return string(e)
}

// printHealth says what the answer had to do without.
func (a *app) printHealth(ctx context.Context, s session, embedder string, pending int, degraded map[string]string) {
	if embedder == "none" {
		a.noteLexical(ctx, s, degraded[string(store.DenseArm)])
	}
	if pending > 0 && embedder != "none" {
		a.note("%s without vectors yet", count(pending, "item"))
	}
	for _, step := range sortedKeys(degraded) {
		if step == string(store.DenseArm) && embedder == "none" {
			continue // said above
		}
		a.note("degraded: %s: %s", step, degraded[step])
	}
}

// noteLexical says that words alone were compared, and why. Where no reason is told the question had no words to compare.
func (a *app) noteLexical(ctx context.Context, s session, degraded string) {
	why := degraded
	if st, err := s.Stats(ctx, a.who); err == nil && st.Note != "" {
		why = st.Note
	}
	if why != "" {
		a.note("lexical only: %s", why)
	}
}

func (a *app) statsCmd() *cobra.Command {
	var moment asOfFlags
	c := &cobra.Command{
		Use: "stats", Short: "Count a memory's items", Args: noArgs,
		Long: `Counts the current items of one memory: the one that --user and --agent name, with neither that of the user "default". (export
without them writes every memory of the tenant, and says so.)`,
		RunE: func(c *cobra.Command, _ []string) error {
			at, known, err := moment.times()
			if err != nil {
				return err
			}
			return a.withMemory(c, func(ctx context.Context, s session) error {
				st, err := s.StatsAt(ctx, evoke.StatsRequest{Who: a.who, AsOf: at, Known: known})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(st)
				}
				rows := [][]string{
					{"total", fmt.Sprint(st.Total)}, {"episodic", fmt.Sprint(st.Episodic)}, {"semantic", fmt.Sprint(st.Semantic)},
					{"procedural", fmt.Sprint(st.Procedural)}, {"pending vectors", fmt.Sprint(st.Pending.Vectors)},
					{"pending threads", fmt.Sprint(st.Pending.Threads)}, {"bytes", fmt.Sprint(st.Bytes)}, {"embedder", st.Embedder},
				}
				if st.Note != "" {
					rows = append(rows, []string{"note", st.Note})
				}
				return a.table([]string{"WHAT", "VALUE"}, rows)
			})
		},
	}
	moment.add(c)
	c.AddCommand(a.tenantStatsCmd())
	return c
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
