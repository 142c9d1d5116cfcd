package evoke

import (
	"encoding/json"
	"reflect"
	"strings"

	"evoke/store"
)

// maxUnknownFields is how many names of unknown fields are told.
const maxUnknownFields = 100

// unknownFields notes the fields of a line that the format does not have: most likely somebody meant them.
func (imp *importer) unknownFields(b []byte) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return
	}
	for name := range fields {
		if imp.fields[strings.ToLower(name)] { // as the decoder matches them
			continue
		}
		if name = store.CleanText(name); len(name) > 100 {
			name = strings.ToValidUTF8(name[:100], "") + "…"
		}
		if imp.res.UnknownFields == nil {
			imp.res.UnknownFields = map[string]int{}
		}
		if _, seen := imp.res.UnknownFields[name]; seen || len(imp.res.UnknownFields) < maxUnknownFields {
			imp.res.UnknownFields[name]++
		}
	}
}

// fieldNames are the JSON names of a struct's fields, those of embedded structs too.
func fieldNames(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names[strings.ToLower(name)] = true
		}
	}
	return names
}
