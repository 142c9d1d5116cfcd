package replytest

// SectionShape is an answer with sections of a profile and what is to be read in it.
type SectionShape struct {
	Name, Text string
	Sections   string // "work t1,t2: text; personal t1: text"
	Bad        string // "reason name" of the others, in order, joined by "; "
}

// Work is a section as it was asked for.
const Work = `{"should_update":true,"content":"The user is a nurse in Oslo.","turns":["t1","t2"]}`

// Sections are answers to a conversation of the turns t1 to t3 that hold sections, well formed and not.
func Sections() []SectionShape {
	const none = `{"should_update":false,"content":null,"turns":[]}`
	const work, both = "work t1,t2: The user is a nurse in Oslo.", "work t1,t2: The user is a nurse in Oslo.; personal t3: Has a cat."
	const cat = `{"should_update":true,"content":"Has a cat.","turns":["t3"]}`
	return []SectionShape{
		{"as asked", `{"operations":[],"profile":{"work":` + Work + `,"personal":` + none + `,"top_of_mind":` + none + `,"recent_months":` + none + `,"earlier":` + none + `,"long_term":` + none + `}}`, work, ""},
		{"two", `{"operations":[` + Tea + `],"profile":{"personal":` + cat + `,"work":` + Work + `}}`, both, ""},
		{"alone", `{"profile":{"work":` + Work + `}}`, work, ""},
		{"none", `{"operations":[],"profile":{}}`, "", ""},
		{"null", `{"operations":[],"profile":null}`, "", ""},
		{"null sections", `{"operations":[],"profile":{"work":null,"personal":` + cat + `}}`, "personal t3: Has a cat.", ""},
		{"fenced with prose", "Here:\n```json\n{\"operations\":[],\"profile\":{\"work\":" + Work + ",},}\n```\nDone.", work, ""},
		{"without their wrapper", `{"operations":[],"work":` + Work + `,"personal":` + cat + `}`, both, ""},
		{"as a list", `{"operations":[],"profile":[{"section":"work","should_update":true,"content":"The user is a nurse in Oslo.","turns":["t1","t2"]},{"name":"personal","update":"yes","summary":"Has a cat.","turns":"t3"}]}`, both, ""},
		{"as their own object", `{"operations":[]} {"profile":{"work":` + Work + `}}`, work, ""},
		{"grouped as user and history", `{"operations":[],"profile":{"user":{"workContext":{"shouldUpdate":true,"summary":"The user is a nurse in Oslo.","turns":["t1","t2"]}},"history":{"personalContext":{"shouldUpdate":true,"summary":"Has a cat.","turns":[3]}}}}`, both, ""},
		{"Chinese keys", `{"操作":[],"画像":{"工作":{"是否更新":"是","内容":"The user is a nurse in Oslo.","轮次":["t1","t2"]},"个人":{"是否更新":"否"}}}`, work, ""},
		{"other spellings of the ids", `{"profile":{"work":{"should_update":"true","content":"The user is a nurse in Oslo.","turns":["T1","turn 2"]}},"operations":[]}`, work, ""},
		{"ids in one text", `{"profile":{"work":{"should_update":1,"content":"The user is a nurse in Oslo.","turns":"t1, t2"}},"operations":[]}`, work, ""},
		{"no should_update", `{"operations":[],"profile":{"work":{"content":"The user is a nurse in Oslo.","turns":["t1","t2"]}}}`, work, ""},
		{"unchanged with a text", `{"operations":[],"profile":{"work":{"should_update":false,"content":"The user is a nurse in Oslo.","turns":["t1","t2"]}}}`, "", ""},
		{"twice", `{"operations":[],"profile":{"work":` + cat + `},"sections":{"work":` + Work + `}}`, work, ""},
		{"unknown turn", `{"operations":[],"profile":{"work":{"should_update":true,"content":"A nurse.","turns":["t1","t9"]},"personal":` + cat + `}}`, "personal t3: Has a cat.", "unknown_turn work"},
		{"an item for a turn", `{"operations":[],"profile":{"work":{"should_update":true,"content":"A nurse.","turns":["k1"]}}}`, "", "unknown_turn work"},
		{"no turns", `{"operations":[],"profile":{"work":{"should_update":true,"content":"A nurse."}}}`, "", "unknown_turn work"},
		{"a text alone", `{"operations":[],"profile":{"work":"A nurse."}}`, "", "unknown_turn work"},
		{"no content", `{"operations":[],"profile":{"work":{"should_update":true,"content":" ","turns":["t1"]}}}`, "", "no_content work"},
		{"unknown section", `{"operations":[],"profile":{"hobbies":` + cat + `,"work":` + Work + `}}`, work, "unknown_section hobbies"},
		{"too long, of sentences", `{"operations":[],"profile":{"work":{"should_update":true,"content":"` + repeat("The user is a nurse. ", 200) + `","turns":["t1"]}}}`, "work t1: " + repeat("The user is a nurse. ", 47)[:47*21-1], ""},
		{"too long, without an end", `{"operations":[],"profile":{"work":{"should_update":true,"content":"` + repeat("nurse ", 800) + `","turns":["t1"]}}}`, "", "too_long work"},
		{"wrong types", `{"operations":[],"profile":{"work":7,"personal":[],"earlier":{"should_update":true,"content":{"a":1},"turns":{"b":2}}}}`, "", "no_content earlier"},
	}
}

func repeat(s string, n int) string {
	out := make([]byte, 0, n*len(s))
	for range n {
		out = append(out, s...)
	}
	return string(out)
}
