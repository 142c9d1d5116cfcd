// Package replytest holds answers as models give them, well formed and not, for the tests of those who read them.
package replytest

import "strings"

// Shape is an answer and what is to be read in it.
type Shape struct {
	Name, Text string
	Ops        string // "add t1; supersede t2 k2": action, turn and target of each operation that is good
	Bad        string // the reasons of the others, sorted; "*" for at least one
}

// Two good operations, as they were asked for.
const (
	Tea   = `{"action":"add","target":null,"kind":"semantic","category":"preference","content":"The user likes tea","quote":"I like tea","turn":"t1","speaker":"user","modality":"asserted","durability":"user","time":null,"precision":null,"confidence":0.9,"importance":0.6,"subject":"likes:tea","about":null,"steps":null,"needs":null,"outcome":null}`
	Moved = `{"action":"supersede","target":"k2","kind":"semantic","category":"context","content":"The user lives in Oslo","quote":"moved to Oslo","turn":"t2","speaker":"user","modality":"asserted","durability":"user","time":"2026-03","precision":"month","confidence":0.95,"importance":0.7,"subject":"home","about":null,"steps":null,"needs":null,"outcome":null}`
)

// With is op with old replaced by new, which it must hold.
func With(op, old, new string) string {
	if !strings.Contains(op, old) {
		return "no " + old + " in " + op
	}
	return strings.Replace(op, old, new, 1)
}

// Both is what a shape holds that gives both operations.
const Both = "add t1; supersede t2 k2"

// Shapes are more than sixty answers to a conversation of the turns t1 to t3 with the known items k1 and k2.
func Shapes() []Shape {
	tea, moved := Tea, Moved
	return []Shape{
		{"as asked", `{"operations":[` + tea + `,` + moved + `]}`, Both, ""},
		{"a list", `[` + tea + `,` + moved + `]`, Both, ""},
		{"one object", tea, "add t1", ""},
		{"fence", "```json\n{\"operations\":[" + tea + "]}\n```", "add t1", ""},
		{"fence without end", "```json\n{\"operations\":[" + tea + "]}", "add t1", ""},
		{"tildes and another language", "~~~JSON5\n[" + tea + "]\n~~~", "add t1", ""},
		{"prose before", "Sure! Here are the operations:\n\n{\"operations\":[" + tea + "]}", "add t1", ""},
		{"prose after", "{\"operations\":[" + tea + "]}\nLet me know if you need more {or less}.", "add t1", ""},
		{"braces in the prose", "Given {the rules} and [all of them]: {\"operations\":[" + tea + "]}", "add t1", ""},
		{"an unclosed brace in the prose", "I used { as asked.\n{\"operations\":[" + tea + "]}", "add t1", ""},
		{"an unclosed bracket in the prose", "See [1 for more.\n" + tea, "add t1", ""},
		{"a link in the prose", "By [the guide](http://example.com): " + tea, "add t1", ""},
		{"several objects", tea + "\n" + moved, Both, ""},
		{"one object a line, with commas", tea + ",\n" + moved + ",", Both, ""},
		{"several answers", `{"operations":[` + tea + `]} {"operations":[` + moved + `]}`, Both, ""},
		{"two fences", "```json\n" + tea + "\n```\nand\n```json\n" + moved + "\n```", Both, ""},
		{"a draft in thoughts", "<think>{\"operations\":[" + moved + "]}</think>{\"operations\":[" + tea + "]}", "add t1", ""},
		{"trailing comma in the list", `{"operations":[` + tea + `,` + moved + `,]}`, Both, ""},
		{"trailing comma in the object", `{"operations":[` + strings.TrimSuffix(Tea, "}") + `,},],}`, "add t1", ""},
		{"missing comma", `{"operations":[` + tea + ` ` + moved + `]}`, Both, ""},
		{"missing end", `{"operations":[` + tea + `,` + moved, Both, "truncated"},
		{"a forgotten brace", `{"operations":[` + tea + `,` + moved + `]`, Both, ""},
		{"a forgotten brace in a fence", "```json\n{\"operations\":[" + tea + "]\n```", "add t1", ""},
		{"cut in a string", `{"operations":[` + tea + `,{"action":"add","content":"The user lives in Be`, "add t1", "truncated"},
		{"cut after a key", `{"operations":[` + tea + `,{"action":`, "add t1", "truncated"},
		{"cut after a comma", `{"operations":[` + tea + `,`, "add t1", "truncated"},
		{"cut in the first", `{"operations":[{"action":"add","turn":"t1","quote":"I like tea","content":"The us`, "", "truncated"},
		{"cut in the last of several objects", tea + "\n" + moved[:len(Moved)-90], "add t1", "truncated"},
		{"cut list", `[` + tea + `,` + moved[:100], "add t1", "truncated"},
		{"single quotes", `{'operations':[{'action':'add','turn':'t1','quote':'I like tea','content':'The user likes tea'}]}`, "add t1", ""},
		{"no quotes around keys", `{operations:[{action:"add",turn:"t1",quote:"I like tea",content:"The user likes tea"}]}`, "add t1", ""},
		{"curly quotes", `{“operations”:[{“action”:“add”,“turn”:“t1”,“quote”:“I like tea”,“content”:“The user likes tea”}]}`, "add t1", ""},
		{"full-width signs", `｛“操作”：［｛“动作”：“新增”，“轮次”：“t1”，“引用”：“我喜欢茶，真的”，“内容”：“用户喜欢茶”｝］｝`, "", ""}, // no opener at all: see below
		{"full-width signs within", `{"操作"：[{"动作"："新增"，"轮次"："t1"，"引用"："我喜欢茶，真的"，"内容"："用户喜欢茶"}]}`, "add t1", ""},
		{"Python", `{'operations': [{'action': 'add', 'turn': 't1', 'target': None, 'quote': 'I like tea', 'content': 'The user likes tea', 'x': True}]}`, "add t1", ""},
		{"comments", "{\"operations\":[ // the list\n" + tea + "/* one */]}", "add t1", ""},
		{"quotes within a quote", `{"operations":[{"action":"add","turn":"t1","quote":"she said "tea" to me","content":"The user likes tea"}]}`, "add t1", ""},
		{"newline within a string", "{\"operations\":[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like\ntea\",\"content\":\"The user likes tea\"}]}", "add t1", ""},
		{"a broken neighbour", `{"operations":[` + tea + `,{"action":"add" "content" "x" : : "turn"},` + moved + `]}`, Both, "*"},
		{"escaped as a string", `"{\"operations\":[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like tea\",\"content\":\"The user likes tea\"}]}"`, "add t1", ""},
		{"JSON in a string", `{"operations":"[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like tea\",\"content\":\"The user likes tea\"}]"}`, "add t1", ""},
		{"elements as strings", `{"operations":["{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"q\",\"content\":\"c\"}"]}`, "add t1", ""},
		{"another list name", `{"memories":[` + tea + `]}`, "add t1", ""},
		{"an unknown list name", `{"extracted_stuff":[` + tea + `]}`, "add t1", ""},
		{"wrapped twice", `{"response":{"result":{"operations":[` + tea + `]}}}`, "add t1", ""},
		{"a list of answers", `[{"operations":[` + tea + `]},{"operations":[` + moved + `]}]`, Both, ""},
		{"an object for the list", `{"operations":` + tea + `}`, "add t1", ""},
		{"by action", `{"add":[{"turn":"t1","quote":"I like tea","content":"The user likes tea"}],"retract":[{"turn":"t2","quote":"no","target":"k1"}],"confirm":[]}`, "add t1; retract t2 k1", ""},
		{"by action, one each", `{"add":{"turn":"t1","quote":"I like tea","content":"The user likes tea"}}`, "add t1", ""},
		{"by number", `{"1":` + tea + `,"2":` + moved + `}`, Both, ""},
		{"no action", `{"facts":[{"turn":"t1","quote":"I like tea","content":"The user likes tea"}]}`, "add t1", ""},
		{"a vague type", `[{"type":"ADD","turn":"t1","quote":"I like tea","content":"The user likes tea"},{"id":"0","event":"UPDATE","target":"k1","turn":"t2","quote":"moved to Oslo","text":"The user lives in Oslo"},{"type":"procedural","turn":"t1","quote":"q","content":"c"},{"type":"preference","turn":"t1","quote":"q","content":"c"},{"type":"x","turn":"t1","quote":"q","content":"c"}]`, "add t1; supersede t2 k1; add t1; add t1; add t1", ""},
		{"lists in objects in lists", `{"steps":[{"found":{"list":[` + tea + `]}},{"why":"because"}]}`, "add t1", ""},
		{"update for supersede", `[` + With(Moved, `"supersede"`, `"UPDATE"`) + `]`, "supersede t2 k2", ""},
		{"supersede without target", `[` + With(Moved, `"k2"`, `null`) + `]`, "add t2", ""},
		{"Chinese keys", `{"操作":[{"动作":"取代","目标":"k1","类别":"偏好","内容":"用户喜欢茶","引用":"我喜欢茶","轮次":"t1","语气":"陈述","置信度":0.9}]}`, "supersede t1 k1", ""},
		{"traditional Chinese keys", `{"操作":[{"動作":"添加","類別":"偏好","內容":"用戶喜歡茶","内容":"用戶喜歡茶","引用":"我喜歡茶","輪次":"t1"}]}`, "add t1", ""},
		{"Japanese keys", `{"操作リスト":[{"アクション":"add","内容":"ユーザーはお茶が好き","引用":"お茶が好き","ターン":"t1"}]}`, "add t1", ""},
		{"capital keys", `{"Operations":[{"Action":"ADD","Turn_ID":"T1","Quoted Span":"I like tea","Content":"The user likes tea"}]}`, "add t1", ""},
		{"ids as numbers", `[` + With(With(Moved, `"t2"`, `2`), `"k2"`, `2`) + `]`, "supersede t2 k2", ""},
		{"ids in brackets", `[` + With(With(Moved, `"t2"`, `"[t2]"`), `"k2"`, `"item K2"`) + `]`, "supersede t2 k2", ""},
		{"ids in lists", `[` + With(With(Moved, `"t2"`, `["t2","t3"]`), `"k2"`, `["k2"]`) + `]`, "supersede t2 k2", ""},
		{"all nulls but what counts", `[{"action":"add","target":null,"kind":null,"category":null,"content":"x","quote":"y","turn":"t1","speaker":null,"modality":null,"durability":null,"time":null,"confidence":null,"importance":null,"subject":null}]`, "add t1", ""},
		{"wrong types", `[{"action":"add","target":[],"kind":7,"category":{},"content":"x","quote":"y","turn":"t1","speaker":3,"modality":"asserted","durability":[],"time":12,"confidence":"0.8","importance":[],"subject":{}}]`, "add t1", ""},
		{"a null element", `{"operations":[null,` + tea + `]}`, "add t1", ""},
		{"elements of wrong types", `{"operations":[7,"none",` + tea + `,true]}`, "add t1", "not_an_object not_an_object not_an_object"},
		{"nothing", `{"operations":[{"action":"nothing"}]}`, "", ""},
		{"nothing beside something", `{"operations":[{"action":"none"},` + tea + `]}`, "add t1", ""},

		{"unknown action", `[` + With(Tea, `"add"`, `"celebrate"`) + `,` + moved + `]`, "supersede t2 k2", "unknown_action"},
		{"a target without action", `[{"target":"k1","content":"c","quote":"q","turn":"t1"}]`, "", "unknown_action"},
		{"unknown turn", `[` + With(Tea, `"t1"`, `"t9"`) + `,` + moved + `]`, "supersede t2 k2", "unknown_turn"},
		{"no turn", `[` + With(Tea, `"t1"`, `null`) + `]`, "", "unknown_turn"},
		{"an item for a turn", `[` + With(Tea, `"t1"`, `"k1"`) + `]`, "", "unknown_turn"},
		{"unknown target", `[` + With(Moved, `"k2"`, `"k77"`) + `,` + tea + `]`, "add t1", "unknown_target"},
		{"a turn for a target", `[` + With(Moved, `"k2"`, `"t2"`) + `]`, "", "unknown_target"},
		{"confirm of nothing", `[{"action":"confirm","quote":"q","turn":"t1"}]`, "", "unknown_target"},
		{"retract of nothing", `[{"action":"retract","content":"c","quote":"q","turn":"t1"}]`, "", "unknown_target"},
		{"retract by subject", `[{"action":"retract","quote":"q","turn":"t1","subject":"home"}]`, "retract t1", ""},
		{"no content", `[` + With(Tea, `"The user likes tea"`, `"  "`) + `]`, "", "no_content"},
		{"no quote", `[` + With(Tea, `"I like tea"`, `null`) + `]`, "", "no_quote"},
		{"confidence above", `[` + With(Tea, `0.9`, `1.5`) + `,` + moved + `]`, "supersede t2 k2", "bad_confidence"},
		{"confidence below", `[` + With(Tea, `0.9`, `-0.1`) + `]`, "", "bad_confidence"},
		{"confidence beyond all numbers", `[` + With(Tea, `0.9`, `1e999`) + `]`, "", "bad_confidence"},
		{"confidence that is no number", `[` + With(Tea, `0.9`, `"NaN"`) + `]`, "", "bad_confidence"},
		{"importance out of range", `[` + With(Tea, `0.6`, `-3`) + `]`, "add t1", ""},
		{"content without end", `[` + With(Tea, `The user likes tea`, strings.Repeat("tea ", 3000)) + `]`, "", "too_long"},
	}
}
