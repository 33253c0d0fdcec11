package brain

import (
	"strconv"
	"strings"

	"spillway/sdk"
)

// lease is what an attempt takes along, and what its end is judged by. It
// outlives the process as a tag.
type lease struct {
	origin  int64  // of the brain that decided the attempt
	offset  int64  // Instant.offset then, less origin
	epoch   uint64 // the brain's counter then
	counted bool   // an earlier attempt of the request has counted on this route

	// The permit that the attempt carries, if any, for the circuit of route, of
	// its vendor, or both.
	permit   uint64
	onRoute  bool
	onVendor bool
	route    sdk.Route
}

func (l *lease) id() permitID { return permitID{origin: l.origin, n: l.permit} }

// maxTag bounds a tag that comes back; longer ones are not ours.
const maxTag = 4 << 10

const (
	flagCounted = 1 << iota
	flagRoute
	flagVendor
)

// tag encodes l: origin.offset.epoch.flags in base 36 and, with a permit,
// .permit.provider/model.
func (l *lease) tag() string {
	flags := uint64(0)
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{l.counted, flagCounted}, {l.onRoute, flagRoute}, {l.onVendor, flagVendor}} {
		if f.on {
			flags |= f.bit
		}
	}
	buf := make([]byte, 0, 64)
	buf = strconv.AppendInt(buf, l.origin, 36)
	buf = strconv.AppendInt(append(buf, '.'), l.offset, 36)
	buf = strconv.AppendUint(append(buf, '.'), l.epoch, 36)
	buf = strconv.AppendUint(append(buf, '.'), flags, 36)
	if l.permit != 0 {
		buf = strconv.AppendUint(append(buf, '.'), l.permit, 36)
		buf = append(append(buf, '.'), l.route.Provider...)
		buf = append(append(buf, '/'), l.route.Model...)
	}
	return string(buf)
}

// parseTag reads what tag gave.
func parseTag(s string) (lease, bool) {
	if len(s) > maxTag {
		return lease{}, false
	}
	ok := true
	next := func() (field string) {
		field, s, _ = strings.Cut(s, ".")
		return field
	}
	signed := func() int64 {
		n, err := strconv.ParseInt(next(), 36, 64)
		ok = ok && err == nil
		return n
	}
	unsigned := func() uint64 {
		n, err := strconv.ParseUint(next(), 36, 64)
		ok = ok && err == nil
		return n
	}
	l := lease{origin: signed(), offset: signed(), epoch: unsigned()}
	flags := unsigned()
	l.counted, l.onRoute, l.onVendor = flags&flagCounted != 0, flags&flagRoute != 0, flags&flagVendor != 0
	if l.onRoute || l.onVendor {
		l.permit = unsigned()
		provider, model, found := strings.Cut(s, "/")
		ok = ok && found && l.permit != 0
		l.route = sdk.Route{Provider: provider, Model: model}
	} else {
		ok = ok && s == ""
	}
	return l, ok
}
