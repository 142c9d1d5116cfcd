package rules

import "testing"

func TestTheSubjectOfAStatement(t *testing.T) {
	for s, want := range map[string]string{
		"I live in Oslo": "home", "The user lives in Oslo": "home", "I work as a nurse": "job", "The user's name is Ann": "name", "My name is Ann": "name",
		"我住在奥斯陆": "home", "用户住在奥斯陆": "home", "用户叫王伟": "name", "我叫王伟": "name", "我是护士": "job",
		"The user lives in Oslo and works as a nurse": "", "Mia lives in Oslo": "", "Do I live in Oslo?": "", "If I lived in Oslo": "", "小王住在奥斯陆": "", "用户去过奥斯陆": "",
		"The deploy script lives in /ops": "", "": "", "部署脚本在 /ops 里": "",
	} {
		if got := Subject(s, ""); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
