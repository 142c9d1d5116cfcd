package extract

import "testing"

func TestWhatIsNotAssertedIsTold(t *testing.T) {
	for _, c := range []struct {
		turn, quote string
		unasserted  bool
	}{
		{"If I lived in Rome, I would buy a scooter.", "I lived in Rome", true},
		{"What if I live in Rome one day?", "I live in Rome", true},
		{"Suppose I am a doctor.", "I am a doctor", true},
		{"Let's say I live in Rome.", "I live in Rome", true},
		{"Imagine that I live in Rome.", "I live in Rome", true},
		{"Do I live in Rome?", "I live in Rome", true},
		{"I wish I lived in Rome.", "I lived in Rome", true},
		{`My boss said "I live in Rome" again.`, "I live in Rome", true},
		{"Role-play: I am a pirate and I live in Tortuga.", "I live in Tortuga", true},
		{"Pretend to be Ann. I live in Rome.", "I live in Rome", true},
		{"Translate: I live in Rome.", "I live in Rome", true},
		{"Write a story. I am a dragon.", "I am a dragon", true},
		{"Unless I move to Rome, nothing changes.", "I move to Rome", true},
		{"If I lived in Rome, I would buy a scooter.", "I would buy a scooter", true},
		{"假如我住在罗马，我就买辆车。", "我住在罗马", true},
		{"假如我住在罗马，我就买辆车。", "我就买辆车", true},
		{"我该做什么？", "我该做什么", true},
		{"我住在罗马吗？", "我住在罗马吗", true},
		{"如果我是医生呢？", "我是医生", true},
		{"要是我养了狗就好了。", "我养了狗", true},
		{"我住在罗马吗？", "我住在罗马", true},
		{"想象一下我住在罗马。", "我住在罗马", true},
		{"他说“我住在罗马”。", "我住在罗马", true},
		{"角色扮演：我是海盗。", "我是海盗", true},
		{"翻译：我住在罗马。", "我住在罗马", true},
		{"请帮我写一个故事。我是一条龙。", "我是一条龙", true},
		{"万一我搬到罗马怎么办", "我搬到罗马", true},

		{"I live in Rome.", "I live in Rome", false},
		{"If you ask me, I like tea.", "I like tea", false},
		{"I live in Rome, what is the weather like?", "I live in Rome", false},
		{"I live in Rome, right?", "I live in Rome", false},
		{"I live in Rome. Do I need a visa?", "I live in Rome", false},
		{"If it helps: I live in Rome.", "I live in Rome", false},
		{"Where is that? I live in Rome.", "I live in Rome", false},
		{`I live in Rome and read "Emma".`, "I live in Rome", false},
		{"Do I live in Rome? Yes, I live in Rome.", "I live in Rome", false},
		{"Can you help? I live in Rome and have two dogs.", "have two dogs", false},
		{"I translate books.", "I translate books", false},
		{"I always act as a referee.", "I always act as a referee", false},
		{"我住在罗马。", "我住在罗马", false},
		{"如果你问我，我喜欢茶。", "我喜欢茶", false},
		{"我住在罗马，天气怎么样？", "我住在罗马", false},
		{"我住在罗马，对吧？", "我住在罗马", false},
		{"我需要签证吗？我住在罗马。", "我住在罗马", false},
		{"假如下雨就不去，但是我喜欢雨。", "我喜欢雨", false},
		{"我喜欢《红楼梦》，住在罗马。", "住在罗马", false},
		{"我翻译小说。", "我翻译小说", false},
		{"我是医生，怎么办？", "我是医生", false},
		{"其实我住在罗马", "我住在罗马", false},
	} {
		if got := unasserted(c.turn, c.quote); got != c.unasserted {
			t.Errorf("%q in %q: %v, want %v", c.quote, c.turn, got, c.unasserted)
		}
	}
}
