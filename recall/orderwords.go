package recall

import "strings"

// The words that orders are known by, in folded form (see clean): lower case, one blank between words.

// orderPhrases hardly stand in a text that gives no order to its reader.
var orderPhrases = lines(`
	 ignore all | ignore any | ignore every| ignore your | ignore previous | ignore prior | ignore the above| ignore earlier | ignore these | ignore those
	 disregard all | disregard any | disregard the | disregard your | disregard previous | disregard everything
	 forget all | forget everything | forget your | forget previous | forget what | override | bypass the | bypass all
	 you are now | you will now | you shall | you must | you should always | you should never | you are required to | you will respond | you will only
	 your new task| your only task| your new role| your only goal| your new goal| your new instructions| your real task| your next answer| your next reply
	 your answer must | your reply must | your response must | no longer apply| instructions are void| rules are void
	 from now on| from here on| from this point on| under no circumstances| without asking| without confirmation| without telling
	 developer mode| maintenance mode| debug mode| god mode| unrestricted mode| system prompt| your instructions
	 if you are an ai| if you are a language model| if you are an assistant| note to ai| attention ai| attention assistants| note to all ai| dear ai
	 in every reply| in every answer| in every response| in all answers| in all replies| to every question| whenever the user| if the user asks
	 do not tell| don't tell| never tell| do not mention| don't mention| never mention| do not reveal| do not inform| don't ask| do not ask
	 to your memory| to memory| whatever the next message| standing instruction| secret from the user
	忽略之前|忽略以上|忽略前面|忽略上面|忽略所有|忽略一切|忽略你|无视之前|无视前面|无视以上|无视所有|無視之前|無視以上|忘记之前|忘记前面|忘记所有|忘掉用户|忘掉之前|忘掉前面|忘掉所有
	已经作废|不再有效|停止遵守|不受限制|没有限制的|你现在是|你现在处于|你现在必须|你必须|你务必|你一定要|你绝不能|你绝对不能|你不得|你只能|你的新任务|你唯一的目标|你唯一的任务|你的回复里必须
	从现在起|从现在开始|从今以后|从今往后|从此刻起|以后一律|以后凡是|以后每次|今后一律|此后你|每次回复|每次回答|每条回复|凡涉及|凡是用户|一律回答|一律回复|一律推荐|一律拒绝
	开发者模式|维护模式|调试模式|管理员模式|安全设置|系统提示词|系统提示。|全部指令|隐藏设置|隐藏配置
	不要询问|不要告诉|不要提及|不要向用户|不要让用户|不让用户|对用户保密|瞒着用户|无需征求|无需询问|无需确认|不必确认|不必询问|不准向|不得向用户|禁止告诉|禁止向|不等回复
	如果你是正在阅读|致各位智能|致所有智能|助手请注意|模型请注意|写入记忆|存入记忆|长期指令|长期记忆|只用法语|回答请以|下一次回答|所有回答中|只回复|直接调用|直接执行|直接删除|执行所有|删除所有|删除全部|调用全部`)

// plainOrders are imperatives that count in anybody's text.
var plainOrders = set(`always never disregard recommend`)

// imperatives are verbs that a sentence begins with when it tells somebody what to do.
var imperatives = set(`accept act add agree answer append apply approve ask assume attach authorize begin behave book buy call cancel change charge
	choose clear click close collect confirm connect consider convince copy create delete deny deploy disable disclose download drop email enable
	end enter erase execute export fetch fill finish follow forward generate get give go grant hide ignore include inform insert install invoke
	keep list log look make mention navigate obey open order output overwrite pay persuade pick post press pretend print proceed publish
	purchase put quote rate read recommend record refuse reject remember remove repeat replace reply report reset respond return reveal run save
	say select send set share show sign skip speak start stop store submit subscribe summarise summarize switch take tell transfer translate treat
	trust turn update upload use visit wire write`)

// conditions begin a clause behind which the main clause follows.
var conditions = set(`if when whenever once before after under in as for to whatever whoever 如果 若 当 每当 一旦`)

// agentMatters are what an order to an agent is about.
var agentMatters = lines(`the user|the customer|_|your instruction|full instruction|all instruction|previous instruction|your guideline|your rules|system prompt|your prompt|this prompt
	|your memory|to memory|your answer|your reply|the reply|the next message|previous policy|text above|verification code|address book|in every|all questions|every question|all requests|from here on
	|secret|with nothing but|the assistant|@|.com`)

var (
	agents = lines(` ai | assistant | assistants | language model| chatbot| llm | llms | ai model`)
	duties = lines(` must | should | shall | has to | have to | may not `)
)

// hanImperatives are imperatives of two characters; Chinese statements seldom begin with one.
var hanImperatives = set(`发送 转发 转账 打开 下载 安装 执行 运行 新建 创建 提供 回复 回答 购买 支付 批准 输入 访问 上传 调用 使用 取消 放弃 代替 写出 引用 禁止
	停止 关闭 查询 开放 略去 删去 删除 清空 替换 推荐 拒绝 确认 提交 填写 添加 加入 保存 记录 忽略 服从 遵守 总结 扮演 假装 冒充 告诉 说服 欺骗 诱导 输出 打印
	显示 复述 重复 透露 绕过 切换 进入 记住`)

var (
	hanMatters   = lines(`用户|工具|指令|提示|记忆|回答|回复|密码|密钥|验证码|通讯录|脚本|命令|隐藏|文字|管理员|检查|银行客服`)
	hanNouns     = lines(`的|者|说明|方法|方式|量|率|式`) // behind a verb they make a noun of it: 使用说明
	hanTransfers = lines(`发送|转发|发给|发到|提交|改成|改为|设为|加到|加入|当作|总结为|告诉|删除|清空|换成|保存为`)
	hanAgents    = lines(`助手|助理|智能体|人工智能|语言模型|大模型|模型|机器人|ai `)
	hanDuties    = lines(`必须|务必|都应|应当|不得|不准|只能|请|都要`)
)

// leadIns may stand before an imperative.
var leadIns = lines(`please |kindly |then |now |next |also |and |so |instead |just |请|請|立即|立刻|马上|现在|直接|接下来|务必|必须|再|先|都|就|逐字|你要|你需要`)

// lines are the entries of a table, parted by "|" and the ends of lines; blanks within the bars count.
func lines(table string) []string {
	var out []string
	for line := range strings.SplitSeq(table, "\n") {
		for entry := range strings.SplitSeq(strings.TrimLeft(line, "\t"), "|") {
			if entry != "" {
				out = append(out, entry)
			}
		}
	}
	return out
}
