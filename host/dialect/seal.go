package dialect

import (
	"crypto/sha256"
	"encoding/binary"
)

// Seal names a piece of reasoning that only the vendor which made it can prove
// or read: a signature, redacted thinking, encrypted content. It is a hash, so
// that it can be kept where prompts must not be. The zero Seal is none.
type Seal uint64

// sealOf is the seal of a JSON string, 0 of one that is empty or no string.
func sealOf(raw []byte) Seal {
	if !filled(raw) {
		return 0
	}
	sum := sha256.Sum256(plain(raw))
	return Seal(binary.BigEndian.Uint64(sum[:]))
}

// SealOf is the seal of a signature.
func SealOf(signature string) Seal { return sealOf(appendString(nil, signature)) }

// Seals hands the seals of an answer that was not streamed to f.
func Seals(body []byte, f func(Seal)) {
	for w := walk(body); w.member(); {
		if key := string(w.key); key != "content" && key != "output" {
			continue
		}
		for blocks := walk(w.val); blocks.element(); {
			if s := sealIn(blocks.val); s != 0 {
				f(s)
			}
		}
	}
}

// sealIn is the seal of a block of Messages or an item of Responses, 0 if it
// has none.
func sealIn(block []byte) Seal {
	var s Seal
	for w := walk(block); w.member(); {
		switch string(w.key) {
		case "signature", "data", "encrypted_content":
			s = max(s, sealOf(w.val)) // none has two
		}
	}
	return s
}

// owns reports whether the vendor itself has sealed a piece of reasoning.
func (o Outbound) owns(s Seal) bool { return s != 0 && (o.Owns == nil || o.Owns(s)) }
