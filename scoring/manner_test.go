package scoring

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMannerOf(t *testing.T) {
	known := []string{"nora", "tom"}
	for _, c := range []struct {
		text                 string
		asks, names, address float64
		ends                 bool
	}{
		{"", 0, 0, 0, false},
		{"I moved to Porto in spring.", 0, 0.25, 0, false},
		{"Porto is lovely.", 0, 0, 0, false}, // how a sentence begins says nothing
		{"Thanks, Tom! And how is Nora's sister?", 0.5, 0, 0, true},
		{"Really? Tell me more about it!", 0.5, 0, 0, false},
		{"What?! No way.", 0.5, 0, 0, false},
		{"Do you like your job?", 1, 0, 1, true},
		{"You’re kind, but I'd rather read one more chapter of it tonight", 0, 0, 1 / 12.0 / 0.3, false},
		{"I read \"The Sea Wolf\", a gift from Aunt Vera and Uncle Leo", 0, 1, 0, false},
		{"Version 3.5 is at example.org now", 0, 0, 0, false},
		{"Look at this [a photo of what? by You and Berlin Wall]", 0, 0, 0, false},
		{"你喜欢爬山吗？我喜欢。", 0.5, 0, 2 / 6.0 / 0.3, false},
		{"我在看《红楼梦》", 0, 0.5, 0, false},
		{"[unclosed? you", 0, 0, 0, false},
		{"so ???", 1, 0, 0, true},
	} {
		m := MannerOf(c.text, known)
		if math.Abs(m.Asks-c.asks) > 1e-9 || math.Abs(m.Names-c.names) > 1e-9 || math.Abs(m.Address-min(c.address, 1)) > 1e-9 || m.Ends != c.ends {
			t.Errorf("%q: %+v, want %+v", c.text, m, c)
		}
	}
}

func TestMannerStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("aA?!. [],你？《b1\u00a0")), 0, 60, -1)).Draw(t, "text")
		m := MannerOf(text, nil)
		for _, v := range []float64{m.Asks, m.Names, m.Address} {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%q: %+v", text, m)
			}
		}
		if m.Ends && m.Asks == 0 {
			t.Fatalf("%q ends with a question and asks nothing", text)
		}
	})
}

func TestMannerOfALongTextIsBounded(t *testing.T) {
	if m := MannerOf(strings.Repeat("Really? ", 1<<16)+"No.", nil); m.Asks != 1 {
		t.Errorf("%+v", m)
	}
}

func TestAsksName(t *testing.T) {
	for q, want := range map[string]bool{
		"Who gave Nora the kite?": true, "Where does she live?": true, "What is the name of the dog?": true,
		"Which cities has he seen?": true, "What kind of games do they play?": true, "What book did Tom read?": true,
		"When did Nora move?": false, "What did Tom buy?": false, "How often does he swim?": false, "": false,
		"他住在哪里？": true, "她的猫叫什么？": true, "他什么时候搬家？": false,
	} {
		if AsksName(q) != want {
			t.Errorf("%q: %v", q, !want)
		}
	}
}

func BenchmarkMannerOf(b *testing.B) {
	text := "Thanks, Tom! Last week I finally took the night train to Porto with Aunt Vera, and we read \"The Sea Wolf\" aloud until morning. Have you ever been there? [a photo of a train at a platform]"
	known := []string{"nora", "tom"}
	b.ReportAllocs()
	for b.Loop() {
		MannerOf(text, known)
	}
}
