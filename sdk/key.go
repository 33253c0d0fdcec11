package sdk

// PickKey chooses the key of a request among those of a provider, which must not
// be none: a conversation keeps its own, for its prompt cache is there; without
// one the keys are used in turn.
func PickKey(keys []string, conversation string, turn uint64) string {
	if len(keys) == 1 {
		return keys[0]
	}
	best, least, talk := 0, uint64(0), ConversationHash(conversation)
	for i, key := range keys {
		if rank := KeyRank(i, len(keys), key, talk, turn); i == 0 || rank < least {
			best, least = i, rank
		}
	}
	return keys[best]
}

// KeyRank orders the n keys of a provider for one request: of those that may be
// used it uses the one that ranks lowest. conversation is its [ConversationHash]; a
// conversation whose key is gone changes to another one, and no other conversation
// does. i is the key's place, turn that of the request among those without a
// conversation.
func KeyRank(i, n int, key string, conversation, turn uint64) uint64 {
	if conversation != 0 {
		return mix(fnv(key) ^ conversation)
	}
	return (uint64(i) + uint64(n) - turn%uint64(n)) % uint64(n)
}

// ConversationHash is the number of a conversation, 0 for none.
func ConversationHash(conversation string) uint64 {
	if conversation == "" {
		return 0
	}
	return fnv(conversation)
}

// fnv is FNV-1a of s and an end mark.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211
}

// mix spreads the difference of two numbers over all their bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
