package provider

import (
	"sync"

	"spillway/host/dialect"
)

// maxSeals is how many seals are remembered: those of the last weeks for one
// person, of the last hours for a busy gateway. An entry takes some 60 bytes.
const maxSeals = 1 << 16

// Seals remembers which vendor has sealed which reasoning. An answer's seals are
// learnt as it passes; in the requests that follow, each goes back to the vendor
// that made it and to no other, since a request with somebody else's is refused.
// Of a seal that is not known (any more) the caller's own vendor is taken to be
// the maker: what was never served by anybody else stays as it is.
//
// It holds hashes and names of vendors, and the oldest make room for the newest.
// A nil Seals remembers nothing. It is safe for concurrent use.
type Seals struct {
	keep func(dialect.Seal, string)

	mu      sync.RWMutex
	maker   map[dialect.Seal]string
	made    map[string]int // seals of a vendor in maker
	ordered []dialect.Seal // in the order in which they were learnt, a ring
	oldest  int
}

// NewSeals returns an empty memory. What must outlive the process is handed to
// keep, which does not block: a seal of a vendor that is not the caller's own.
// keep may be nil.
func NewSeals(keep func(dialect.Seal, string)) *Seals {
	return &Seals{keep: keep, maker: map[dialect.Seal]string{}, made: map[string]int{}}
}

// Learn takes in who has made a seal. What is known already stays.
func (s *Seals) Learn(seal dialect.Seal, vendor string) (fresh bool) {
	if s == nil || seal == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.maker[seal]; known {
		return false
	}
	s.maker[seal] = vendor
	s.made[vendor]++
	if len(s.ordered) < maxSeals {
		s.ordered = append(s.ordered, seal)
		return true
	}
	old := s.ordered[s.oldest]
	if s.made[s.maker[old]]--; s.made[s.maker[old]] == 0 {
		delete(s.made, s.maker[old])
	}
	delete(s.maker, old)
	s.ordered[s.oldest] = seal
	s.oldest = (s.oldest + 1) % maxSeals
	return true
}

// answered learns a seal of an answer. The caller's own vendor is home.
func (s *Seals) answered(seal dialect.Seal, vendor string, home bool) {
	if s.Learn(seal, vendor) && !home && s.keep != nil {
		s.keep(seal, vendor)
	}
}

// madeBy reports whether a vendor has made a seal; where nobody is known to have,
// it says otherwise.
func (s *Seals) madeBy(seal dialect.Seal, vendor string, otherwise bool) bool {
	if s == nil {
		return otherwise
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if maker, known := s.maker[seal]; known {
		return maker == vendor
	}
	return otherwise
}

// others reports whether a seal of another vendor than this one is known.
func (s *Seals) others(vendor string) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.made) > 1 || len(s.made) == 1 && s.made[vendor] == 0
}
