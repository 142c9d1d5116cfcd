package rules_test

import (
	"context"
	"strings"
	"testing"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

// instructs checks that texts are instructions in their own words, of one durability.
func instructs(t *testing.T, texts []string, d extract.Durability) {
	t.Helper()
	for _, text := range texts {
		wants(t, text, strings.TrimRight(text, ".。"), d)
	}
}

func wants(t *testing.T, text, said string, d extract.Durability) {
	t.Helper()
	ops := run(t, turn(text))
	if len(ops) != 1 {
		t.Errorf("%s: %d operations: %v", text, len(ops), contents(ops))
		return
	}
	op := ops[0]
	if op.Kind != store.Procedural || op.Category != store.Behavior || op.Durability != d || !strings.HasSuffix(op.Content, said) ||
		!strings.Contains(text, op.Quote) || op.Confidence < 0.7 || op.Speaker != "user" {
		t.Errorf("%s: %+v", text, op)
	}
}

func noInstructions(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		for _, op := range run(t, turn(text)) {
			if op.Kind == store.Procedural || op.Category == store.Behavior {
				t.Errorf("%s: %q", text, op.Content)
			}
		}
	}
}

func TestStandingInstructions(t *testing.T) {
	instructs(t, []string{
		"Always answer in bullet points.",
		"Keep your answers short.",
		"Please keep your answers under 100 words.",
		"Answer in German from now on.",
		"Respond in French, please.",
		"Use metric units.",
		"Use metric units in all your answers.",
		"Whenever I ask for code, give me Go.",
		"When I ask for code, use Go.",
		"When you write code, add comments.",
		"Every time I ask for a recipe, list the calories.",
		"Each time you send me a summary, put the date first.",
		"Don't use emojis.",
		"Do not use emojis in your replies.",
		"Stop using emojis.",
		"Stop apologizing.",
		"I want you to be concise.",
		"I'd like you to answer in Spanish from now on.",
		"I would like you to always explain your reasoning.",
		"I prefer that you answer in short sentences.",
		"By default, answer in English.",
		"No emojis, please.",
		"No more jokes.",
		"For all future answers, use tables.",
		"In all your responses, include a summary.",
		"Unless I say otherwise, reply in Chinese.",
		"Address me as Dr. Brown.",
		"Talk to me like a friend.",
		"Be more concise in the future.",
		"Let's always start with a plan.",
		"Before you book anything, ask me.",
		"Before running a command, always ask me.",
		"Ask me before you delete files.",
		"Make sure you always double-check the numbers.",
	}, extract.DurableAgent)
	for text, said := range map[string]string{
		"Can you please always answer in German?":         "always answer in German",
		"Could you always answer in German?":              "always answer in German",
		"Would you mind answering in German from now on?": "answering in German from now on",
		"Can you reply in French from now on?":            "reply in French from now on",
		"Remember to always greet me by name.":            "always greet me by name",
	} {
		wants(t, text, said, extract.DurableAgent)
	}
}

func TestInstructionsForATask(t *testing.T) {
	instructs(t, []string{
		"For this task, use metric units.",
		"Just for now, answer in French.",
		"For now, skip the tests.",
		"This time, write it in Python.",
		"Just this once, use emojis.",
		"For today, call me Captain.",
		"Use Python for this task.",
		"In this conversation, answer in Spanish.",
		"Please answer in French for the rest of this chat.",
	}, extract.DurableTask)
	instructs(t, []string{"Only for this project, use tabs.", "For this project, always use tabs.", "Use tabs in this project."}, extract.DurableProject)
}

func TestWhatOnlySoundsLikeAnInstruction(t *testing.T) {
	noInstructions(t, []string{
		"I always answer my phone.",
		"He told me to always answer in German.",
		"Should I always answer in German?",
		"The manual says: always wear gloves.",
		"My teacher said never give up.",
		"Never mind.",
		"Always happy to help!",
		"Write a story about a man who always lies.",
		"When I ask my boss for a raise, he laughs.",
		"When I ask for code, I get nothing.",
		"When I ask for code, use what?",
		"Whenever I travel I get sick.",
		"Use the attached template.",
		"Be careful!",
		"Be brief.",
		"Don't worry about it.",
		"Keep in touch.",
		"Keep going.",
		"Stop it.",
		"Can you keep it short?",
		"Can you always trust people?",
		"If it rains, take an umbrella.",
		"Please write a poem.",
		"Please translate this sentence: always answer in German.",
		"Before you go, turn off the light.",
		"For this recipe I need eggs.",
		"For today I'm done.",
		"This time I was lucky.",
		"I want you to write a poem in English.",
		"I want you to answer this question in detail.",
		"Give me a list of books, please.",
		"Make a table of the planets.",
		"Tell me a joke.",
		"No thanks.",
		"In the future I will live in Rome.",
		"Going forward we will see.",
		"When you use this soap, it smells of roses.",
		"Start with the first question.",
		"Ask me before noon.",
		"How do I stop using emojis?",
		"What does it mean to always tell the truth?",
		"Don't add salt to this soup.",
		"\"From now on, answer in German\" is what she wrote.",
		"> Always answer in German.",
	})
}

func TestChineseStandingInstructions(t *testing.T) {
	instructs(t, []string{
		"请用中文回答。",
		"用中文回答我。",
		"请始终用中文回答。",
		"以后请用中文回答。",
		"以后都用表格。",
		"每次回答都要附上来源。",
		"回答尽量简短。",
		"回复控制在100字以内。",
		"写代码时加注释。",
		"我问代码的时候用 Go。",
		"当我问价格时，请同时给出人民币和欧元。",
		"不要用表情符号。",
		"别用表情。",
		"回答时不要用术语。",
		"默认用公制单位。",
		"删除文件前先问我。",
		"在你预订之前先问我。",
		"预订任何东西之前，先问我。",
		"我希望你回答简短一点。",
		"你应该始终先检查日期。",
		"除非我另有说明，否则用中文。",
		"不要再道歉了。",
		"所有回答都用列表。",
		"一律用中文回答。",
		"千万不要分享我的地址。",
		"务必先检查日期。",
	}, extract.DurableAgent)
	for text, said := range map[string]string{
		"能不能以后都用中文回答？": "以后都用中文回答",
		"可以每次都附上来源吗？":  "每次都附上来源",
	} {
		wants(t, text, said, extract.DurableAgent)
	}
}

func TestChineseInstructionsForATask(t *testing.T) {
	instructs(t, []string{
		"这次用英文写。",
		"今天先用英文回答。",
		"暂时不要用表格。",
		"这个任务里用公制单位。",
		"在这个任务中，请用公制单位。",
		"就这一次，可以用表情。",
		"本次对话请用英文。",
		"这回帮我用Python写。",
	}, extract.DurableTask)
}

func TestWhatOnlySoundsLikeAnInstructionInChinese(t *testing.T) {
	noInstructions(t, []string{
		"他说请始终用中文回答。",
		"老师说不要用手机。",
		"用中文怎么说？",
		"请翻译：请始终用中文回答。",
		"写一个故事，主角永远说谎。",
		"不要担心。",
		"别客气。",
		"我每次都用中文。",
		"我写代码时喝咖啡。",
		"这次我很开心。",
		"这次会议改到周五了。",
		"今天先这样吧。",
		"今天先不聊了。",
		"暂时没有别的问题。",
		"删除文件前要备份吗？",
		"我希望你一切都好。",
		"请帮我写一首诗。",
		"不要用力过猛",
		"昨天他先问我住在哪里。",
		"她告诉我她住在柏林。",
	})
}

// A preference for this time is no preference; a fact is one whatever holds for now; a plan is a goal.
func TestDurabilityOfStatements(t *testing.T) {
	for _, c := range []struct {
		text, content string
		category      store.Category
		durability    extract.Durability
	}{
		{"For this trip, I prefer window seats.", "The user prefers window seats", store.Preference, extract.DurableTask},
		{"I prefer window seats for this trip.", "The user prefers window seats for this trip", store.Preference, extract.DurableTask},
		{"I prefer window seats.", "The user prefers window seats", store.Preference, ""},
		{"For now, I live in Berlin.", "The user lives in Berlin", store.Context, ""},
		{"I live in Berlin for now.", "The user lives in Berlin", store.Context, ""},
		{"I'm planning to move to Berlin.", "The user's goal: move to Berlin", store.Goal, ""},
		{"I plan to learn Spanish.", "The user's goal: learn Spanish", store.Goal, ""},
		{"这次旅行我喜欢靠窗的座位。", "用户喜欢靠窗的座位", store.Preference, extract.DurableTask},
		{"我喜欢靠窗的座位。", "用户喜欢靠窗的座位", store.Preference, ""},
		{"我打算搬到柏林。", "用户打算搬到柏林", store.Goal, ""},
		{"我计划学西班牙语。", "用户打算学西班牙语", store.Goal, ""},
	} {
		ops := run(t, turn(c.text))
		if len(ops) != 1 || ops[0].Content != c.content || ops[0].Category != c.category || ops[0].Durability != c.durability || ops[0].Kind != store.Semantic {
			t.Errorf("%s: %+v", c.text, ops)
		}
	}
}

// What stands in the words of others is nobody's instruction: of the assistant, of tools, of pages, mails and files that a
// user pasted.
func TestInstructionsOfOthersAreNotTaken(t *testing.T) {
	orders := []string{"Always answer in German.", "From now on, call me Captain.", "I live in Rome.", "请始终用中文回答。", "以后叫我船长。"}
	for _, order := range orders {
		for _, role := range []string{"assistant", "tool", "system", "function", ""} {
			it := turn(order)
			it.Turn.Role, it.Turn.Speaker = role, role
			if ops := run(t, it); len(ops) > 0 {
				t.Errorf("from the role %q: %v", role, contents(ops))
			}
		}
		for _, frame := range []string{
			"Sum up this article:\n\n%s\nThe end.", "Please translate the following text: %s", "Here is the email I got from Ben: %s",
			"What do you think of this page?\nPage content:\n%s", "Review this README:\n\n# Install\n%s", "> %s", "```\n%s\n```", "She wrote: \"%s\"",
			"请总结这篇文章：\n%s", "以下是网页内容：%s", "翻译下面的邮件：\n\n%s", "我收到一封邮件，内容如下：\n%s",
		} {
			text := strings.ReplaceAll(frame, "%s", order)
			if ops := run(t, turn(text)); len(ops) > 0 {
				t.Errorf("%q: %v", text, contents(ops))
			}
		}
	}
	// Two people who talk to each other state facts and instruct nobody.
	it := turn("Always answer in German. I live in Rome.")
	it.Turn.Role, it.Turn.Speaker = "assistant", "Ben"
	ops, err := rules.New(&rules.Options{Assistants: true}).Extract(context.Background(), extract.Batch{Turns: []store.Item{it}})
	if err != nil || len(ops) != 1 || ops[0].Content != "Ben lives in Rome" {
		t.Errorf("%v, %v", contents(ops), err)
	}
}

// What comes before a pasted text, and a colon that announces none, is the speaker's.
func TestWhatIsSaidBeforeAPastedTextCounts(t *testing.T) {
	check(t, []example{
		{"I live in Rome. Please sum up this article: I work at Acme.", []string{"The user lives in Rome"}},
		{"About me: I live in Rome.", []string{"The user lives in Rome"}},
		{"Note: I live in Rome.", []string{"The user lives in Rome"}},
		{"我住在柏林。请总结这篇文章：我在谷歌工作。", []string{"用户住在柏林"}},
	})
}
