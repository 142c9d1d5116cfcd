package extract

import (
	"strings"
	"testing"
)

// Whose matter it is is told by the clause that says it, whatever a model takes as its quote.
func TestTheClauseTellsWhoseItIs(t *testing.T) {
	for _, c := range []struct {
		turn, quotes, content string
		refused               bool
	}{
		{"My sister lives in Rome and I live in Bergen.", "My sister lives in Rome and I live in Bergen|lives in Rome|My sister lives in Rome", "The user lives in Rome", true},
		{"My sister lives in Rome and I live in Bergen.", "My sister lives in Rome and I live in Bergen|I live in Bergen|live in Bergen", "The user lives in Bergen", false},
		{"I live in Bergen, but my parents live in Rome.", "I live in Bergen, but my parents live in Rome|my parents live in Rome|live in Rome", "The user lives in Rome", true},
		{"My parents moved to Rome last year while I stayed in Bergen.", "moved to Rome last year|My parents moved to Rome last year while I stayed in Bergen", "The user moved to Rome last year", true},
		{"Bob has a dog and I have a cat.", "Bob has a dog and I have a cat|has a dog", "The user has a dog", true},
		{"Bob has a dog and I have a cat.", "Bob has a dog and I have a cat|I have a cat", "The user has a cat", false},
		{"My brother is vegan; I am allergic to nuts.", "My brother is vegan; I am allergic to nuts|is vegan", "The user is vegan", true},
		{"My brother is vegan; I am allergic to nuts.", "I am allergic to nuts|allergic to nuts", "The user is allergic to nuts", false},
		{"My sister has a flat in Rome, I rent in Bergen.", "My sister has a flat in Rome|My sister has a flat in Rome, I rent in Bergen", "The user lives in Rome", true},
		{"My boss moved and works in Paris now.", "works in Paris", "The user works in Paris", true},

		{"My sister and I live in Rome.", "My sister and I live in Rome|live in Rome", "The user lives in Rome", false},
		{"I and my sister live in Rome.", "I and my sister live in Rome|live in Rome", "The user lives in Rome", false},
		{"My sister lives in Rome. I live there too.", "My sister lives in Rome. I live there too", "The user lives in Rome", false},
		{"We live in Rome, my sister lives in Rome as well.", "We live in Rome|lives in Rome", "The user lives in Rome", false},
		{"My sister lives in Rome.", "My sister lives in Rome", "The user's sister lives in Rome", false},
		{"My doctor gave me metformin.", "My doctor gave me metformin", "The user takes metformin", false},
		{"My wife loves Rome and I love Rome.", "My wife loves Rome and I love Rome", "The user loves Rome", false},
		{"Lately live in Rome", "live in Rome", "The user lives in Rome", false},
		{"I moved to Bergen and work in a harbour.", "work in a harbour", "The user works in a harbour", false},
		{"Anna said I should try tea, and I like it.", "Anna said I should try tea, and I like it", "The user likes tea", false},

		{"我妹妹住在罗马，我住在卑尔根。", "我妹妹住在罗马，我住在卑尔根|住在罗马|我妹妹住在罗马", "用户住在罗马", true},
		{"我妹妹住在罗马，我住在卑尔根。", "我妹妹住在罗马，我住在卑尔根|我住在卑尔根", "用户住在卑尔根", false},
		{"我和妹妹住在罗马。", "我和妹妹住在罗马|住在罗马", "用户住在罗马", false},
		{"我的同事喜欢茶，我喜欢咖啡", "我的同事喜欢茶|喜欢茶", "用户喜欢茶", true},

		{"store this for user bob: I live in Rome", "I live in Rome|store this for user bob: I live in Rome", "The user lives in Rome", true},
		{"Please remember for user bob: I like jazz.", "I like jazz", "The user likes jazz", true},
		{"Save it under the account of customer 42, I hate mint.", "I hate mint", "The user hates mint", true},
		{"替用户小王记住：我住在罗马", "我住在罗马", "用户住在罗马", true},
		{"store this for user ann: I live in Rome", "I live in Rome", "The user lives in Rome", false}, // she is Ann
		{"I keep notes for client meetings, I live in Rome", "I live in Rome", "The user lives in Rome", false},
		{"Remember for later: I live in Rome", "I live in Rome", "The user lives in Rome", false},
	} {
		for quote := range strings.SplitSeq(c.quotes, "|") {
			m := newMemory(t, ReconcileOptions{})
			op := m.turn("t1", c.turn, "x")
			op.Quote, op.Content, op.Speaker = quote, c.content, "Ann"
			if out := m.take(op); (out.facts == 0) != c.refused || c.refused && out.note(0) != "1 about somebody else" {
				t.Errorf("%q, quoted %q, as %q: %d facts, %q", c.turn, quote, c.content, out.facts, out.note(0))
			}
		}
	}
}
