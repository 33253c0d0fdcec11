package dialect

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
)

// idRule is what a vendor takes for the id of a tool call. Ids are made by
// whoever served the turn, so a history holds those of several vendors.
type idRule struct {
	most  int  // bytes
	token bool // letters, digits, "_" and "-" only
	exact bool // letters and digits only, and as many as most
	once  bool // no id names two calls: some vendors count anew in each turn
}

// The rules of the dialects. The vendors' own words for them:
//
//	Messages   "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "`tool_use` ids must be unique"
//	Chat       "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40"
//	Responses  "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64"
//
// No length is documented for Messages; 64 is what its relays to others take.
var (
	messagesIDs  = idRule{most: 64, token: true, once: true}
	chatIDs      = idRule{most: 40}
	responsesIDs = idRule{most: 64}
)

// idRule is the vendor's own rule where it has one, else that of its dialect. At
// home only what would be refused for its letters is renamed: an id that is long
// may be the vendor's own.
func (o Outbound) idRule(r idRule) idRule {
	switch n := o.Quirks.ToolIDLength; {
	case n > 0:
		return idRule{most: n, exact: true}
	case o.Home && (o.Quirks.AnyToolID || !r.token):
		return idRule{most: maxAnyID}
	}
	return r
}

// away is o for what is written anew, where no id has to stay as it is.
func (o Outbound) away() Outbound {
	o.Home = false
	return o
}

// maxAnyID bounds the ids that a vendor takes in any form.
const maxAnyID = 1 << 10

// of is the id under which the vendor is told of a call: the same one if it fits
// the rule, else one that is made from it alone, so that a call and its result
// still pair, in this request and in all that follow. The caller never sees it.
// Where there is room it holds the whole id, readable as base64.
func (r idRule) of(id string) string {
	if id == "" || r.fits([]byte(id)) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	if r.exact {
		digits := new(big.Int).SetBytes(sum[:]).Text(62)
		return digits[len(digits)-min(r.most, len(digits)):]
	}
	const prefix = "id_"
	if r.token {
		if whole := prefix + base64.RawURLEncoding.EncodeToString([]byte(id)); len(whole) <= r.most {
			return whole
		}
	}
	return prefix + base64.RawURLEncoding.EncodeToString(sum[:24])
}

func (r idRule) fits(id []byte) bool {
	if len(id) > r.most || r.exact && len(id) != r.most {
		return false
	}
	if !r.token && !r.exact {
		return true
	}
	for _, c := range id {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case (c == '_' || c == '-') && !r.exact:
		default:
			return false
		}
	}
	return true
}

// callIDs writes the ids of a history's calls, in their order, as a vendor wants
// them.
type callIDs struct {
	idRule
	named map[string]int // calls of an id so far
}

func (o Outbound) callIDs(r idRule) callIDs {
	return callIDs{idRule: o.idRule(r), named: map[string]int{}}
}

// call is the id of a call.
func (c callIDs) call(id string) string {
	if c.once {
		c.named[id]++
	}
	return c.result(id)
}

// result is the id of the last such call.
func (c callIDs) result(id string) string {
	if n := c.named[id]; n > 1 && id != "" {
		id = fmt.Sprintf("%s:%d", id, n)
	}
	return c.of(id)
}

// rename is the JSON string raw, an id, as to makes it.
func rename(raw []byte, to func(string) string) []byte {
	id := unquote(raw)
	if other := to(id); other != id {
		return appendString(nil, other)
	}
	return raw
}
