package extract

import (
	"time"

	"evoke/store"
)

// HiddenBySources is the Aside.ForgottenBy of versions of a profile's sections that are softly forgotten because of what
// they rest on, and come back with it.
const HiddenBySources = "sources"

// HideSources is the change by which a profile follows what is softly forgotten and restored: versions are all versions of
// its sections as the change of what was named itself leaves them, touched the ids that were named, and forgotten those of
// the sources that are softly forgotten now. What rests on none but forgotten turns is out of sight, and so is every closed
// version that rests on one of them; a current one that rests on others, too, is marked (see store.Item.ProfileStale). It
// depends on nothing but what is forgotten at the end, so that a restoration undoes it exactly.
func HideSources(versions []store.Item, touched, forgotten map[string]bool, now time.Time) store.Change {
	var c store.Change
	for _, it := range versions {
		if !it.IsProfile() || it.Aside.Forgotten() && it.Aside.ForgottenBy != HiddenBySources {
			continue // forgotten by itself
		}
		n, hit := 0, touched[it.ID]
		for _, id := range it.Provenance.Turns {
			hit = hit || touched[id]
			if forgotten[id] {
				n++
			}
		}
		if !hit {
			continue
		}
		hide := n > 0 && (n == len(it.Provenance.Turns) || it.Closed())
		was, marked := it.Aside, it.ProfileVeiled()
		switch {
		case hide && !it.Aside.Forgotten():
			it.Aside.ForgetAs(store.Aside{ForgottenAt: now, ForgottenBy: HiddenBySources})
		case !hide && it.Aside.Forgotten():
			it.Aside.ForgetAs(store.Aside{})
			yield(&it, versions)
		}
		if veil := n > 0 && !hide; veil != marked {
			it.VeilProfile(veil)
		}
		if it.Aside != was || it.ProfileVeiled() != marked {
			c.Put = append(c.Put, it)
		}
	}
	return c
}

// yield closes a version that comes back behind one that was written while it was out of sight: a section has one text.
func yield(it *store.Item, versions []store.Item) {
	if it.Closed() {
		return
	}
	for i := range versions {
		if v := &versions[i]; v.ID != it.ID && v.ContentKey == it.ContentKey && !v.Closed() && !v.Aside.Forgotten() {
			it.Close(v.ValidFrom, v.RecordedAt)
			it.SupersededBy = v.ID
			return
		}
	}
}
