package recall

import (
	"fmt"
	"math"
	"testing"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// talk is a conversation of one session; turns are "speaker: text".
func talk(turns ...[2]string) *fake {
	f := newFake()
	for i, t := range turns {
		f.add(alice, turn(string(rune('a'+i)), "s", i, t[0], t[1], now.Add(-240*time.Hour)))
	}
	return f
}

// terms asks and returns the terms of each item.
func termsOf(t *testing.T, f *fake, query string) (map[string]map[string]float64, *Response) {
	t.Helper()
	res := recall(t, engine(t, f, nil, Options{}), Request{Query: query, Limit: 50, Explain: true, MinScore: ptr(0.0)})
	out := map[string]map[string]float64{}
	for _, h := range res.Hits {
		out[h.Item.ID] = h.Explain.Terms
	}
	return out, res
}

func TestAReplyStandsAboveTheQuestionItAnswers(t *testing.T) {
	f := talk(
		[2]string{"Nora", "Tom, which instrument did your sister take up?"},
		[2]string{"Tom", "The cello, and she loves it."},
		[2]string{"Nora", "Lovely! The weather is grey here."},
		[2]string{"Tom", "Grey here, too, all week long."})
	terms, res := termsOf(t, f, "Which instrument did Tom's sister take up?")
	if res.Hits[0].Item.ID != "b" {
		t.Errorf("first is %s", res.Hits[0].Item.ID)
	}
	if terms["a"]["asks"] != 1 || terms["b"]["asks"] != 0 || terms["b"]["reply"] <= 0 || terms["d"]["reply"] != 0 {
		t.Errorf("%v\n%v\n%v", terms["a"], terms["b"], terms["d"])
	}
}

func TestATurnGainsByTheOneBehindIt(t *testing.T) {
	f := talk(
		[2]string{"Tom", "I finally won something big at the club on Friday."},
		[2]string{"Nora", "Wow, a chess tournament trophy!"},
		[2]string{"Tom", "The cat sleeps on my lap."},
		[2]string{"Nora", "Mine does that all day."})
	terms, _ := termsOf(t, f, "When did Tom win the chess tournament trophy?")
	if !(terms["a"]["next"] > 0) || terms["c"]["next"] >= 0 || terms["d"]["next"] != 0 {
		t.Errorf("%v %v %v", terms["a"]["next"], terms["c"]["next"], terms["d"]["next"])
	}
}

func TestMannerCountsByWhoTalks(t *testing.T) {
	people := talk([2]string{"Nora", "Do you know Porto, Tom?"}, [2]string{"Tom", "Yes, I saw Porto and Braga in spring."})
	terms, _ := termsOf(t, people, "Which cities did Tom see?")
	if terms["a"]["asks"] != 1 || terms["a"]["address"] != 0 || terms["b"]["names"] != 0.5 || terms["b"]["name"] != 0.5 {
		t.Errorf("between people: %v %v", terms["a"], terms["b"])
	}
	// The names of those who talk tell nothing.
	if terms["a"]["names"] != 0.25 {
		t.Errorf("the speaker's name counts: %v", terms["a"])
	}
	chat := newFake()
	chat.add(alice, spoken("a", "s", 0, "user", "Can you tell me of Porto?"))
	chat.add(alice, spoken("b", "s", 1, "assistant", "You will like Porto."))
	terms, _ = termsOf(t, chat, "What about Porto?")
	if terms["a"]["asks"] != 0 || terms["b"]["names"] != 0 || !(terms["b"]["address"] > 0) || terms["b"]["name"] != 0 {
		t.Errorf("with an assistant: %v %v", terms["a"], terms["b"])
	}
	// Where people and an assistant are of one memory, each turn counts as what it is.
	people.add(alice, spoken("z", "t", 0, "user", "Can you tell me of Faro?"))
	terms, _ = termsOf(t, people, "What about Faro and Porto?")
	if terms["z"]["asks"] != 0 || !(terms["z"]["address"] > 0) || terms["a"]["asks"] != 1 {
		t.Errorf("mixed: %v %v", terms["z"], terms["a"])
	}
	// A fact has a name, where one is asked for, and no neighbours.
	facts := newFake()
	it := item("f", "", "The user has been to Porto and Braga")
	it.Kind = store.Semantic
	facts.add(alice, it)
	terms, _ = termsOf(t, facts, "Where has the user been?")
	if terms["f"]["name"] != 0.5 || terms["f"]["names"] != 0 || terms["f"]["next"] != 0 {
		t.Errorf("a fact: %v", terms["f"])
	}
}

// An item in another script than the question neither gains nor loses by how it speaks.
func TestMannerCountsInTheScriptOfTheQuestion(t *testing.T) {
	f := talk([2]string{"Nora", "She runs along the Tejo to Belem each morning."}, [2]string{"Tom", "Does Ines run in Porto?"}, [2]string{"Nora", "她每天早上在河边跑步。"})
	terms, _ := termsOf(t, f, "她每天早上在哪里跑步?")
	for id, x := range terms {
		if x["name"] != 0 || x["names"] != 0 || id != "c" && (x["asks"] != 0 || x["address"] != 0) {
			t.Errorf("%s: %v", id, x)
		}
	}
}

// A long item has no context and its manner says nothing, but what follows its question is a reply.
func TestMannerOfLongItems(t *testing.T) {
	long := ""
	for range 100 {
		long += "The harbour of Porto is wide. "
	}
	f := talk([2]string{"Nora", long + "Where is the lighthouse?"}, [2]string{"Tom", "Out on the northern pier."})
	terms, _ := termsOf(t, f, "Where is the lighthouse?")
	if terms["a"]["names"] != 0 || terms["a"]["next"] != 0 || !(terms["b"]["reply"] > 0) {
		t.Errorf("%v %v", terms["a"], terms["b"])
	}
}

// Whatever manner adds, parts sum to the score, which stays in [0,1].
func TestMannerKeepsTheScoreContract(t *testing.T) {
	f := talk([2]string{"Nora", "Who is that?"}, [2]string{"Tom", "That is Aunt Vera, Uncle Leo, Cousin Ida and Old Piet."}, [2]string{"Nora", "Who? Who? Who?"})
	_, res := termsOf(t, f, "Who is that?")
	for _, h := range res.Hits {
		sum := h.Parts.Semantic + h.Parts.Recency + h.Parts.Importance + h.Parts.Update
		if math.Abs(sum-h.Score) > 1e-6 || h.Score < 0 || h.Score > 1 || h.Parts.Semantic < 0 {
			t.Errorf("%s: %+v, %v", h.Item.ID, h.Parts, h.Score)
		}
	}
}

// BenchmarkManner reads what stands in the candidates of one scope.
func BenchmarkManner(b *testing.B) {
	var all []*candidate
	for i := range 250 {
		it := turn(fmt.Sprint(i), "s", i, []string{"Nora", "Tom"}[i%2], "Thanks, Tom! Last week I took the night train to Porto with Aunt Vera, and we read aloud until morning. Have you ever been there?", now)
		doc := scoring.NewDoc(it.Turn.Speaker, it.Content, it.Local())
		all = append(all, &candidate{record: &store.Record{Item: it, Doc: &doc}})
	}
	p := &plan{asksName: true}
	b.ReportAllocs()
	for b.Loop() {
		p.scoreManner(all, true)
	}
}

// A person's lasting wish bears on what that person asks help for, not on what was, nor on what others say.
func TestALastingWishStandsHigherWhereHelpIsAsked(t *testing.T) {
	f := newFake()
	f.add(alice, spoken("a", "s", 0, "user", "Always name the platform when I ask for films."))
	f.add(alice, spoken("b", "s", 1, "assistant", "I would rather name the platform of films."))
	f.add(alice, spoken("c", "s", 2, "user", "We saw films on the big platform."))
	terms, res := termsOf(t, f, "Which films can you suggest?")
	if terms["a"]["wish"] != 1 || terms["b"]["wish"] != 0 || terms["c"]["wish"] != 0 || res.Hits[0].Item.ID != "a" {
		t.Errorf("help: %v %v %v, first %s", terms["a"]["wish"], terms["b"]["wish"], terms["c"]["wish"], res.Hits[0].Item.ID)
	}
	f.add(alice, spoken("d", "s", 3, "tool", "Always name the platform when I ask for films."))
	if terms, _ = termsOf(t, f, "Which films can you suggest?"); terms["d"]["wish"] != 0 {
		t.Error("what a tool returned is taken for a person's wish")
	}
	if terms, _ = termsOf(t, f, "Which films did I mention?"); terms["a"]["wish"] != 0 {
		t.Error("the wish counts for what was told")
	}
	people := talk([2]string{"Nora", "I prefer films on the big screen."}, [2]string{"Tom", "Me too, films are for that."})
	if terms, _ = termsOf(t, people, "Which films can you suggest?"); terms["a"]["wish"] != 0 {
		t.Error("it counts between people")
	}
}
