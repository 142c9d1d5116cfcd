package page

// messages are all words of the page, by name, in English and Chinese. Tests hold that both have every message, with the
// same places for values, and that templates name no other.
var messages = join(frameMessages, itemMessages, adminMessages, keepMessages)

// join makes one table of several, none of which has a name of another.
func join(tables ...map[string][2]string) map[string][2]string {
	all := map[string][2]string{}
	for _, t := range tables {
		for name, m := range t {
			all[name] = m
		}
	}
	return all
}

var frameMessages = map[string][2]string{
	"skip":           {"Skip to the content", "跳到正文"},
	"lang.other":     {"中文", "English"},
	"lang.othertag":  {"zh", "en"},
	"logout":         {"Log out", "退出"},
	"cancel":         {"Cancel", "取消"},
	"next":           {"Next page", "下一页"},
	"any":            {"Any", "不限"},
	"nocategory":     {"None", "无"},
	"footer.who":     {"Key %s · tenant %s · %s", "密钥 %s · 租户 %s · %s"},
	"footer.above":   {"Key %s · %s", "密钥 %s · %s"},
	"role.read":      {"may read", "只读"},
	"role.write":     {"may read and write", "可读写"},
	"role.admin":     {"may administer", "管理员"},
	"nav.label":      {"Views", "视图"},
	"nav.search":     {"Search", "搜索"},
	"nav.items":      {"Items", "条目"},
	"login.title":    {"Log in", "登录"},
	"login.key":      {"Key", "密钥"},
	"login.help":     {"A key of this server. It is kept in the server's memory until you log out.", "本服务器的密钥，只保存在服务器内存中，退出即清除。"},
	"login.enter":    {"Log in", "登录"},
	"login.wrong":    {"This key is not known here.", "此处不认识这个密钥。"},
	"login.stale":    {"The form was out of date. Please try again.", "表单已过期，请重试。"},
	"login.toomany":  {"Too many failed attempts. Please wait a minute.", "失败次数过多，请等一分钟。"},
	"problem.title":  {"That did not work", "操作未完成"},
	"problem.back":   {"Back to the start", "回到首页"},
	"problem.status": {"Status %d", "状态码 %d"},

	"problem.invalid":     {"Something in the form is not valid", "表单内容有误"},
	"problem.form":        {"The form could not be read", "无法读取表单"},
	"problem.not-found":   {"There is no such thing here", "这里没有此内容"},
	"problem.conflict":    {"It was changed meanwhile, or the name is taken", "内容已被更改，或名称已被占用"},
	"problem.unavailable": {"A part of the service cannot be reached now", "服务的某一部分暂时无法访问"},
	"problem.forbidden":   {"The key does not grant this", "密钥没有此权限"},
	"problem.role":        {"This needs a key that may do more", "需要权限更高的密钥"},
	"problem.token":       {"The form is out of date; open the page anew", "表单已过期，请重新打开页面"},
	"problem.origin":      {"The request came from another site", "请求来自其他网站"},
	"problem.too-large":   {"The form is too long", "表单内容过长"},
	"problem.budget":      {"The budget cannot be met", "超出预算"},
	"problem.timeout":     {"It took too long", "处理超时"},
	"problem.internal":    {"Something went wrong on our side", "服务器出错了"},

	"changes.label": {"What changes", "更改内容"},
	"changes.field": {"Field", "字段"},
	"changes.old":   {"Now", "现在"},
	"changes.new":   {"Then", "之后"},
}
