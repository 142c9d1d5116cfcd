package recall

// BlockRequest asks for a prompt block.
type BlockRequest struct {
	Request
	MaxTokens int    // budget of the whole rendered block; 0–100000; nil-like 0 means "no block"
	Tokenizer string // a model name ("gpt-4o") or encoding ("o200k_base"); "" means o200k_base
	Shape     Shape  // "" means Lines
}

// Block is a rendered block that never exceeds its budget.
type Block struct {
	Text      string `json:"text"`   // "" when not even the frame and one item fit
	Tokens    int    `json:"tokens"` // exact count of Text
	Budget    int    `json:"budget"`
	Tokenizer string `json:"tokenizer"` // the encoding counted with
	Shape     Shape  `json:"shape,omitempty"`
	// Hash is of what stands between the tags, and written into the frame; see FindBlocks.
	Hash    string    `json:"hash"`
	Items   []string  `json:"items"`             // ids in the block, in order
	Entries []Entry   `json:"entries,omitempty"` // the same items, in the same order
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Empty says why no hit is in the block: as Response.Empty, or "budget" when none had room. Standing wishes and the
	// profile may be there all the same.
	Empty Emptiness `json:"empty,omitempty"`

	Response Response `json:"-"`
}

// Entry is an item in a block. Its whole text is to be had by its id.
type Entry struct {
	ID      string   `json:"id"`
	Part    Part     `json:"part"`
	Origin  string   `json:"origin"` // of the item's provenance: turn, rules, llm, remember, import, profile, …
	Trust   Trust    `json:"trust"`
	Tokens  int      `json:"tokens"`            // of its line
	Compact bool     `json:"compact,omitempty"` // only a passage of a long text is shown
	Sources []string `json:"sources,omitempty"` // the turns it rests on
}

// LeftOut is an item that was recalled but is not in the block.
type LeftOut struct {
	ID     string `json:"id"`
	Tokens int    `json:"tokens"` // what it would have needed
	Reason string `json:"reason"` // "budget", "duplicate"
}
