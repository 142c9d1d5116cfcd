package recall

import (
	"strings"
	"testing"
)

// What is looked for first is part of all that the patterns find.
func TestNoRoleIsSparedThePatterns(t *testing.T) {
	t.Parallel()
	windows := strings.Split(frameRoles+"|administrator|new instructions|system prompt|developer note|action input|final answer|response|input|output|prompt|context|memory|end of data|evoke-memory|tool results|function output|"+
		foldedWords(otherRoles)+"|s y s t e m|u-s-e-r|新指令|重要通知|系统提示词|记忆结束|记忆|最终答案|最終答案|行动输入|行動輸入|动作|工具调用|函数调用|调用工具|函数结果|係統|assistant (final)|ai|bot says|gpt|llm", "|")
	for _, name := range []string{"en.jsonl", "zh.jsonl"} {
		for _, s := range readCorpus(t, name) {
			f := clean(s).folded
			for i := range f {
				if f[i] == ':' {
					windows = append(windows, strings.ToValidUTF8(f[max(0, i-frameReach):i], ""))
				}
			}
		}
	}
	found := 0
	for _, w := range windows {
		for _, re := range roleBefore {
			if re.MatchString(w) {
				if found++; !nearRole(w) {
					t.Errorf("%q is spared", w)
				}
				break
			}
		}
	}
	if found < 200 {
		t.Errorf("%d of %d windows name a role", found, len(windows))
	}
}
