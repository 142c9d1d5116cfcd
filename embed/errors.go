package embed

import "errors"

// What can go wrong, for errors.Is. Errors of this package tree wrap one of
// these wherever a caller could do something about it.
var (
	// ErrUnavailable: the embedder cannot answer now; trying later may help.
	ErrUnavailable = errors.New("embedder unavailable")
	// ErrInvalid: a setting or a request that can never work.
	ErrInvalid = errors.New("invalid embedder request")
	// ErrDamaged: a model file or a provider's answer that is not what it
	// should be.
	ErrDamaged = errors.New("damaged embedding data")
)
