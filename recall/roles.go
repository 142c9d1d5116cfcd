package recall

import (
	"regexp"
	"strings"
	"unicode"
)

const (
	// Names of roles in other languages, as they are written; they are looked for as folded texts have them.
	otherRoles = `система|пользователь|ассистент|администратор|разработчик|système|utilisateur|développeur|benutzer|nutzer|assistent|entwickler|sistema|usuario|usuário|utente|asistente|assistente|desarrollador|النظام|المستخدم|المساعد|시스템|사용자|어시스턴트|관리자|システム|ユーザー|ユーザ|アシスタント|ツール|関数|최종 답변|सिस्टम|उपयोगकर्ता` +
		`|systeem|gebruiker|ontwikkelaar|użytkownik|asystent|uživatel|rendszer|felhasználó|asszisztens|järjestelmä|käyttäjä|avustaja|användare|sistem|kullanıcı|asistan|σύστημα|χρήστης|βοηθός` +
		`|utilizator|utilizador|користувач|асистент|pengguna|hệ thống|người dùng|trợ lý|ระบบ|ผู้ใช้|ผู้ช่วย|מערכת|משתמש|עוזר|سیستم|کاربر|دستیار`
	// The steps of an agent's own notes in Chinese; those in English are among frameWords.
	hanSteps   = `最终答案|最終答案|最终回答|观察|觀察|観察|思考|行动(?:输入)?|行動(?:輸入)?|动作|工具调用|工具調用|函数调用|调用工具`
	inBrackets = `(?:\s*[(\[][^()\[\]:]{0,24}[)\]])?` // what a name of a role has behind it: "assistant (final)"
)

// Names of roles before a colon: at the beginning of a line or sentence, as a word anywhere, spelt with gaps.
var roleBefore = []*regexp.Regexp{
	regexp.MustCompile(frameBegins + `[\s#*_"'>=~|(\[-]*(?:` + frameWords + `|` + foldedWords(otherRoles) + `|` + hanFrames + `|` + hanSteps + `)` + inBrackets + frameGap + `$`),
	regexp.MustCompile(`(?:^|[^a-z\p{Han}])(?:system|human|user|assistant|developer|` + hanRoles + `)` + frameGap + `$`),
	regexp.MustCompile(`(?:^|[^a-z])(?:` + gapped(`system|human|user|assistant|developer`) + `)\s*$`),
	regexp.MustCompile(frameBegins + `\s*(?:` + gapped(hanRoles+`|`+foldedWords(`システム|ユーザー|アシスタント|시스템|사용자`)) + `)\s*$`),
}

// foldedWords are words, parted by "|", as fold has them.
func foldedWords(words string) string {
	var out []string
	for w := range strings.SplitSeq(words, "|") {
		var b strings.Builder
		for _, r := range w {
			b.WriteString(fold(r))
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "|")
}

// gapped are patterns of words, parted by "|", between the letters of which a blank or mark may stand.
func gapped(words string) string {
	var out []string
	for w := range strings.SplitSeq(words, "|") {
		out = append(out, strings.Join(strings.Split(w, ""), `[\s._-]?`))
	}
	return strings.Join(out, "|")
}

// nearRoles are, of all that roleBefore finds, parts that it cannot do without, as letters alone: looking for them first spares
// most colons the patterns.
var nearRoles = lettersOf(`system|developer|human|user|assistant|model|chatgpt|claude|tool|function|ipython|admin|instruction|action|observation|thought|finalanswer|response|input|output|prompt|context|memory|endof|` +
	hanRoles + `|指令|提示|命令|消息|通知|记忆|記憶|上下文|函数|函數|係統|係统|最终答案|最終答案|最终回答|观察|觀察|観察|思考|行动|行動|动作|` + otherRoles)

// shortRoles count at the beginning of a word: many words hold them.
var shortRoles = []string{"ai", "bot", "gpt", "llm"}

// nearRole reports whether a role may be named in a folded text: no means that roleBefore finds none.
func nearRole(window string) bool {
	for _, w := range shortRoles {
		for rest, at := window, 0; ; {
			if at = strings.Index(rest, w); at < 0 {
				break
			}
			if at == 0 || rest[at-1] < 'a' || rest[at-1] > 'z' {
				return true
			}
			rest = rest[at+1:]
		}
	}
	return containsAny(letters(window), nearRoles)
}

func lettersOf(words string) []string {
	list := strings.Split(foldedWords(words), "|")
	for i := range list {
		list[i] = letters(list[i])
	}
	return list
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}
