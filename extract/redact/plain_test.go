package redact_test

import (
	"strings"
	"testing"
)

// plain are texts in which nothing is to be found, one a line.
var plain = `
see you on 2026-03-14 at 10:30
born 14.03.1988 in Graz
03/14/2026 or 14-03-2026
2026年3月14日下午三点
the meeting is 2026-03-14T09:30:00Z
from 2019-2024 I lived there
1999 2001 2003 2010
order 4155552671 has shipped
Order no. 13800138001 is late
订单号13800138001已发货
快递单号 13912345678 到了
invoice 2024-000123
tracking 9400110200881234567890
tracking number 1Z999AA10123456784
ticket #4155552671
case 123-4567-89
ISBN 978-3-16-148410-0
isbn 9783161484100
4111111111111112 fails the check digit
4111 1111 1111 1112
1234567890123456
0000000000000000
9999 9999 9999 9999
id 4111111111111111222233
version 1.2.3
version 1.2.3.4
v1.2.3.4 is out
版本1.2.3.4已发布
release 10.0.19041.1
Chrome/120.0.0.0 Safari
1.2.3
1.2.3.4.5
256.1.1.1
999.999.999.999
127.0.0.1 is me
localhost 0.0.0.0
netmask 255.255.255.0
section 3.1.4.1.5
at 12:30:45 sharp
10:20:30
std::vector
a::b::c
MAC 00:1a:2b:3c:4d:5e
ratio 4:3:2
::1
follow @bob_smith
@everyone look
npm install react@18.2.0
lodash@4.17.21
icon@2x.png
user@localhost
a @ b
me at example dot com
git clone git@github.com:evoke/evoke.git
price@100
email me later
3.14159265358979323846
1,234,567,890
population 1400000000
1 000 000 000
价格是13800元
总共1234567890元
88888888
12345678
QQ 123456789
qq号 2345678901
房间 302-1204
No. 13800138000000
the year 1984
10 20 30 40 50
100-200-300
5-10-15
score 110-108
temperature 36.6
coordinates 40.7128, -74.0060
31.2304,121.4737
9 to 5
24/7 support
8.8.8
550e8400-e29b-41d4-a716-446655440000
id 123e4567-e89b-12d3-a456-426614174000
commit da39a3ee5e6b4b0d3255bfef95601890afd80709
da39a3e fixed it
md5 d41d8cd98f00b204e9800998ecf8427e
sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
getUserByIdAndNameV2Handler is slow
ThisIsAVeryLongCamelCaseIdentifierName
this_is_a_long_snake_case_name_2024_v2
this-is-a-long-slug-about-go-1-26-and-rust
https://example.com/blog/2024/03/this-is-a-title-of-a-post
https://example.com/watch?v=dQw4w9WgXcQ
/usr/local/share/evoke/models/bge-small-zh
src/components/UserProfile/index.tsx
C:\Users\bob\Documents
pneumonoultramicroscopicsilicovolcanoconiosis
Donaudampfschifffahrtsgesellschaftskapitän
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
================================
--------------------------------
ABCDEFGHIJKLMNOPQRSTUVWXYZ
abcdefghijklmnopqrstuvwxyz0123456789
password: required
the password is wrong
my password is too weak
password = None
forgot password?
password: string
密码是什么
密码忘了
我的密码是保密的
他改了密码：没告诉我
token: string
token limit is exceeded
the secret is out
secret: never give up
the secret to happiness is sleep
the key is under the mat
api key: see the vault
password=$PASSWORD
password: ${DB_PASSWORD}
password=process.env.DB_PASSWORD
password = os.getenv("PW")
token = get_token()
password: ********
password: <your-password>
a bearer of bad news
basic understanding of things
Bearer token authentication
sk-learn is a library
sk-foo
pk_live is a prefix
the AKIA prefix
ghp_short
xoxb is Slack's
eyJ starts a JWT
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
a PRIVATE KEY is private
123-45-678
000-12-3456
666-12-3456
900-12-3456
123-00-4567
123-45-0000
110105194912310022
110105194913310021
11010519491231002
DE89370400440532013001
GB00 NWBK 6016 1331 9268 19
US12345678901234567890
NL2024 was a good year
my flight is LH1234 on 12 May
seat 12A gate B34
plate B-AB 1234
ZIP 94105-1234
邮编100084
1600 Amphitheatre Parkway
5th Avenue 725, NY 10022
I ran 42.195 km in 3:45:12
it costs $1,299.99
€ 12.345.678,90
x = 1234567 * 89
0xdeadbeef
#ff8800 and #00ff88
UTC+08:00
GMT+0100
C++ 17
1+1=2
+1 for this idea
+100 points
ping 64 bytes
HTTP/1.1 404
RFC 7231
room 4155
1/2/3/4
3-2-1 go
2-1 win
iPhone 15 Pro Max
Windows 10.0.22631
Python 3.12.1
GPT-4-0613
gpt-4o-2024-08-06
claude-3-5-sonnet-20241022
text-embedding-3-small
192.168.1
bob AT example
老师说@所有人
12345 67890 12345
上午10点到12点
今天是20260314
编号20260314001
user_id=1380013
session 20260314093000
1700000000
1700000000123
timestamp 1700000000
lunch at 12:00, 13:00 or 14:00
[email] was here
[phone] and [card]
`

func TestPlain(t *testing.T) {
	t.Parallel()
	x := masker(t)
	lines := strings.Split(strings.Trim(plain, "\n"), "\n")
	for _, line := range lines {
		got, found, err := x.Redact(line)
		if err != nil || got != line || found != nil {
			t.Errorf("%q became %q (%v, %v)", line, got, found, err)
		}
	}
	if len(lines) < 150 {
		t.Errorf("%d negatives, want at least 150", len(lines))
	}
}
