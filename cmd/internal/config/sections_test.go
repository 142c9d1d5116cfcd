package config_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A tenant without a section has all that a tenant may have, as the settings of all say; so has one whose section is empty.
func TestATenantWithoutASectionHasTheSettingsOfAll(t *testing.T) {
	c, err := load(t, `
llm: { model: m, calls_per_day: 3 }
memory: { max_facts: 77 }
review: { mode: all }
retention: { max_items: 9 }
recall: { limit: 8 }
recent: { limit: 11 }
redaction: { mode: mask, patterns: { badge: 'B-\d{4}' } }
policy: { preset: experts }
tenants: { empty: {} }
`)
	if err != nil {
		t.Fatal(err)
	}
	none := c.For("none")
	if diff := cmp.Diff(c.For("empty"), none); diff != "" {
		t.Errorf("without a section (-empty section):\n%s", diff)
	}
	for v, i := reflect.ValueOf(none), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s of a tenant without a section is not that of the settings; or this test gives it none", v.Type().Field(i).Name)
		}
	}
}
