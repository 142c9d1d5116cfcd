package reply

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// Section is a part of a user's profile that the model writes anew.
type Section struct {
	Name    string   // one of store.ProfileSections
	Content string   // at most MaxSection bytes
	Turns   []string // of Expect.Turns, at least one, each once
}

// BadSection is a section that was not taken, as far as it could be read.
type BadSection struct {
	Reason  Reason
	Section Section
}

// The names under which models give a profile, its sections and their fields.
var (
	profileNames = words("profile profiles userprofile sections profilesections 画像 用户画像 用戶畫像 档案 用户档案 个人资料 プロフィール perfil profil")
	// groupNames are those of objects that hold some of the sections.
	groupNames   = words("user history sections profile 用户 历史")
	sectionNames = table(map[string]string{
		"work":          "work workcontext job profession career 工作 工作背景 职业 工作情况 仕事",
		"personal":      "personal personalcontext private life 个人 個人 个人背景 个人情况 生活",
		"top_of_mind":   "topofmind currentfocus focus current now 当前关注 近期关注 眼下关注 当务之急 目前关注",
		"recent_months": "recentmonths recent lastmonths recenthistory 近几个月 最近几个月 近期 最近",
		"earlier":       "earlier earliercontext before past 更早 早先 以前 较早",
		"long_term":     "longterm longtermbackground background 长期背景 長期背景 长期 長期",
	})
	updateNames = words("shouldupdate update updated changed needsupdate 是否更新 需要更新 应更新 更新")
	sourceNames = words("turns turn turnids turnid sources source messages 轮次 轮次id 来源 依据 发言")
	textNames   = words("content summary text value 内容 内容摘要 摘要 文本 正文")
	labelNames  = words("section name key title 部分 名称 栏目")
	yes         = words("true yes y 1 是 对 需要 是的 真")
	no          = words("false no n 0 否 不 不需要 假 无")
)

// profile reads a member of an object that holds sections, or is one, and reports whether it did.
func (p *parser) profile(name string, v any) bool {
	if section, known := sectionNames[name]; known {
		m, isMap := v.(map[string]any)
		if !isMap || !saysUpdate(m) { // such names stand for other things, too
			return false
		}
		p.section(section, m)
		return true
	}
	if !profileNames[name] {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		p.sectionsIn(v)
		return true
	case []any:
		return p.sectionList(v)
	}
	return false
}

// sectionsIn reads the sections of an object, some of which may be grouped.
func (p *parser) sectionsIn(m map[string]any) {
	for _, key := range sortedKeys(m) {
		name := foldKey(key)
		section, known := sectionNames[name]
		switch v := m[key].(type) {
		case map[string]any:
			switch {
			case known:
				p.section(section, v)
			case isSectionObject(v):
				p.badSection(UnknownSection, Section{Name: shorten(key)})
			case groupNames[name]:
				p.sectionsIn(v)
			}
		case string:
			if known && !isNone(v) {
				p.section(section, map[string]any{"content": v})
			}
		}
	}
}

// sectionList reads a list of sections with their names in them; one without any is something else.
func (p *parser) sectionList(l []any) bool {
	found := false
	for _, e := range l {
		m, ok := e.(map[string]any)
		if !ok || !isSectionObject(m) {
			continue
		}
		label := ""
		for _, key := range sortedKeys(m) {
			if s, ok := m[key].(string); ok && labelNames[foldKey(key)] {
				label = s
				break
			}
		}
		if label == "" {
			continue
		}
		found = true
		if name, known := sectionNames[foldKey(label)]; known {
			p.section(name, m)
		} else {
			p.badSection(UnknownSection, Section{Name: shorten(label)})
		}
	}
	return found
}

// isSectionObject tells a section from an operation, which has an action or a quote.
func isSectionObject(m map[string]any) bool {
	f, text := fieldsOf(m), false
	for key := range m {
		text = text || textNames[foldKey(key)]
	}
	return saysUpdate(m) || text && !f.has(fAction) && !f.has(fQuote)
}

func saysUpdate(m map[string]any) bool {
	for key := range m {
		if updateNames[foldKey(key)] {
			return true
		}
	}
	return false
}

// section checks one section and keeps it or counts it.
func (p *parser) section(name string, m map[string]any) {
	s := Section{Name: name}
	update, given := true, false
	var cited []string
	for _, key := range sortedKeys(m) {
		switch k, v := foldKey(key), m[key]; {
		case updateNames[k]:
			if u, ok := truth(v); ok {
				update, given = u, true
			}
		case textNames[k]:
			s.Content = textOf(v)
		case sourceNames[k]:
			cited = append(cited, idsOf(v)...)
		}
	}
	if !update || isNone(s.Content) && !given {
		return
	}
	ok := len(cited) > 0
	for _, id := range cited {
		f := fields{}
		f[fTurn] = id
		known, _ := f.id(fTurn, "t", p.x.Turns)
		if known == "" {
			ok = false
		} else if !slices.Contains(s.Turns, known) {
			s.Turns = append(s.Turns, known)
		}
	}
	whole := s.Content
	s.Content = upTo(whole, MaxSection)
	switch {
	case isNone(whole):
		p.badSection(NoContent, s)
	case !ok:
		p.badSection(UnknownTurn, s)
	case s.Content == "":
		p.badSection(TooLong, s)
	default:
		p.res.Sections = slices.DeleteFunc(p.res.Sections, func(o Section) bool { return o.Name == name })
		p.res.Sections = append(p.res.Sections, s)
	}
}

func (p *parser) badSection(why Reason, s Section) {
	const most = 64
	if len(p.res.BadSections) < most {
		p.res.BadSections = append(p.res.BadSections, BadSection{why, s})
	}
}

// truth reads a yes or no.
func truth(v any) (is, ok bool) {
	if b, isBool := v.(bool); isBool {
		return b, true
	}
	s := foldKey(textOf(v))
	return yes[s], yes[s] || no[s]
}

// idsOf are the ids in a value: a list of them, or one text with several.
func idsOf(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, idsOf(e)...)
		}
	case json.Number:
		out = []string{v.String()}
	case string:
		for _, s := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(",;，；、", r) }) {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// upTo is a text, or as many of its sentences from the beginning as are within max bytes; "" when the first is longer.
func upTo(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := 0
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		if next > max {
			break
		}
		if strings.ContainsRune("。！？!?\n", r) || r == '.' && (next == len(s) || s[next] == ' ') {
			end = next
		}
	}
	return strings.TrimSpace(s[:end])
}

func shorten(s string) string {
	if len(s) > maxShort {
		s = strings.ToValidUTF8(s[:maxShort], "")
	}
	return store.CleanText(s)
}
