package standin

import (
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
)

// match reports whether a point meets a filter; nil is met by all.
func (c *collection) match(pt *point, f *qdrant.Filter) bool {
	return matchFilter(f, func(cond *qdrant.Condition) bool { return c.meets(pt, pt.payload, cond) })
}

func matchFilter(f *qdrant.Filter, meets func(*qdrant.Condition) bool) bool {
	if f == nil {
		return true
	}
	for _, cond := range f.GetMust() {
		if !meets(cond) {
			return false
		}
	}
	if slices.ContainsFunc(f.GetMustNot(), meets) {
		return false
	}
	return len(f.GetShould()) == 0 || slices.ContainsFunc(f.GetShould(), meets)
}

func (c *collection) meets(pt *point, payload map[string]*qdrant.Value, cond *qdrant.Condition) bool {
	switch o := cond.GetConditionOneOf().(type) {
	case *qdrant.Condition_Field:
		return c.field(payload, o.Field)
	case *qdrant.Condition_IsEmpty:
		return len(values(payload, o.IsEmpty.GetKey())) == 0
	case *qdrant.Condition_HasId:
		return slices.ContainsFunc(o.HasId.GetHasId(), func(id *qdrant.PointId) bool {
			text, err := idText(id)
			return err == nil && text == pt.id.GetUuid()
		})
	case *qdrant.Condition_HasVector:
		return pt.vectors[o.HasVector.GetHasVector()] != nil
	case *qdrant.Condition_Filter:
		return matchFilter(o.Filter, func(cond *qdrant.Condition) bool { return c.meets(pt, payload, cond) })
	case *qdrant.Condition_Nested: // one element meets all
		list := payload[o.Nested.GetKey()].GetListValue().GetValues()
		return slices.ContainsFunc(list, func(v *qdrant.Value) bool {
			fields := v.GetStructValue().GetFields()
			return matchFilter(o.Nested.GetFilter(), func(cond *qdrant.Condition) bool { return c.meets(pt, fields, cond) })
		})
	}
	return false
}

// values are what stands under a key, lists taken apart. "a[].b" is b of each element of a.
func values(payload map[string]*qdrant.Value, key string) []*qdrant.Value {
	head, rest, nested := strings.Cut(key, "[].")
	v := payload[head]
	if nested {
		var out []*qdrant.Value
		for _, e := range v.GetListValue().GetValues() {
			out = append(out, values(e.GetStructValue().GetFields(), rest)...)
		}
		return out
	}
	switch v.GetKind().(type) {
	case nil, *qdrant.Value_NullValue:
		return nil
	case *qdrant.Value_ListValue:
		return v.GetListValue().GetValues()
	}
	return []*qdrant.Value{v}
}

func (c *collection) field(payload map[string]*qdrant.Value, f *qdrant.FieldCondition) bool {
	vs := values(payload, f.GetKey())
	switch {
	case f.GetMatch() != nil:
		return slices.ContainsFunc(vs, func(v *qdrant.Value) bool { return matchValue(v, f.GetMatch()) })
	case f.GetRange() != nil:
		return slices.ContainsFunc(vs, func(v *qdrant.Value) bool { return inRange(v, f.GetRange()) })
	case f.GetDatetimeRange() != nil:
		return slices.ContainsFunc(vs, func(v *qdrant.Value) bool {
			t, ok := datetime(v)
			return ok && inTimes(t, f.GetDatetimeRange())
		})
	}
	return false
}

func matchValue(v *qdrant.Value, m *qdrant.Match) bool {
	text, isText := v.GetKind().(*qdrant.Value_StringValue)
	num, isNum := v.GetKind().(*qdrant.Value_IntegerValue)
	flag, isFlag := v.GetKind().(*qdrant.Value_BoolValue)
	switch o := m.GetMatchValue().(type) {
	case *qdrant.Match_Keyword:
		return isText && text.StringValue == o.Keyword
	case *qdrant.Match_Keywords:
		return isText && slices.Contains(o.Keywords.GetStrings(), text.StringValue)
	case *qdrant.Match_Integer:
		return isNum && num.IntegerValue == o.Integer
	case *qdrant.Match_Integers:
		return isNum && slices.Contains(o.Integers.GetIntegers(), num.IntegerValue)
	case *qdrant.Match_Boolean:
		return isFlag && flag.BoolValue == o.Boolean
	}
	return false
}

// number is a value as a range sees it.
func number(v *qdrant.Value) (float64, bool) {
	switch o := v.GetKind().(type) {
	case *qdrant.Value_DoubleValue:
		return o.DoubleValue, true
	case *qdrant.Value_IntegerValue:
		return float64(o.IntegerValue), true
	}
	return 0, false
}

func inRange(v *qdrant.Value, r *qdrant.Range) bool {
	f, ok := number(v)
	return ok && (r.Gt == nil || f > *r.Gt) && (r.Gte == nil || f >= *r.Gte) && (r.Lt == nil || f < *r.Lt) && (r.Lte == nil || f <= *r.Lte)
}

// datetime is a time as the index sees it: whole microseconds, and only in these forms.
func datetime(v *qdrant.Value) (time.Time, bool) {
	s, ok := v.GetKind().(*qdrant.Value_StringValue)
	if !ok {
		return time.Time{}, false
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(form, s.StringValue); err == nil {
			return t.UTC().Truncate(time.Microsecond), true
		}
	}
	return time.Time{}, false
}

func inTimes(t time.Time, r *qdrant.DatetimeRange) bool {
	return (r.Gt == nil || t.After(r.Gt.AsTime())) && (r.Gte == nil || !t.Before(r.Gte.AsTime())) &&
		(r.Lt == nil || t.Before(r.Lt.AsTime())) && (r.Lte == nil || !t.After(r.Lte.AsTime()))
}
