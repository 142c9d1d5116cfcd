package recall

import (
	"fmt"
	"time"

	"evoke/store"
)

// inZone is a moment in the zone that a request names; its calendar is that of the request's relative words. Moments
// outside the years 1 to 9999 are refused.
func inZone(t time.Time, zone string) (time.Time, error) {
	if !store.Writable(t) {
		return t, store.Invalid("as_of", "in the years 1 to 9999", fmt.Sprint(t.Year()))
	}
	if zone == "" {
		return t, nil
	}
	if o, err := time.Parse("-07:00", zone); err == nil {
		_, seconds := o.Zone()
		return t.In(time.FixedZone(zone, seconds)), nil
	}
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return t, store.Invalid("zone", `an offset like "+09:00" or the name of a time zone like "Asia/Tokyo"`, fmt.Sprintf("%.40q", zone))
	}
	return t.In(loc), nil
}
