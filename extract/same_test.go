package extract

import (
	"os"
	"strings"
	"testing"

	"evoke/store"
)

// pairs reads pairs of statements, "a | b" a line.
func pairs(t *testing.T, name string, least int) (out [][2]string) {
	t.Helper()
	b, err := os.ReadFile("testdata/same/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		x, y, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok {
			t.Fatalf("%s: %q is no pair", name, line)
		}
		out = append(out, [2]string{x, y})
	}
	if len(out) < least {
		t.Fatalf("%s: %d pairs, want at least %d", name, len(out), least)
	}
	return out
}

func sameness(a, b string) Sameness {
	f, g := NewForm(Statement{Kind: store.Semantic, Content: a}), NewForm(Statement{Kind: store.Semantic, Content: b})
	return f.Same(&g)
}

func TestNearMissesAreKeptApart(t *testing.T) {
	for _, name := range []string{"en.differ", "zh.differ"} {
		for _, p := range pairs(t, name, 80) {
			if how := sameness(p[0], p[1]); how != Different {
				t.Errorf("%s: merged (%d): %q and %q", name, how, p[0], p[1])
			}
			if how := sameness(p[1], p[0]); how != Different {
				t.Errorf("%s: merged (%d): %q and %q", name, how, p[1], p[0])
			}
		}
	}
}

// TestStatementsOfAllNearMissesAreKeptApart: nor is any statement of the lists the same as one of another line, but for
// the few that are.
func TestStatementsOfAllNearMissesAreKeptApart(t *testing.T) {
	same := map[[2]string]bool{
		{"The user prefers tea over coffee", "The user prefers tea to coffee"}: true,
		{"The user prefers coffee over tea", "The user prefers coffee to tea"}: true,
	}
	for _, name := range []string{"en.differ", "zh.differ"} {
		var all []string
		var forms []Form
		for _, p := range pairs(t, name, 80) {
			for _, s := range p {
				all = append(all, s)
				forms = append(forms, NewForm(Statement{Kind: store.Semantic, Content: s}))
			}
		}
		for i := range all {
			for j := i + 1; j < len(all); j++ {
				if how := forms[i].Same(&forms[j]); all[i] != all[j] && (how != Different) != same[[2]string{all[i], all[j]}] {
					t.Errorf("%s: %d: %q and %q", name, how, all[i], all[j])
				}
			}
		}
	}
}

func TestParaphrasesAreRecognised(t *testing.T) {
	for name, least := range map[string]float64{"en.same": 0.8, "zh.same": 0.8} {
		all := pairs(t, name, 40)
		known := 0
		for _, p := range all {
			how, back := sameness(p[0], p[1]), sameness(p[1], p[0])
			if how != back {
				t.Errorf("%q and %q: %d one way, %d the other", p[0], p[1], how, back)
			}
			if how != Different {
				known++
			} else {
				t.Logf("not recognised: %q and %q", p[0], p[1])
			}
		}
		share := float64(known) / float64(len(all))
		t.Logf("%s: %d of %d paraphrases recognised (%.0f %%)", name, known, len(all), 100*share)
		if share < least {
			t.Errorf("%s: %.2f of the paraphrases recognised, want %.2f", name, share, least)
		}
	}
}

func TestWhoSaysItAndOfWhomCounts(t *testing.T) {
	base := Statement{Kind: store.Semantic, Content: "enjoys hiking", Speaker: "user"}
	f := NewForm(base)
	for _, c := range []struct {
		change func(*Statement)
		want   Sameness
	}{
		{func(s *Statement) { s.Content = "Enjoys Hiking!" }, Equal},
		{func(s *Statement) { s.Content = "likes hiking" }, Reworded},
		{func(s *Statement) { s.Content, s.Speaker = "likes hiking", "" }, Reworded},
		{func(s *Statement) { s.Content, s.Speaker = "likes hiking", "Ben" }, Different},
		{func(s *Statement) { s.Content, s.About = "likes hiking", "Mia" }, Different},
		{func(s *Statement) { s.About = "Mia" }, Different},
		{func(s *Statement) { s.Content, s.Kind = "likes hiking", store.Procedural }, Different},
	} {
		s := base
		c.change(&s)
		if g := NewForm(s); f.Same(&g) != c.want || g.Same(&f) != c.want {
			t.Errorf("%+v: %d, want %d", s, f.Same(&g), c.want)
		}
	}
}

// The exact key is whatever the language: case, width, punctuation and spacing aside.
func TestExactKeysInManyLanguages(t *testing.T) {
	for _, c := range []struct{ a, same, other string }{
		{"The user lives in Rome", "the  user LIVES in Rome!", "The user lives in Oslo"},
		{"The user paid 3.50 euros", "The user paid 3.50 euros.", "The user paid 350 euros"},
		{"用户住在北京", "用户住在北京。", "用户住在南京"},
		{"用户有2只猫", "用户有２只猫！", "用户有3只猫"},
		{"ユーザーは東京に住んでいる", "ユーザーは東京に住んでいる。", "ユーザーは大阪に住んでいる"},
		{"ユーザーはカメラが好き", "ユーザーはｶﾒﾗが好き", "ユーザーはカメラが嫌い"},
		{"사용자는 서울에 산다", "사용자는  서울에 산다.", "사용자는 부산에 산다"},
		{"사용자는 차를 좋아한다", "사용자는 차를 좋아한다!", "사용자는 차를 싫어한다"},
		{"El usuario vive en Málaga", "el usuario vive en MÁLAGA.", "El usuario vive en Madrid"},
		{"Al usuario le gusta el té", "¡Al usuario le gusta el té!", "Al usuario no le gusta el té"},
		{"Der Nutzer heißt Jörg", "der Nutzer heißt Jörg.", "Der Nutzer heißt Georg"},
	} {
		if how := sameness(c.a, c.same); how != Equal {
			t.Errorf("%q and %q: %d", c.a, c.same, how)
		}
		f, g := form(c.a), form(c.other)
		if f.Same(&g) != Different || f.Near(&g) {
			t.Errorf("%q and %q are taken for one", c.a, c.other)
		}
		m := newMemory(t, ReconcileOptions{})
		m.take(m.turn("t1", c.a, ""))
		m.take(m.turn("t2", c.same, ""), m.turn("t3", c.other, ""))
		if len(m.items) != 2 || m.items["f001"].Provenance.Evidence != 1 {
			t.Errorf("%q: %q", c.a, contentsOf(m.current()))
		}
	}
}

func FuzzSameIsSymmetric(f *testing.F) {
	f.Add("The user likes tea", "I enjoy tea")
	f.Add("用户住在北京", "我的家在北京")
	f.Add("\xff?!", "  ")
	f.Fuzz(func(t *testing.T, a, b string) {
		if sameness(a, b) != sameness(b, a) {
			t.Errorf("%q %q", a, b)
		}
		if sameness(a, a) != Equal {
			t.Errorf("%q is not itself", a)
		}
	})
}
