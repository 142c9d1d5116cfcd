package store

import "slices"

// ProfileOrigin is the Provenance.Origin of the sections of a profile.
const ProfileOrigin = "profile"

// ProfileSections lists the names of a profile's sections, in the order in which they are shown.
func ProfileSections() []string {
	return []string{"work", "personal", "top_of_mind", "recent_months", "earlier", "long_term"}
}

// profileKeys are the content keys of the sections. No statement has one of them: ContentKey makes hexadecimal digits.
var profileKeys = func() []string {
	keys := ProfileSections()
	for i, name := range keys {
		keys[i] = ProfileKey(name)
	}
	return keys
}()

// ProfileKey is the ContentKey, and the Provenance.Subject, of the items that hold a section of a profile, whatever they
// say.
func ProfileKey(section string) string { return "profile:" + section }

// ProfileKeys are the content keys of all sections, in the order of ProfileSections.
func ProfileKeys() []string { return slices.Clone(profileKeys) }

// IsProfile reports whether the item is a version of a section of a profile: a summary of many turns, which is read as a
// whole. Views leave it out unless they ask for it, so that it is neither found nor listed nor counted among facts, and
// the statistics of a search do not count it. It needs no vectors.
func (it *Item) IsProfile() bool { return slices.Contains(profileKeys, it.ContentKey) }

// The metadata of sections.
const (
	profileVersion = "version" // a number, from 1
	profileStale   = "stale"
	profileVeiled  = "veiled"
)

// ProfileVersion is the number of this version of a section, from 1.
func (it *Item) ProfileVersion() int { return max(1, int(it.Metadata[profileVersion].Num())) }

// ProfileStale reports whether a turn that the section rests on was forgotten, for good or softly, since it was written.
// Such a section is not given to an extractor any more: its next text is made of new turns alone.
func (it *Item) ProfileStale() bool { return it.Metadata[profileStale].IsTrue() || it.ProfileVeiled() }

// ProfileVeiled reports whether a turn that the section rests on is softly forgotten now.
func (it *Item) ProfileVeiled() bool { return it.Metadata[profileVeiled].IsTrue() }

// VeilProfile sets what ProfileVeiled reports, without touching metadata that others hold. Taken back, it leaves no trace.
func (it *Item) VeilProfile(on bool) {
	if on {
		it.setMetadata(profileVeiled, Bool(true))
		return
	}
	md := it.Metadata.Clone()
	delete(md, profileVeiled)
	it.Metadata = md
}

// MarkProfileStale sets what ProfileStale reports, without touching metadata that others hold.
func (it *Item) MarkProfileStale() { it.setMetadata(profileStale, Bool(true)) }

// FollowProfile makes the item the version after old, which may be nil.
func (it *Item) FollowProfile(old *Item) {
	n := 1
	if old != nil {
		n = old.ProfileVersion() + 1
	}
	it.setMetadata(profileVersion, Number(float64(n)))
}

func (it *Item) setMetadata(key string, v Value) {
	md := it.Metadata.Clone()
	if md == nil {
		md = Metadata{}
	}
	md[key] = v
	it.Metadata = md
}
