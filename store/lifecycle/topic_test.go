package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// topicItem is what a speaker said on a day of a conversation that goes on for weeks.
func topicItem(id, thread, speaker string, day int, text string) store.Item {
	return store.Item{
		ID: id, Kind: store.Episodic, Content: text, ValidFrom: time.Date(2026, 1, 1+day, 9, 0, 0, 0, time.UTC),
		Turn: store.Turn{Thread: thread, Session: fmt.Sprint(thread, "-", day), Position: 3, Speaker: speaker, Role: "user"},
	}
}

func idsOf(groups []Group) [][]string {
	out := [][]string{}
	for i := range groups {
		var ids []string
		for _, it := range groups[i].Items {
			ids = append(ids, it.ID)
		}
		out = append(out, ids)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// What one speaker said of one topic over several days is a group, in the order in which it was said; what is of another
// topic, of another speaker or of another conversation stays out; so do topics of which too little was said. The same items
// give the same groups in whatever order they come.
func TestGroupsByTopic(t *testing.T) {
	for name, c := range map[string]struct{ boat, bread [3]string }{
		"en": {
			boat:  [3]string{"The sailing boat needs a new rudder", "I ordered a rudder for the sailing boat", "The new rudder of the sailing boat arrived"},
			bread: [3]string{"The sourdough bread did not rise in the oven", "A warm oven makes sourdough bread rise", "At last the sourdough bread did rise in a warm oven"},
		},
		"zh": {
			boat:  [3]string{"帆船上的新船舵坏了", "帆船上的新船舵修好了", "帆船上的新船舵又坏了"},
			bread: [3]string{"酸面包在烤箱里没有发酵", "酸面包要在热烤箱里发酵", "酸面包终于在烤箱里发酵了"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			items := []store.Item{
				topicItem("other", "trip", "ann", 3, map[string]string{"en": "Our neighbour plays the violin", "zh": "邻居会拉小提琴"}[name]),
				topicItem("bob", "trip", "bob", 4, c.boat[0]),
				topicItem("bob2", "trip", "bob", 6, c.boat[2]),
				topicItem("away", "work", "ann", 7, c.boat[1]),
			}
			for i := range 3 {
				items = append(items, topicItem(fmt.Sprint("boat", i), "trip", "ann", 1+4*i, c.boat[i]), topicItem(fmt.Sprint("bread", i), "trip", "ann", 2+4*i, c.bread[i]))
			}
			want := [][]string{{"boat0", "boat1", "boat2"}, {"bread0", "bread1", "bread2"}}
			g, err := Grouping{By: []string{ByTopic}}.WithDefaults()
			if err != nil {
				t.Fatal(err)
			}
			first := g.Groups(items, 1000)
			if diff := cmp.Diff(want, idsOf(first)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			for _, gr := range first {
				if gr.By != ByTopic {
					t.Errorf("a group by %s", gr.By)
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
				if diff := cmp.Diff(first, g.Groups(items, 1000), cmp.AllowUnexported(store.Value{})); diff != "" {
					t.Fatalf("another order of the same items (-first +now):\n%s", diff)
				}
			}
			// By day nothing is to be had here; what is grouped by day first leaves the same to the topics.
			both, err := Grouping{}.WithDefaults()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, idsOf(both.Groups(items, 1000))); diff != "" {
				t.Errorf("by day and topic (-want +got):\n%s", diff)
			}
			if got := both.Groups(items, 0); len(got) != 0 {
				t.Errorf("nothing need go, yet by topic: %v", idsOf(got))
			}
		})
	}
}

// A topic has no more words than a group may have: what is said of it beyond that begins another group.
func TestATopicIsCutAtItsWords(t *testing.T) {
	var items []store.Item
	for day := range 9 {
		items = append(items, topicItem(fmt.Sprint("i", day), "trip", "ann", day, "The sailing boat got a new rudder"))
	}
	g, err := Grouping{By: []string{ByTopic}, Words: 21}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"i0", "i1", "i2"}, {"i3", "i4", "i5"}, {"i6", "i7", "i8"}}
	if diff := cmp.Diff(want, idsOf(g.Groups(items, 1000))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
