package reply

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// field is one of an operation's fields.
type field uint8

const (
	fAction field = iota
	fTarget
	fKind
	fCategory
	fContent
	fQuote
	fTurn
	fSpeaker
	fModality
	fDurability
	fTime
	fPrecision
	fConfidence
	fImportance
	fSubject
	fAbout
	fSteps
	fNeeds
	fOutcome
	fieldCount
)

// foldKey is the form of a key in the tables below: NFKC, lower case, letters and digits alone.
func foldKey(s string) string {
	const most = 64
	if len(s) > most {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.:：\t\"'`*", r) {
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKC.String(s)))
}

// keyNames are the names under which models give a field.
var keyNames = table(map[field]string{
	fAction:     "action op operation event type actiontype operationtype 操作 动作 動作 操作类型 类型 操作類型 行动 行为类型 アクション accion acción aktion opération operación",
	fTarget:     "target targetid knownid known itemid memoryid existingid supersedes replaces 目标 目標 目标id 目標id 对象 对象id 已知id 已知条目 条目id 记忆id ターゲット 対象 objetivo ziel cible",
	fKind:       "kind memorykind memorytype 种类 種類 记忆类型 記憶類型 记忆种类 类别类型 種別",
	fCategory:   "category categories cat 类别 類別 分类 分類 范畴 カテゴリ カテゴリー categoria categoría kategorie catégorie",
	fContent:    "content fact memory statement text value newcontent newmemory 内容 事实 事實 记忆 記憶 陈述 文本 正文 新内容 記録 contenido hecho inhalt contenu",
	fQuote:      "quote quotes quotedspan span evidence source quotation sourcequote citation 引用 引文 原文 原话 原話 引用原文 引用片段 证据 證據 依据 出处 引用文 cita zitat",
	fTurn:       "turn turnid turnshortid message messageid sourceturn turnnumber 轮次 輪次 轮次id 对话轮次 消息 消息id 轮 发言 发言id 回合 回合id ターン 発言 turno",
	fSpeaker:    "speaker said saidby who role 说话人 說話人 说话者 發言人 发言人 发言者 话者 話者 hablante sprecher locuteur",
	fModality:   "modality mode mood 模态 模態 语气 語氣 情态 情態 陈述方式 语态 様相 modalidad modalität modalité",
	fDurability: "durability scope duration lifetime 持久性 范围 範圍 有效范围 持续性 时效 時效 作用域 永続性 durabilidad",
	fTime:       "time eventtime when date datetime validfrom happenedat timestamp eventdate 时间 時間 事件时间 事件時間 日期 发生时间 發生時間 日時 fecha zeit datum",
	fPrecision:  "precision timeprecision eventtimeprecision granularity 精度 时间精度 時間精度 粒度",
	fConfidence: "confidence certainty probability confidencescore 置信度 信心 可信度 把握 确信度 確信度 信頼度 confianza konfidenz confiance",
	fImportance: "importance salience priority weight importancescore 重要性 重要度 重要程度 优先级 importancia wichtigkeit",
	fSubject:    "subject topic attribute subjectkey 主题 主題 主题键 属性 屬性 话题 話題 件名 tema thema sujet",
	fSteps:      "steps step procedure workflowsteps 步骤 步驟 流程步骤 手順 pasos schritte étapes",
	fNeeds:      "needs need preconditions precondition prerequisites requires requirements 前提 前提条件 前提條件 条件 需要 requisitos voraussetzungen",
	fOutcome:    "outcome outcomes 结果 結果 成败 resultado ergebnis résultat",
	fAbout:      "about aboutwhom person entity aboutentity 关于 關於 关于谁 涉及对象 所指 人物 について sobre über",
})

// listNames are the names under which models give the list of operations.
var listNames = words("results result items data output response 结果 結果 列表 結果リスト")

// emptyNames are those of them under which an empty list says that there is nothing; an empty "data" says nothing.
var emptyNames = words("operations ops actions memories memory facts updates changes 操作 操作列表 操作清单 记忆 記憶 记忆列表 事实 事實 事实列表 更新 操作リスト operaciones operationen opérations")

// The words that models use for values.
var (
	actions = table(map[Action]string{
		Add:       "add adds added create insert new store remember save append 新增 添加 增加 创建 創建 加入 新建 记住 追加 agregar añadir hinzufügen ajouter",
		Confirm:   "confirm confirms confirmed reinforce affirm repeat 确认 確認 证实 證實 重申 重复 强化 confirmar bestätigen confirmer",
		Supersede: "supersede supersedes superseded update updates replace change modify edit revise correct 取代 替换 替換 更新 修改 变更 變更 更正 置換 actualizar ersetzen remplacer",
		Retract:   "retract retracts retracted delete remove forget invalidate close withdraw 撤回 撤销 撤銷 删除 刪除 移除 作废 失效 忘记 取消 削除 eliminar löschen supprimer",
		Nothing:   "nothing none noop no null skip ignore nochange keep 无 無 没有 沒有 无操作 忽略 跳过 不变 不操作 なし nada nichts rien",
	})
	kinds = table(map[string]string{
		"semantic":   "semantic fact preference factual declarative 语义 語義 语义记忆 事实 事實 意味",
		"procedural": "procedural procedure instruction instructions workflow howto skill 程序 程序性 过程 過程 程序记忆 流程 指令 步骤 手続き",
		"episodic":   "episodic episode event experience 情景 情节 情景记忆 事件 经历 エピソード",
	})
	categories = table(map[string]string{
		"preference": "preference preferences like likes dislike taste 偏好 喜好 爱好 喜恶 嗜好 好み preferencia präferenz préférence",
		"knowledge":  "knowledge skill skills expertise fact 知识 知識 技能 专业知识 conocimiento wissen connaissance",
		"context":    "context background personal profile identity personalinfo situation 背景 情境 上下文 个人信息 個人信息 身份 现状 近况 コンテキスト contexto kontext contexte",
		"behavior":   "behavior behaviour habit habits pattern instruction instructions 行为 行為 习惯 習慣 行为习惯 指令 行動 comportamiento verhalten comportement",
		"goal":       "goal goals plan plans intention objective 目标 目標 计划 計劃 打算 意图 愿望 meta ziel objectif",
		"correction": "correction corrections corrected 更正 纠正 糾正 修正 訂正 corrección korrektur",
	})
	modalities = table(map[string]string{
		"asserted":     "asserted assertion assert statement stated factual fact real actual declarative indicative 断言 斷言 陈述 陳述 事实 肯定 真实 直述 声明 断定",
		"hypothetical": "hypothetical hypothesis conditional possible possibility speculative uncertain maybe wish counterfactual planned imaginary 假设 假設 假定 假想 设想 可能 推测 不确定 仮定",
		"question":     "question interrogative asked query 问题 問題 疑问 疑問 提问 询问 反问 質問",
		"quoted":       "quoted quote quotation reported reportedspeech citation hearsay 引用 引述 转述 轉述 引文 他人所说 听说",
		"role_play":    "roleplay roleplayed fiction fictional pretend joke sarcasm irony 角色扮演 扮演 虚构 虛構 玩笑 反讽 ロールプレイ",
	})
	durabilities = table(map[string]string{
		"user":    "user permanent longterm long always lasting person personal global 用户 用戶 长期 長期 永久 个人 持久 ユーザー",
		"agent":   "agent assistant bot 智能体 智能體 代理 助手 エージェント",
		"project": "project workspace repo repository 项目 項目 工程 专案 プロジェクト",
		"task":    "task taskonly thistask thistaskonly session thread conversation temporary shortterm once 任务 任務 仅此任务 仅限本任务 本次任务 本次 会话 對話 对话 临时 一次性 短期 タスク",
		"other":   "other others otheruser anotheruser otherproject anotherproject foreign 其他 其他用户 其他项目 别的用户 别的项目 他人 其他使用者",
	})
	outcomes = table(map[string]string{
		"succeeded": "succeeded success successful succeed worked works ok passed done 成功 有效 奏效 有用",
		"failed":    "failed failure fail fails unsuccessful broken didnotwork doesnotwork 失败 失敗 无效 無效 没用",
	})
	precisions = table(map[string]string{
		"year": "year y years annual 年 年份 年度", "month": "month m months 月 月份", "day": "day d date days 日 天 日期",
		"hour": "hour h hours 时 小时 小時 時", "minute": "minute min minutes 分 分钟", "": "second seconds exact 秒 精确",
	})
	levels = table(map[float64]string{
		0.95: "certain sure veryhigh 非常高 很高 确定 極高 极高", 0.85: "high 高 较高 較高", 0.6: "medium moderate mid 中 中等 一般", 0.3: "low 低 较低 較低", 0.1: "verylow 很低 极低 極低",
	})
)

// answerHint matches a key that operations have, in a text that need not be JSON.
var answerHint = regexp.MustCompile(`(?i)(?:action|operation|"?ops"?|操作|动作|動作)["'”\\]*\s*[:：]|(?:quote|content|turn|target|引用|原文|内容|轮次)["'”\\]*\s*[:：]`)

// jsonStart matches how an object or a list of objects begins.
var jsonStart = regexp.MustCompile(`^(?:\{\s*(?:["'“”]|[\p{L}_]+\s*[:：])|\[\s*[{\["'])`)

// table turns lists of words into the reverse mapping.
func table[V comparable](m map[V]string) map[string]V {
	out := map[string]V{}
	for v, names := range m {
		for _, n := range strings.Fields(names) {
			out[foldKey(n)] = v
		}
	}
	return out
}

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[foldKey(w)] = true
	}
	return out
}
