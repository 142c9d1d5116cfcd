package redact_test

import (
	"strings"
	"testing"

	"evoke/extract/redact"
)

// j joins the parts of a made-up secret, so that no scanner takes this file for a leak.
func j(parts ...string) string { return strings.Join(parts, "") }

const letters = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA2cD4fG6hJ8kL0nP3qR5sT7uV9wX1yZ"

func r(n int) string { return letters[:n] }

var hexes = strings.Repeat("0a1b2c3d4e5f6789", 8)

// planted are texts around one find, marked ⟦…⟧.
var planted = map[string][]string{
	redact.Email: {
		"write to ⟦bob@example.com⟧", "⟦bob.smith+news@mail.example.co.uk⟧, please", "邮箱是⟦bob@example.com⟧吗", "我的邮箱⟦li_lei-88@qq.com⟧。",
		"<⟦a@b.io⟧>", "mailto:⟦x.y@z.org⟧?subject=hi", "⟦josé@exämple.fr⟧", "⟦иван@пример.рф⟧", "メールは⟦taro@example.jp⟧です", "⟦bob＠example．com⟧",
		"(⟦ceo@corp.example⟧)", "Bob=⟦bob@x.de⟧", "\"⟦o'neil@x.ie⟧\"", "⟦A_B@SUB.DOMAIN.COM⟧.", "⟦me@xn--bcher-kva.ch⟧",
	},
	redact.Phone: {
		"call ⟦+1 415 555 2671⟧ now", "⟦+14155552671⟧", "tel ⟦(415) 555-2671⟧", "⟦415-555-2671⟧ is mine", "⟦1-415-555-2671⟧", "phone: ⟦4155552671⟧",
		"我的手机⟦13800138000⟧", "手机号是⟦138 0013 8000⟧。", "电话⟦138-0013-8000⟧吧", "打⟦010-62781234⟧找我", "⟦+86 138 0013 8000⟧", "⟦＋８６１３８００１３８０００⟧",
		"⟦１３８００１３８０００⟧", "London ⟦020 7946 0018⟧", "⟦+44 20 7946 0018⟧", "Berlin ⟦030 901820⟧", "⟦+49 30 901820⟧", "Paris ⟦01 42 68 53 00⟧",
		"⟦+33 1 42 68 53 00⟧", "東京⟦03-3224-9999⟧です", "⟦090-1234-5678⟧に電話", "⟦+81 90-1234-5678⟧", "⟦+91 98765 43210⟧", "WhatsApp ⟦98765 43210⟧",
		"⟦010-1234-5678⟧ 전화", "⟦+55 11 91234-5678⟧", "⟦+61 2 9374 4000⟧", "ring ⟦0044 20 7946 0018⟧", "tel:⟦+4930901820⟧", "mobile ⟦07911 123456⟧", "⟦+852 2345 6789⟧",
	},
	redact.Card: {
		"card ⟦4111111111111111⟧", "⟦4111 1111 1111 1111⟧ exp 12/28", "⟦4111-1111-1111-1111⟧", "卡号⟦4111111111111111⟧，谢谢", "⟦5555555555554444⟧", "⟦5105 1051 0510 5100⟧",
		"⟦378282246310005⟧", "⟦3782 822463 10005⟧", "⟦6011111111111117⟧", "⟦3530111333300000⟧", "⟦30569309025904⟧", "⟦2223003122003222⟧", "⟦６０１１１１１１１１１１１１１７⟧",
		"银行卡⟦6212345678901232⟧的", "pay with ⟦4012888888881881⟧.", "order paid by ⟦4242424242424242⟧", "⟦4242 4242 4242 4242⟧ 123",
	},
	redact.NationalID: {
		"身份证⟦11010519491231002X⟧", "身份证号是⟦11010519491231002x⟧，", "⟦440524188001010014⟧", "⟦310101199003075127⟧",
		"SSN ⟦123-45-6789⟧", "ssn: ⟦123456789⟧", "his social security number is ⟦219-09-9999⟧.", "my SSN is ⟦123 45 6789⟧", "⟦１２３-４５-６７８９⟧", "社保⟦123-45-6789⟧号",
	},
	redact.IBAN: {
		"⟦DE89370400440532013000⟧", "⟦DE89 3704 0044 0532 0130 00⟧", "IBAN: ⟦GB29 NWBK 6016 1331 9268 19⟧.", "⟦FR14 2004 1010 0505 0001 3M02 606⟧", "账户⟦NL91ABNA0417164300⟧的",
		"⟦CH9300762011623852957⟧", "⟦ES9121000418450200051332⟧", "⟦IT60X0542811101000000123456⟧", "⟦de89370400440532013000⟧", "⟦BE68 5390 0754 7034⟧", "⟦AT611904300234573201⟧", "⟦NO9386011117947⟧",
	},
	redact.IP: {
		"from ⟦203.0.113.7⟧", "服务器⟦192.168.1.20⟧上", "http://⟦10.0.0.1⟧/x", "⟦8.8.8.8⟧:53", "⟦2001:db8::1⟧", "[⟦2001:db8:85a3::8a2e:370:7334⟧]:443", "地址⟦fe80::1ff:fe23:4567:890a⟧吧",
		"ping ⟦172.16.254.1⟧.", "⟦１９２.１６８.１.２０⟧", "ip=⟦198.51.100.23⟧,", "⟦::ffff:192.0.2.128⟧",
	},
	redact.Token: {
		"⟦" + j("AKIA", "IOSFODNN7EXAMPLE") + "⟧", "密钥是⟦" + j("AKIA", "IOSFODNN7EXAMPLE") + "⟧吧", "⟦" + j("ghp", "_", r(36)) + "⟧", "⟦" + j("github", "_pat_", r(40)) + "⟧",
		"用⟦" + j("gh", "o_", r(36)) + "⟧登录", "⟦" + j("sk", "-", r(48)) + "⟧", "⟦" + j("sk-", "proj-", r(48)) + "⟧", "⟦" + j("sk-", "ant-api03-", r(48)) + "⟧",
		"⟦" + j("xox", "b-", "123456789012-", r(24)) + "⟧", "⟦" + j("sk", "_live_", r(24)) + "⟧", "⟦" + j("rk", "_test_", r(24)) + "⟧", "⟦" + j("AI", "za", r(35)) + "⟧",
		"⟦" + j("eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJ", "zdWIiOiIxIn0", ".", r(30)) + "⟧", "令牌⟦" + j("eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJ", "zdWIiOiIxIn0", ".", r(30)) + "⟧。",
		"⟦" + j("gl", "pat-", r(20)) + "⟧", "⟦" + j("hf", "_", r(34)) + "⟧", "⟦" + j("npm", "_", r(36)) + "⟧", "⟦" + j("SG", ".", r(22), ".", r(43)) + "⟧", "⟦" + j("shp", "at_", hexes[:32]) + "⟧",
		"⟦" + j("GOC", "SPX-", r(28)) + "⟧", "⟦" + j("ya", "29.", r(40)) + "⟧", "⟦" + j("do", "p_v1_", hexes[:64]) + "⟧", "⟦" + j("LT", "AI", r(20)) + "⟧", "bot ⟦" + j("123456789", ":", r(35)) + "⟧",
		"⟦" + j("gsk", "_", r(52)) + "⟧", "⟦" + j("wh", "sec_", r(32)) + "⟧", "https://⟦" + j("hooks.slack", ".com/services/", "T00000000/B00000000/", r(24)) + "⟧", "\"⟦" + j("xapp", "-1-", r(30)) + "⟧\"",
		"⟦" + j("glsa", "_", r(40)) + "⟧", "⟦" + j("AGE-SECRET-", "KEY-1", strings.Repeat("Q9Z8X7C6V5", 6)) + "⟧",
	},
	redact.PrivateKey: {
		"⟦" + j("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE\n", r(40), "\n-----END RSA ", "PRIVATE KEY-----") + "⟧", "看⟦" + j("-----BEGIN ", "PRIVATE KEY-----\n", r(40), "\n-----END ", "PRIVATE KEY-----") + "⟧吧",
		"⟦" + j("-----BEGIN OPENSSH ", "PRIVATE KEY-----\nb3Bl") + "⟧", "⟦" + j("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----\nx\n-----END PGP ", "PRIVATE KEY BLOCK-----") + "⟧",
		"a ⟦" + j("-----BEGIN EC ", "PRIVATE KEY-----MHc", "-----END EC ", "PRIVATE KEY-----") + "⟧ b", "⟦" + j("-----BEGIN ENCRYPTED ", "PRIVATE KEY-----\nMII") + "⟧",
	},
	redact.Secret: {
		"password: ⟦hunter22⟧", "my password is ⟦Tr0ub4dor⟧", "password=⟦correcthorse⟧", "PASSWORD=\"⟦s3cr3t!pw⟧\"", "密码是⟦abc12345⟧", "密码：⟦Zx9!kk⟧，别说", "口令为⟦889900⟧", "pwd:⟦q1w2e3⟧",
		"passwd ⟦⟧", "api_key=⟦" + r(16) + "⟧", "API key: ⟦" + r(20) + "⟧", "client_secret: ⟦" + r(18) + "⟧", "token=⟦" + r(12) + "⟧&x=1", "secret => '⟦" + r(14) + "⟧'",
		"Authorization: Bearer ⟦" + r(22) + "⟧", "postgres://app:⟦pa55⟧@db/x", "https://u:⟦longpassword⟧@example.com/", "パスワードは⟦pass1234⟧です", "비밀번호는 ⟦qwer1234⟧", "see ⟦" + r(40) + "⟧ there",
		"令牌：⟦" + r(18) + "⟧", "钥⟦" + r(44) + "⟧吧", "⟦" + r(32) + "⟧", "contraseña: ⟦hola2024⟧", "Passwort: ⟦geheim99⟧", "AWS_SECRET_ACCESS_KEY=⟦" + r(40) + "⟧", "secret: ⟦" + hexes[:32] + "⟧",
		"{\"password\": \"⟦abc!12345⟧\"}", "password：⟦ａｂｃ１２３４５⟧",
	},
}

func TestPlanted(t *testing.T) {
	t.Parallel()
	x := masker(t)
	total := 0
	for kind, texts := range planted {
		for _, text := range texts {
			head, rest, _ := strings.Cut(text, "⟦")
			find, tail, _ := strings.Cut(rest, "⟧")
			if find == "" {
				continue
			}
			total++
			got, found, err := x.Redact(head + find + tail)
			if err != nil {
				t.Fatal(err)
			}
			if want := head + "[" + kind + "]" + tail; got != want {
				t.Errorf("%s: %q became %q, want %q", kind, head+find+tail, got, want)
			} else if found[kind] != 1 || len(found) != 1 {
				t.Errorf("%s: %q counts %v", kind, text, found)
			}
		}
	}
	if total < 150 {
		t.Errorf("%d positives, want at least 150", total)
	}
}

func masker(t testing.TB) *redact.Redactor {
	t.Helper()
	x, err := redact.New(&redact.Options{Mode: redact.Mask})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
