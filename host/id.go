package host

import (
	"math/rand/v2"
	"time"
)

const (
	idPrefix = "req_"
	// idDigits are in the order of their bytes, so that ids of later milliseconds
	// are greater: records that are written together stand together in the store.
	idDigits = "234567abcdefghijklmnopqrstuvwxyz"
	idTime   = 9  // digits of five bits: enough for some thousand years
	idRandom = 11 // so that nodes that share nothing do not meet
)

// NewID returns the id of a new request.
func NewID() string {
	var b [len(idPrefix) + idTime + idRandom]byte
	copy(b[:], idPrefix)
	put := func(from, n int, v uint64) {
		for i := from + n - 1; i >= from; i-- {
			b[i] = idDigits[v%uint64(len(idDigits))]
			v /= uint64(len(idDigits))
		}
	}
	put(len(idPrefix), idTime, uint64(time.Now().UnixMilli()))
	put(len(idPrefix)+idTime, idRandom, rand.Uint64())
	return string(b[:])
}
