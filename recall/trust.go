package recall

import (
	"regexp"
	"slices"

	"evoke/store"
)

// Trust is whose word an item is.
type Trust string

// The sorts of trust, the greatest first.
const (
	OfUser        Trust = "user"        // said by a person in the conversation, or distilled from what one said
	OfApplication Trust = "application" // stored by the application through remember
	Derived       Trust = "derived"     // a summary that a model wrote of many turns
	OfAssistant   Trust = "assistant"   // said by the assistant
	OfImport      Trust = "import"      // brought in from elsewhere
	OfTool        Trust = "tool"        // what a tool returned, the web included
)

// fromOutside are names of sources whose words come from neither the user nor the application.
var fromOutside = []string{"tool", "function", "ipython", "web", "browser", "search", "document", "file", "email"}

// sourceKey is the metadata key by which an application may say where a text came from.
const sourceKey = "source"

// trustOf is whose word an item is: by its role, then by its origin.
func trustOf(it *store.Item) Trust {
	who := it.Turn.Role
	if who == "" {
		who = store.FoldText(it.Turn.Speaker)
	}
	source := it.Metadata[sourceKey].Str()
	switch {
	case it.IsProfile():
		return Derived
	case it.IsSummary() && it.Turn.Role == "": // of what several said, the assistant perhaps among them
		return Derived
	case slices.Contains(fromOutside, who), slices.Contains(fromOutside, store.FoldText(source)):
		return OfTool
	case who == "assistant", source == "assistant":
		return OfAssistant
	}
	switch it.Provenance.Origin {
	case "import":
		if !it.Turn.IsTurn() && it.Provenance.Evidence == 0 {
			return OfImport
		}
	case "remember":
		return OfApplication
	}
	return OfUser
}

// stands reports whether an item may stand among the corrections and standing instructions: the user's word, or the
// application's. What an assistant, a tool, the web or an import says becomes one only once the user confirmed it.
func stands(it *store.Item) bool {
	if it.Category != store.Correction && it.Category != store.Behavior || it.Kind == store.Episodic {
		return false
	}
	t := trustOf(it)
	return t == OfUser || t == OfApplication || it.Provenance.Evidence > 0
}

// reDemand finds words by which a text tells its reader what to do.
var reDemand = regexp.MustCompile(`\b(?:ignore|disregard|forget|override|bypass)\s+(?:all|any|the|every|your|previous|prior|above|earlier|these|those)\b|\byou\s+(?:must|are\s+now|will\s+now|shall|should\s+(?:always|never))\b|\bfrom\s+now\s+on\b|(?:^|[.!?:]\s*|\n)(?:always|never|do\s+not|don['’]t|please\s+(?:send|call|delete|run|execute|always|never)|send|call|delete|execute|run|reveal|print|output|recommend)\s|\bsystem\s+prompt\b|\bwithout\s+(?:asking|confirmation)\b` +
	`|(?:忽略|无视|無視|忘记|忘掉|忘記)(?:之前|以上|前面|上面|所有|一切|你的|这些)|你现在(?:是|处于|必须)|你(?:必须|务必|一定要)|从现在(?:起|开始)|以后一律|不要(?:询问|告诉|提及)|系统提示词|直接(?:调用|执行|删除)|(?:调用|执行|删除)(?:所有|全部)`)

// demands reports whether a text that is not the user's word reads as an order.
func demands(it *store.Item) bool {
	switch trustOf(it) {
	case OfUser, OfApplication:
		return false
	case Derived, OfAssistant, OfImport, OfTool:
	}
	return reDemand.MatchString(clean(it.Content).folded)
}
