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

		{"Maybe I will quit my job.", "I will quit my job", true},
		{"也许我会辞职。", "我会辞职", true},

		{"Perhaps odd, but I'd like answers in French.", "I'd like answers in French", false},
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

func TestWhatATurnDeniesIsNotItsStatement(t *testing.T) {
	for _, c := range []struct {
		turn, quote, content string
		denied               bool
	}{
		{"I do not eat peanuts.", "eat peanuts", "The user eats peanuts", true},
		{"I don't really like jazz.", "like jazz", "The user likes jazz", true},
		{"I'm not allergic to penicillin.", "allergic to penicillin", "The user is allergic to penicillin", true},
		{"I no longer live in Rome.", "live in Rome", "The user lives in Rome", true},
		{"I do not think I live in Rome.", "I live in Rome", "The user lives in Rome", true},
		{"我不喜欢咖啡，我住在上海。", "喜欢咖啡", "用户喜欢咖啡", true},
		{"我没有养狗。", "养狗", "用户养狗", true},

		{"I do not eat peanuts.", "eat peanuts", "The user does not eat peanuts", false},
		{"I do not eat peanuts.", "eat peanuts", "The user avoids eating peanuts", false},
		{"I do not eat meat.", "eat meat", "The user is a vegetarian", false},
		{"I do not eat peanuts. In fact I do eat peanuts.", "eat peanuts", "The user eats peanuts", false},
		{"I'm not only a doctor.", "a doctor", "The user is a doctor", false},
		{"I am not a doctor but a lawyer.", "a lawyer", "The user is a lawyer", false},
		{"I can't wait to visit Rome.", "visit Rome", "The user will visit Rome", false},
		{"I can't stop buying shoes.", "buying shoes", "The user keeps buying shoes", false},
		{"Don't forget I like tea.", "I like tea", "The user likes tea", false},
		{"I don't know, I live in Rome.", "I live in Rome", "The user lives in Rome", false},
		{"I do not smoke and drink coffee.", "drink coffee", "The user drinks coffee", false},
		{"我不喜欢咖啡。", "喜欢咖啡", "用户不喜欢咖啡", false},
		{"我不喝咖啡，喜欢茶。", "喜欢茶", "用户喜欢茶", false},
		{"我不仅喜欢咖啡。", "喜欢咖啡", "用户喜欢咖啡", false},
		{"我差不多每天喝茶。", "每天喝茶", "用户每天喝茶", false},
		{"我不是住在上海，是杭州。", "是杭州", "用户住在杭州", false},
	} {
		if got := denied(c.turn, c.quote, c.content); got != c.denied {
			t.Errorf("%q, %q, %q: %v, want %v", c.turn, c.quote, c.content, got, c.denied)
		}
	}
}
