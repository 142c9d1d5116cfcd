package benchmarks

import (
	"context"
	"time"

	"evoke"
	"evoke/store/lifecycle"
)

// lifeSubject is something that a user has one of at a time, with three values of it in turn and a question about it.
type lifeSubject struct {
	name     string
	question string
	values   [3]string
}

// lifeSubjects are the subjects of a language. They are written for this harness.
func lifeSubjects(language string) []lifeSubject {
	if language == "zh" {
		return []lifeSubject{
			{"home", "用户住在哪里?", [3]string{"用户住在北京", "用户住在成都", "用户住在厦门"}},
			{"job", "用户做什么工作?", [3]string{"用户的工作是护士", "用户的工作是面包师", "用户的工作是地质学家"}},
			{"age", "用户今年多大?", [3]string{"用户今年30岁", "用户今年31岁", "用户今年32岁"}},
			{"partner", "用户的伴侣是谁?", [3]string{"用户的伴侣是小林", "用户的伴侣是小周", "用户的伴侣是小郑"}},
			{"car", "用户开什么车?", [3]string{"用户开一辆蓝色旅行车", "用户开一辆红色电动车", "用户开一辆旧皮卡"}},
			{"diet", "用户吃什么?", [3]string{"用户吃素", "用户什么都吃", "用户只吃鱼不吃肉"}},
			{"phone", "用户用什么手机?", [3]string{"用户用一部折叠手机", "用户用一部翻盖手机", "用户用一部卫星电话"}},
			{"language", "用户在学什么语言?", [3]string{"用户在学葡萄牙语", "用户在学芬兰语", "用户在学斯瓦希里语"}},
			{"sport", "用户做什么运动?", [3]string{"用户每周打羽毛球", "用户每周去划船", "用户每周练柔道"}},
			{"city of birth", "用户父母住在哪里?", [3]string{"用户的父母住在昆明", "用户的父母住在大连", "用户的父母住在兰州"}},
		}
	}
	return []lifeSubject{
		{"home", "Where does the user live?", [3]string{"The user lives in Rome", "The user lives in Oslo", "The user lives in Lima"}},
		{"job", "What does the user work as?", [3]string{"The user works as a nurse", "The user works as a baker", "The user works as a geologist"}},
		{"age", "How old is the user?", [3]string{"The user is 30 years old", "The user is 31 years old", "The user is 32 years old"}},
		{"partner", "Who is the user's partner?", [3]string{"The user's partner is Ines", "The user's partner is Tom", "The user's partner is Ravi"}},
		{"car", "What does the user drive?", [3]string{"The user drives a blue estate car", "The user drives a red electric car", "The user drives an old pickup"}},
		{"diet", "What does the user eat?", [3]string{"The user is a vegetarian", "The user eats everything", "The user eats fish but no meat"}},
		{"phone", "Which phone does the user have?", [3]string{"The user has a folding phone", "The user has a flip phone", "The user has a satellite phone"}},
		{"language", "Which language does the user study?", [3]string{"The user studies Portuguese", "The user studies Finnish", "The user studies Swahili"}},
		{"sport", "Which sport does the user do?", [3]string{"The user plays badminton every week", "The user goes rowing every week", "The user trains judo every week"}},
		{"city of birth", "Where do the user's parents live?", [3]string{"The user's parents live in Leeds", "The user's parents live in Turin", "The user's parents live in Cork"}},
	}
}

// play is the history of one kind.
func (p *player) play(ctx context.Context, kind string) error {
	var now time.Time
	steps := map[string][]func() error{
		Supersede: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.see(ctx, p.who, now, "said once", 0) },
			func() error { return p.say(ctx, "b", 1) },
			func() error { return p.see(ctx, p.who, now, "changed", 1) },
			func() error { return p.say(ctx, "c", 2) },
			func() error { return p.see(ctx, p.who, now, "changed again", 2) },
			func() error { return p.say(ctx, "d", 0) },
			func() error { return p.see(ctx, p.who, now, "back to the first", 0) },
		},
		Revoke: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.revoke(ctx) },
			func() error { return p.see(ctx, p.who, now, "ended") },
			func() error { return p.see(ctx, p.who, p.now.AddDate(0, 0, -1), "before it ended", 0) },
			func() error { return p.say(ctx, "b", 1) },
			func() error { return p.see(ctx, p.who, now, "another later", 1) },
		},
		AsOf: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.say(ctx, "b", 1) },
			func() error { return p.say(ctx, "c", 2) },
			func() error { return p.see(ctx, p.who, lifeStart, "before anything") },
			func() error { return p.see(ctx, p.who, p.now.AddDate(0, 0, -2), "as of the first", 0) },
			func() error {
				return p.see(ctx, p.who, p.now.AddDate(0, 0, -1).Add(-time.Minute), "right before the second", 0)
			},
			func() error { return p.see(ctx, p.who, p.now.AddDate(0, 0, -1), "as of the second", 1) },
			func() error { return p.see(ctx, p.who, p.now, "as of the third", 2) },
		},
		Undone: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.say(ctx, "b", 1) },
			func() error { return p.undoAndRedo(ctx) },
		},
		Erased: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.say(ctx, "b", 1) },
			func() error { return p.forget(ctx) },
			func() error { return p.see(ctx, p.who, now, "forgotten") },
			func() error { return p.see(ctx, p.who, p.now.AddDate(0, 0, -1), "the past, forgotten") },
			func() error { return p.say(ctx, "c", 2) },
			func() error { return p.see(ctx, p.who, now, "said anew", 2) },
		},
		Scoped: {
			func() error { return p.say(ctx, "a", 0) },
			func() error { return p.asOther(ctx, 1) },
			func() error { return p.see(ctx, p.who, now, "one's own", 0) },
			func() error { return p.see(ctx, p.other(), now, "another's", 1) },
			func() error { return p.forget(ctx) },
			func() error { return p.see(ctx, p.who, now, "one's own, forgotten") },
			func() error { return p.see(ctx, p.other(), now, "another's stays", 1) },
		},
	}
	for _, do := range steps[kind] {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// revoke ends what was said last.
func (p *player) revoke(ctx context.Context) error {
	p.day()
	end := p.now
	_, err := p.m.Update(ctx, evoke.UpdateRequest{Who: p.who, ID: p.last, ValidTo: &end})
	return err
}

func (p *player) undoAndRedo(ctx context.Context) error {
	op, err := p.undo(ctx, lifecycle.Batch{Thread: "b"})
	if err != nil {
		return err
	}
	undone := p.now
	if err := p.see(ctx, p.who, time.Time{}, "undone", 0); err != nil {
		return err
	}
	if _, err := p.undo(ctx, lifecycle.Batch{Operation: op}); err != nil {
		return err
	}
	if err := p.see(ctx, p.who, time.Time{}, "undone and done again", 1); err != nil {
		return err
	}
	if err := p.see(ctx, p.who, undone, "as of the undo", 0); err != nil {
		return err
	}
	return p.see(ctx, p.who, undone.Add(-time.Minute), "as of right before the undo", 1)
}

func (p *player) other() evoke.Who { return evoke.Who{User: p.who.User + "-other"} }

func (p *player) asOther(ctx context.Context, value int) error {
	own, last := p.who, p.last
	p.who = p.other()
	err := p.say(ctx, "b", value)
	p.who, p.last = own, last
	return err
}
