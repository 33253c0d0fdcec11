package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Fingerprint names a key without giving it away. The host makes the same one.
func Fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "k_" + hex.EncodeToString(sum[:])[:12]
}

func isFingerprint(s string) bool {
	digits, ok := strings.CutPrefix(s, "k_")
	return ok && len(digits) == 12 && strings.Trim(digits, "0123456789abcdef") == ""
}

// credentials are the headers that never enter the log.
var credentials = []string{"Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization"}

// key returns the key a request carries in either of the two ways, "" if none.
func key(h http.Header) string {
	if k := h.Get("X-Api-Key"); k != "" {
		return k
	}
	scheme, k, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(k)
}

// accepts reports whether the vendor serves a key.
func (v Vendor) accepts(key string) bool {
	return key != "" && (len(v.Keys) == 0 || slices.Contains(v.Keys, key))
}

func withoutCredentials(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range credentials {
		h.Del(name)
	}
	return h
}
