package evoke

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"evoke/store"
)

// Of changes to the text of one version at the same time one is made; the others are told that they were late.
func TestConcurrentUpdates(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "alice"}
	res, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "The user lives in Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	const writers = 8
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			content := fmt.Sprint("The user lives in town ", i)
			_, errs[i] = m.Update(t.Context(), UpdateRequest{Who: who, ID: res.Item.ID, Content: &content})
		})
	}
	wg.Wait()
	made, late := 0, 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case errors.Is(err, store.ErrConflict):
			late++
		default:
			t.Error(err)
		}
	}
	if made != 1 || late != writers-1 {
		t.Errorf("%d made, %d late", made, late)
	}
	list, err := m.List(t.Context(), ListRequest{Who: who})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 {
		t.Errorf("%d current items", len(list.Items))
	}
}
