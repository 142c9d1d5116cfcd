package contradict

import (
	"slices"
	"strings"
	"unicode"
)

// hanFrame is a Chinese sentence with its values taken out.
type hanFrame struct {
	text    string // letters and digits alone, without fillers
	bare    string // of it, without negations and 有
	negated bool
	marked  string   // of text, a mark in the place of each number and date
	numbers []string // in order
	dates   []bool   // which of them are dates
}

const (
	hanDigits   = "零〇一二两三四五六七八九十百千万半"
	numberMark  = '#'
	dateEndings = "年月日号"
	// hanUnits follow a numeral that counts; before others it is a part of a word (一起, 万一).
	hanUnits = "个只条张本件块元斤公千克米里岁年月日号天周次点分时小层间台辆杯瓶位名口人把套双家所棵朵匹头袋盒页平欧美英毛角度成倍"
)

var (
	hanFillers   = strings.NewReplacer("现在", "", "其实", "", "目前", "", "已经", "", "大约", "", "大概", "", "一共", "", "总共", "", "真的", "", "了", "")
	hanNegations = strings.NewReplacer("没有", "", "不再", "", "并不", "", "从不", "", "从来不", "", "不", "", "没", "", "未", "", "别", "")
	hanDays      = strings.NewReplacer("今天", "#", "明天", "#", "昨天", "#", "后天", "#", "前天", "#", "上午", "#", "下午", "#", "早上", "#", "晚上", "#", "春天", "#", "夏天", "#", "秋天", "#", "冬天", "#")
	// hanJoints stand before the name of a place or a person that is the value of what the words before them say.
	hanJoints = []string{"住在", "家在", "位于", "搬到", "搬去", "来自", "出生在", "出生于", "名叫", "叫", "姓", "名字是", "老师是", "飞往", "毕业于", "就读于", "任职于", "嫁给", "娶", "去", "到",
		"医生是", "老板是", "经理是", "教练是", "城市是", "首都是", "家乡是", "老家是", "老家在", "公司在", "学校在", "办公室在", "爱上", "嫁到", "定居在", "待在"}
	// hanAtVerbs follow a place behind 在.
	hanAtVerbs = []string{"工作", "上学", "读书", "上班", "出生", "长大", "上大学", "开店", "生活", "定居", "教书", "买", "当", "做", "有"}
)

func hanFrameOf(sentence string) hanFrame {
	var f hanFrame
	text := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ReplaceAll(sentence, "不错", "好"))
	f.text = strings.Trim(hanFillers.Replace(text), ".")
	f.bare = hanNegations.Replace(f.text)
	f.negated = f.bare != f.text
	f.bare = strings.ReplaceAll(f.bare, "有", "") // 没有 denies 有 and any other verb
	f.mark()
	return f
}

// mark takes the numbers and dates out of the text.
func (f *hanFrame) mark() {
	r := []rune(f.text)
	var b strings.Builder
	for i := 0; i < len(r); i++ {
		j := i
		for j < len(r) && (unicode.IsDigit(r[j]) || r[j] == '.' && j > i || strings.ContainsRune(hanDigits, r[j])) {
			j++
		}
		if j == i {
			if r[i] == '日' || r[i] == '天' {
				if i > 0 && (r[i-1] == '周' || r[i-1] == '期' || r[i-1] == '拜') {
					b.WriteRune(numberMark)
					f.numbers, f.dates = append(f.numbers, string(r[i])), append(f.dates, true)
					continue
				}
			}
			b.WriteRune(r[i])
			continue
		}
		week := i > 0 && (r[i-1] == '周' || r[i-1] == '期' || r[i-1] == '拜')
		counts := unicode.IsDigit(r[i]) || week || j < len(r) && strings.ContainsRune(hanUnits, r[j]) || j == len(r)
		if !counts {
			b.WriteString(string(r[i:j]))
		} else {
			b.WriteRune(numberMark)
			f.numbers = append(f.numbers, string(r[i:j]))
			f.dates = append(f.dates, week || j < len(r) && strings.ContainsRune(dateEndings, r[j]))
		}
		i = j - 1
	}
	f.marked = b.String()
}

// leastHan is how many signs two sentences share at the least that say the same of one thing.
const leastHan = 3

// compareHan does for Chinese, which neither marks names nor parts words, what compareFrames does: sentences are the same but for
// numbers and dates, but for a negation, or but for what stands behind a word that a name follows.
func compareHan(a, b *hanFrame) verdict {
	switch {
	case a.text == b.text:
		return compatible
	case a.negated != b.negated:
		if a.bare == b.bare && len([]rune(a.bare)) >= leastHan {
			return contrary
		}
		return unknown
	case a.marked == b.marked:
		return compareHanNumbers(a, b)
	}
	if x, y := hanDays.Replace(a.marked), hanDays.Replace(b.marked); x == y && slices.Equal(a.numbers, b.numbers) && len([]rune(x)) > leastHan {
		return contrary
	}
	return compareHanNames(a, b)
}

func compareHanNumbers(a, b *hanFrame) verdict {
	date, number := false, false
	for i := range a.numbers {
		if a.numbers[i] != b.numbers[i] {
			date, number = date || a.dates[i], number || !a.dates[i]
		}
	}
	r := []rune(a.marked)
	switch {
	case date && number, len(r) < leastHan+1:
		return compatible // of different days
	case r[0] == numberMark && len(r) > 1 && strings.ContainsRune("号楼班层路", r[1]) && a.numbers[0] != b.numbers[0]:
		return compatible // the number is the name of what they speak of
	}
	return contrary
}

func compareHanNames(a, b *hanFrame) verdict {
	x, y := []rune(a.text), []rune(b.text)
	p := 0
	for p < len(x) && p < len(y) && x[p] == y[p] {
		p++
	}
	s := 0
	for s < len(x)-p && s < len(y)-p && x[len(x)-1-s] == y[len(y)-1-s] {
		s++
	}
	m, n := x[p:len(x)-s], y[p:len(y)-s]
	suffix := string(x[len(x)-s:])
	if p == 0 {
		return compatible // other subjects
	}
	// Names may share their first or last signs: 杭州, 苏州. The cut goes back to the joint.
	for back := 0; back <= 2 && back < p; back++ {
		head := string(x[:p-back])
		joint := slices.ContainsFunc(hanJoints, func(j string) bool { return strings.HasSuffix(head, j) && head != j })
		if !joint && strings.HasSuffix(head, "在") && head != "在" {
			joint = slices.ContainsFunc(hanAtVerbs, func(v string) bool { return strings.HasPrefix(suffix, v) || strings.Contains(firstRunes(suffix, 4), v) })
		}
		if joint && nameLike(len(m)+back) && nameLike(len(n)+back) {
			return contrary
		}
	}
	return unknown
}

func firstRunes(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// nameLike reports whether a name may be so long.
func nameLike(runes int) bool { return runes >= 1 && runes <= 8 }
