package contradict

import "testing"

func contradict(a, b string) bool { return Of(a).Contradict(Of(b)) }

// Sentences that say nearly the same but for a number, a name or a place, a date or a negation contradict each other.
func TestContradictingPairs(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"The garden fence costs 120 euros.", "The garden fence costs 150 euros."},
		{"My sister Clara lives in Porto near the river", "My sister Clara lives in Braga near the hills"},
		{"My sister Clara lives in Porto near the river.", "My sister Clara lives in Braga near the river."},
		{"My sister Clara lives in Porto.", "Actually, my sister Clara lives in Braga now."},
		{"I have two cats.", "I have three cats."},
		{"The meeting is on Monday.", "The meeting is on Friday."},
		{"Our wedding is on 3 May.", "Our wedding is on 5 June."},
		{"The train leaves at 10:30.", "The train leaves at 11:15."},
		{"I eat meat.", "I don't eat meat."},
		{"Tom likes his new job.", "Tom does not like his new job."},
		{"We have a dog.", "We have no dog."},
		{"My dentist is Doctor Alves.", "My dentist is Doctor Costa."},
		{"Our dog is called Rex.", "Our dog is called Bello."},
		{"Clara was born in 1985.", "Clara was born in 1987."},
		{"I work at Siemens.", "I work at Bosch."},
		{"The rent is $1,200 a month.", "The rent is $1,350 a month."},
		{"I drink tea with milk.", "I drink tea without milk."},
		{"围栏花了120欧元。", "围栏花了150欧元。"},
		{"我住在北京。", "我住在上海。"},
		{"我妹妹住在杭州。", "我妹妹住在苏州。"},
		{"我有两只猫。", "我有三只猫。"},
		{"会议在周一举行。", "会议在周五举行。"},
		{"我们的婚礼在5月3日。", "我们的婚礼在6月5日。"},
		{"火车10点出发。", "火车11点出发。"},
		{"我吃肉。", "我不吃肉。"},
		{"小王喜欢他的新工作。", "小王不喜欢他的新工作。"},
		{"我家有狗。", "我家没有狗。"},
		{"我的牙医叫李明。", "我的牙医叫张伟。"},
		{"我妹妹在北京工作。", "我妹妹在上海工作。"},
		{"房租每月3000元。", "房租每月3500元。"},
		{"她出生于1985年。", "她出生于1987年。"},
		{"考试是明天。", "考试是后天。"},
	} {
		if !contradict(p[0], p[1]) || !contradict(p[1], p[0]) {
			t.Errorf("%q and %q: no contradiction", p[0], p[1])
		}
	}
}

// Sentences of different things do not.
func TestCompatiblePairs(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"The fence costs 120 euros.", "The gate costs 150 euros."},
		{"The garden fence costs 120 euros.", "The garden gate costs 150 euros."},
		{"My sister Clara lives in Porto.", "My sister Anna lives in Braga."},
		{"Clara lives in Porto near the river.", "Anna lives in Braga near the river."},
		{"My sister Clara lives in Porto.", "My brother lives in Braga."},
		{"I bought 3 eggs.", "I bought 5 apples."},
		{"I like apples.", "I like pears."},
		{"I sold 3 pots on Monday.", "I sold 5 pots on Tuesday."},
		{"I met Anna in Porto.", "I met Ben in Lisbon."},
		{"The garden fence costs 120 euros.", "The garden fence costs 120 euros now."},
		{"Clara doesn't live in Porto.", "Clara lives in Braga."},
		{"The flat in Porto has 3 rooms.", "The flat in Lisbon has 3 rooms."},
		{"Room 12 is booked.", "Room 14 is booked."},
		{"My sister Clara lives in Porto.", "My sister Clara works at a bank."},
		{"I don't eat meat.", "I don't drink wine."},
		{"It costs 120 euros.", "It costs 150 euros."},
		{"Tom paid 20 euros to Clara.", "Tom paid 30 euros to Ben."},
		{"Is the meeting on Monday?", "The meeting is on Friday."},
		{"围栏花了120欧元。", "大门花了150欧元。"},
		{"我妹妹住在北京。", "我哥哥住在上海。"},
		{"小王有3只猫。", "小李有5只猫。"},
		{"我买了3个鸡蛋。", "我买了5斤苹果。"},
		{"我喜欢苹果。", "我喜欢香蕉。"},
		{"周一我卖了3个碗。", "周二我卖了5个碗。"},
		{"围栏花了120欧元。", "围栏现在花了120欧元。"},
		{"我在学习。", "我在睡觉。"},
		{"3号房间已预订。", "5号房间已预订。"},
		{"我妹妹住在北京。", "我妹妹是老师。"},
		{"我不吃肉。", "我不喝酒。"},
		{"我和她一起去。", "我和她两人去。"},
		{"会议在周一吗？", "会议在周五。"},
		{"小王不住在北京。", "小王住在上海。"},
	} {
		if contradict(p[0], p[1]) || contradict(p[1], p[0]) {
			t.Errorf("%q and %q: a contradiction", p[0], p[1])
		}
	}
}
