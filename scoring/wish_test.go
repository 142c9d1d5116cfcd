package scoring

import (
	"strings"
	"testing"
)

func TestWishes(t *testing.T) {
	for text, want := range map[string]bool{
		"Always give sources when you quote a figure.":                    true,
		"Thanks. And please never use tables in an answer.":               true,
		"OK, so always start with the summary":                            true,
		"Remember to always round up.":                                    true,
		"Use metric units whenever I ask about recipes.":                  true,
		"From now on, short answers please.":                              true,
		"Please don't suggest anything with peanuts.":                     true,
		"I’d much rather walk than drive, can you plan that?":             true,
		"I usually prefer trains, so what do you think of the night one?": true,
		"Given my preference for quiet rooms, which hotel is best?":       true,
		"我更喜欢安静的酒店":                                                       true,
		"不喜欢太吵的餐厅，帮我选一家":                                                  true,
		"你知道我更喜欢步行":                                                       true,
		"他很忙。我宁愿坐火车":                                                      true,
		"他不喜欢猫":                                                           false, // somebody else's
		"我妈妈不喜欢猫":                                                         false,
		"老板更喜欢开早会，怎么办":                                                    false,
		"大家都偏好周五，行吗":                                                      false,
		"以后请用中文回答":                                                        true,
		"":                                                                false,
		"Never mind, it works now.":                                       false,
		"Never been to Porto, is it nice?":                                false,
		"I always take the tram to work.":                                 false, // a habit: what lasts, but nothing that an answer has to heed
		"She said that the result is never zero.":                         false,
		"Which of the two do people prefer?":                              false,
		"It was rather late when I asked my boss.":                        false,
		"我昨天去了医院":                                                         false,
	} {
		if got := Wishes(text); got != want {
			t.Errorf("Wishes(%q) = %v", text, got)
		}
	}
}

func TestWishesReadsTheBeginningOfALongText(t *testing.T) {
	if Wishes(strings.Repeat("The harbour is wide. ", 1<<15) + "From now on, answer in French.") {
		t.Error("read the end of a megabyte")
	}
}

func TestAsksTold(t *testing.T) {
	for q, want := range map[string]bool{
		"Did I ever book the night train?":                      true,
		"What did you recommend for the trip?":                  true,
		"How many museums have I seen?":                         true,
		"In which order did the talks come, and what was first": true,
		"Which hotel did we agree on?":                          true,
		"What seat had I mentioned to you?":                     true,
		"我之前说过喜欢哪家酒店吗？":                                         true,
		"我一共去了几次北京？":                                            true,
		"Can you suggest a hotel in Porto?":                     false,
		"How do I get from Porto to Braga?":                     false,
		"What should I pack when it rains?":                     false,
		"I'm planning a dinner. What dishes would work?":        false,
		"帮我推荐一家酒店":                                              false,
		"":                                                      false,
	} {
		if got := AsksTold(q); got != want {
			t.Errorf("AsksTold(%q) = %v", q, got)
		}
	}
}

func FuzzWishes(f *testing.F) {
	f.Add("Always answer in French. Never mind. 以后请用中文")
	f.Fuzz(func(_ *testing.T, s string) { Wishes(s); AsksTold(s) })
}

func BenchmarkWishes(b *testing.B) {
	text := "Thanks, that helps a lot! Last week I finally took the night train to Porto with my aunt, and we read aloud until morning. Can you please tell me how to get from the station to the harbour?"
	b.ReportAllocs()
	for b.Loop() {
		Wishes(text)
	}
}
