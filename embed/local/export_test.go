package local

import "evoke/embed"

// Tokens shows the token ids of a text to the tests of other packages.
func (e *Encoder) Tokens(role embed.Role, text string) []int32 { return e.tokens(role, text) }
