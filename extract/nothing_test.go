package extract

import (
	"strings"
	"testing"
)

func TestSaysNothing(t *testing.T) {
	for _, s := range []string{"ok", "OK!", "Okay.", "👍", "👍🏽", "❤️", "好的", "好的。", "好的，谢谢！", "。。。", "?!", "...", "Thanks a lot!", "You're welcome", "Hi 👋", "哈哈哈😂", "ok 👍", "ＯＫ", strings.Repeat("!", 5000)} {
		if !saysNothing(s) {
			t.Errorf("%q says something", s)
		}
	}
	// Agreement, denial, numbers and whatever else may be an answer.
	for _, s := range []string{"yes", "sure", "嗯嗯", "嗯，好的", "no", "对", "没错", "不是", "exactly", "42", "1️⃣ 2", "Berlin", "ok, I moved to Berlin", "好的，我住在柏林", "tea", "茶", "Thanks, Ann", "はい", strings.Repeat("a", 5000)} {
		if saysNothing(s) {
			t.Errorf("%q says nothing", s)
		}
	}
}
