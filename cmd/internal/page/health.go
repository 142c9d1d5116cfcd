package page

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"evoke"
	"evoke/store"
)

type healthPage struct {
	*frame
	Stats  evoke.TenantStats
	Queue  evoke.QueueState
	Usage  evoke.UsageResult
	Charts []ranking
	Days   columns
}

// health shows how the tenant stands: what it holds, what waits, what models cost.
func (p *Page) health(v *visit) error {
	f := v.frame("health.title")
	d := healthPage{frame: f}
	var err error
	if d.Stats, err = v.TenantStats(v.ctx(), evoke.TenantStatsRequest{}); err != nil {
		return err
	}
	if d.Queue, err = v.QueueStats(v.ctx()); err != nil {
		return err
	}
	if d.Usage, err = v.Usage(v.ctx(), evoke.UsageRequest{}); err != nil {
		return err
	}
	kinds := ranking{Title: f.T("health.kinds")}
	for _, k := range store.Kinds() {
		kinds.add(f.T("kind."+string(k)), d.Stats.Kinds[k])
	}
	categories := ranking{Title: f.T("health.categories")}
	for _, c := range slices.SortedFunc(maps.Keys(d.Stats.Categories), func(a, b store.Category) int {
		return cmp.Or(d.Stats.Categories[b]-d.Stats.Categories[a], strings.Compare(string(a), string(b)))
	}) {
		name := f.T("nocategory")
		if c != "" {
			name = f.T("category." + string(c))
		}
		categories.add(name, d.Stats.Categories[c])
	}
	ages := ranking{Title: f.T("health.ages")}
	for _, a := range d.Stats.Ages {
		if a.Days == 0 {
			ages.add(f.T("health.older"), a.Items)
			continue
		}
		ages.add(f.T("health.within", a.Days), a.Items)
	}
	events := ranking{Title: f.T("health.events")}
	for _, s := range eventStates {
		events.add(f.T("event."+string(s)), d.Stats.Events[s])
	}
	d.Charts = []ranking{kinds, categories, ages, events}
	for i := range d.Charts {
		d.Charts[i].scale()
	}
	d.Days = daysOf(d.Usage)
	return v.show(200, "health", d)
}

// pause holds extraction back, or lets it go on.
func (p *Page) pause(v *visit) error {
	if v.get("verb") == "resume" {
		if err := v.Resume(v.ctx()); err != nil {
			return err
		}
		return v.done("health", "resumed", 1)
	}
	if err := v.Pause(v.ctx()); err != nil {
		return err
	}
	return v.done("health", "paused", 1)
}

// ranking is a chart of lying bars.
type ranking struct {
	Title string
	Rows  []row
}

// row is one bar. Wide is in hundredths of the longest.
type row struct {
	Name string
	N    int
	Wide string
}

func (r *ranking) add(name string, n int) { r.Rows = append(r.Rows, row{Name: name, N: n}) }

func (r *ranking) scale() {
	most := 1
	for _, x := range r.Rows {
		most = max(most, x.N)
	}
	for i, x := range r.Rows {
		r.Rows[i].Wide = two(float64(x.N) * 100 / float64(most))
	}
}

// columns is a chart of standing bars, a day each.
type columns struct {
	Bars  []column
	From  string
	To    string
	Most  string
	Total int64
}

// column is one bar of a chart that is 100 high.
type column struct {
	X, Y, W, H string
	Day        string
	Calls      int64
	Tokens     int64
}

// daysOf draws the tokens that were taken by day, days without any too.
func daysOf(u evoke.UsageResult) columns {
	from, err := time.Parse(time.DateOnly, u.From)
	to, err2 := time.Parse(time.DateOnly, u.To)
	if err != nil || err2 != nil || to.Before(from) || to.Sub(from) > 400*24*time.Hour {
		return columns{}
	}
	taken := map[string]evoke.UsageSum{}
	most := int64(0)
	c := columns{From: u.From, To: u.To}
	for _, d := range u.Days {
		taken[d.Day] = d.UsageSum
		most = max(most, d.PromptTokens+d.CompletionTokens)
		c.Total += d.PromptTokens + d.CompletionTokens
	}
	c.Most = strconv.FormatInt(most, 10)
	days := int(to.Sub(from)/(24*time.Hour)) + 1
	wide := 300 / float64(days)
	for i := range days {
		day := from.AddDate(0, 0, i).Format(time.DateOnly)
		sum := taken[day]
		tokens := sum.PromptTokens + sum.CompletionTokens
		high := 0.0
		if most > 0 {
			high = float64(tokens) * 100 / float64(most)
		}
		c.Bars = append(c.Bars, column{
			X: two(float64(i) * wide), W: two(wide * 0.8), Y: two(100 - high), H: two(high), Day: day, Calls: sum.Calls, Tokens: tokens,
		})
	}
	return c
}
