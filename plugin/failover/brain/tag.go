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
	short   bool   // its limit on the content was cut by the request's own time

	// The permit that the attempt carries, if any, and for which of targets().
	permit uint64
	on     [targetKinds]bool
	route  sdk.Route
	key    string
}

// What an attempt may test.
const (
	onRoute = iota
	onVendor
	onKey
	onLimit
	targetKinds
)

// targets are the circuits that an attempt on a route with a key passes; those
// of a key are zero without one.
func targets(r sdk.Route, key string) [targetKinds]Target {
	list := [targetKinds]Target{onRoute: routeTarget(r), onVendor: vendorTarget(r.Provider)}
	if key != keyless {
		list[onKey], list[onLimit] = keyTarget(r.Provider, key), limitTarget(r, key)
	}
	return list
}

func (l *lease) targets() [targetKinds]Target { return targets(l.route, l.key) }

func (l *lease) id() permitID { return permitID{origin: l.origin, n: l.permit} }

// maxTag bounds a tag that comes back; longer ones are not ours.
const maxTag = 4 << 10

const (
	flagCounted = 1 << iota
	flagShort
	flagTests // the first of targetKinds
)

// tag encodes l: origin.offset.epoch.flags in base 36 and, with a permit,
// .permit.key.provider/model.
func (l *lease) tag() string {
	flags := uint64(0)
	if l.counted {
		flags |= flagCounted
	}
	if l.short {
		flags |= flagShort
	}
	for i, on := range l.on {
		if on {
			flags |= flagTests << i
		}
	}
	buf := make([]byte, 0, 64)
	buf = strconv.AppendInt(buf, l.origin, 36)
	buf = strconv.AppendInt(append(buf, '.'), l.offset, 36)
	buf = strconv.AppendUint(append(buf, '.'), l.epoch, 36)
	buf = strconv.AppendUint(append(buf, '.'), flags, 36)
	if l.permit != 0 {
		buf = strconv.AppendUint(append(buf, '.'), l.permit, 36)
		buf = append(append(buf, '.'), l.key...)
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
	l.counted, l.short = flags&flagCounted != 0, flags&flagShort != 0
	for i := range l.on {
		l.on[i] = flags&(flagTests<<i) != 0
	}
	if flags < flagTests {
		return l, ok && s == ""
	}
	l.permit, l.key = unsigned(), next()
	provider, model, found := strings.Cut(s, "/")
	l.route = sdk.Route{Provider: provider, Model: model}
	return l, ok && found && l.permit != 0 && flags < flagTests<<targetKinds
}
