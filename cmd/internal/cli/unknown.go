package cli

import (
	"errors"
	"fmt"
	"strings"

	"evoke/store"
)

// unknownIDs is the error of ids that the memory does not have; what was known is done.
func unknownIDs(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	shown := make([]string, 0, min(len(ids), 20))
	for _, id := range ids[:min(len(ids), 20)] {
		shown = append(shown, visible(id))
	}
	more := ""
	if len(ids) > len(shown) {
		more = fmt.Sprintf(" and %d more", len(ids)-len(shown))
	}
	return fmt.Errorf("%w in this memory: %s%s (evoke list shows what is; --user and --agent say whose memory)", store.ErrNotFound, strings.Join(shown, ", "), more)
}

// unknownItem is the error of a call that names one item: where it is not there, that of unknownIDs. Of one that is softly
// forgotten it says so.
func unknownItem(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrForgotten) {
		return unknownIDs([]string{id})
	}
	return err
}

// shownBy adds to the error of a name that is not there which command shows those that are.
func shownBy(err error, command string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w (%s shows those that there are)", err, command)
	}
	return err
}
