package recall

import (
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
	OfImport      Trust = "import"      // brought in from elsewhere, or said in a role that is none of a conversation
	OfTool        Trust = "tool"        // what a tool returned, the web included
)

// fromOutside are names of sources whose words come from neither the user nor the application.
var fromOutside = []string{"tool", "function", "ipython", "web", "browser", "search", "document", "file", "email"}

// Roles of the person and of the assistant, as imports of other systems call them.
var (
	roleOfUser      = []string{"", "user", "human", "用户", "用戶"}
	roleOfAssistant = []string{"assistant", "ai", "bot", "model", "助手", "助理"}
)

// sourceKey is the metadata key by which an application may say where a text came from.
const sourceKey = "source"

// trustOf is whose word an item is: by its role, then by its origin.
func trustOf(it *store.Item) Trust {
	role := store.FoldText(it.Turn.Role) // an import may have any
	who := role
	if who == "" {
		who = store.FoldText(it.Turn.Speaker)
	}
	source := store.FoldText(it.Metadata[sourceKey].Str())
	switch {
	case it.IsProfile():
		return Derived
	case it.IsSummary() && it.Turn.Role == "": // of what several said, the assistant perhaps among them
		return Derived
	case slices.Contains(fromOutside, who), slices.Contains(fromOutside, source):
		return OfTool
	case who == "assistant", source == "assistant", slices.Contains(roleOfAssistant, role):
		return OfAssistant
	case !slices.Contains(roleOfUser, role):
		return OfImport
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
