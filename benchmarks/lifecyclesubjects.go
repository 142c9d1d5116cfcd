package benchmarks

// moreSubjects are further subjects of a language, written before any run over them.
func moreSubjects(language string) []lifeSubject {
	if language == "zh" {
		return []lifeSubject{
			{"pet", "用户养什么宠物?", [3]string{"用户养了一只花猫", "用户养了一只灰鹦鹉", "用户养了一只乌龟"}},
			{"commute", "用户怎么去上班?", [3]string{"用户骑车上班", "用户坐地铁上班", "用户走路上班"}},
			{"instrument", "用户演奏什么乐器?", [3]string{"用户拉大提琴", "用户吹小号", "用户弹古筝"}},
			{"editor", "用户用什么编辑器写代码?", [3]string{"用户用Vim写代码", "用户用Emacs写代码", "用户用Helix写代码"}},
			{"coffee", "用户怎么喝咖啡?", [3]string{"用户喝黑咖啡", "用户喝加燕麦奶的咖啡", "用户戒了咖啡改喝茶"}},
			{"doctor", "用户的家庭医生是谁?", [3]string{"用户的家庭医生是欧阳大夫", "用户的家庭医生是诸葛大夫", "用户的家庭医生是司马大夫"}},
			{"bank", "用户的工资发到哪家银行?", [3]string{"用户的工资发到海港银行", "用户的工资发到雪山银行", "用户的工资发到草原信用社"}},
			{"manager", "用户的上级是谁?", [3]string{"用户的上级是老秦", "用户的上级是小顾", "用户的上级是韩姐"}},
			{"book", "用户在读什么书?", [3]string{"用户在读一本讲冰川的书", "用户在读一本写泉州的小说", "用户在读一部盐的历史"}},
			{"shoe size", "用户穿多大的鞋?", [3]string{"用户穿41码的鞋", "用户穿42码的鞋", "用户穿43码的鞋"}},
			{"garden", "用户的院子里种着什么?", [3]string{"用户的院子里种着番茄", "用户的院子里种着丝瓜", "用户的院子里种着茉莉"}},
			{"holiday", "用户今年去哪里度假?", [3]string{"用户今年去三亚度假", "用户今年去漠河度假", "用户今年在家不出门"}},
			{"school", "用户的女儿上哪所学校?", [3]string{"用户的女儿上育英小学", "用户的女儿上江边小学", "用户的女儿上橡树小学"}},
			{"deadline", "用户的论文什么时候交?", [3]string{"用户的论文五月交", "用户的论文七月交", "用户的论文十月交"}},
			{"answers", "用户要什么样的回答?", [3]string{"用户要分条列出的回答", "用户要写成一段的回答", "用户要带表格的回答"}},
		}
	}
	return []lifeSubject{
		{"pet", "Which pet does the user have?", [3]string{"The user has a tabby cat", "The user has a grey parrot", "The user has a tortoise"}},
		{"commute", "How does the user get to work?", [3]string{"The user cycles to work", "The user takes the tram to work", "The user walks to work"}},
		{"instrument", "Which instrument does the user play?", [3]string{"The user plays the cello", "The user plays the trumpet", "The user plays the accordion"}},
		{"editor", "Which editor does the user write code in?", [3]string{"The user writes code in Vim", "The user writes code in Emacs", "The user writes code in Helix"}},
		{"coffee", "How does the user take coffee?", [3]string{"The user takes coffee black", "The user takes coffee with oat milk", "The user has given up coffee for tea"}},
		{"doctor", "Who is the user's doctor?", [3]string{"The user's doctor is Dr Okafor", "The user's doctor is Dr Lindqvist", "The user's doctor is Dr Marchetti"}},
		{"bank", "Which bank does the user bank with?", [3]string{"The user banks with Harbour Savings", "The user banks with Alpine Trust", "The user banks with Meadow Credit Union"}},
		{"manager", "Who does the user report to?", [3]string{"The user reports to Priya", "The user reports to Gustav", "The user reports to Yasmin"}},
		{"book", "What is the user reading?", [3]string{"The user is reading a book about glaciers", "The user is reading a novel set in Lagos", "The user is reading a history of salt"}},
		{"shoe size", "What is the user's shoe size?", [3]string{"The user's shoe size is 41", "The user's shoe size is 42", "The user's shoe size is 43"}},
		{"garden", "What grows in the user's garden?", [3]string{"Tomatoes grow in the user's garden", "Courgettes grow in the user's garden", "Lavender grows in the user's garden"}},
		{"holiday", "Where does the user go on holiday this year?", [3]string{"The user goes to Crete on holiday this year", "The user goes to Lapland on holiday this year", "The user stays at home this year"}},
		{"school", "Which school does the user's daughter go to?", [3]string{"The user's daughter goes to Hillside School", "The user's daughter goes to Riverbank School", "The user's daughter goes to Oakfield School"}},
		{"deadline", "When is the user's thesis due?", [3]string{"The user's thesis is due in May", "The user's thesis is due in July", "The user's thesis is due in October"}},
		{"answers", "How does the user want answers?", [3]string{"The user wants answers in bullet points", "The user wants answers in one paragraph", "The user wants answers with a table"}},
	}
}
