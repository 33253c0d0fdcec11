package failure

import (
	"strings"
	"sync"

	"spillway/sdk"
)

// verdict is what a table says of one vendor code.
type verdict struct {
	code   sdk.Code
	scope  sdk.Scope // "" for the code's own, or the vendor's where that is a rate limit
	weight weight
	money  bool // of a QUOTA: it ends when somebody pays
}

// weight is how much a vendor code decides.
type weight uint8

const (
	specific weight = iota // decides by itself
	generic                // decides over the status; wording may overrule it
	vague                  // decides only where the status says nothing
)

// table is what one dialect's or vendor's codes mean. Keys are written as the
// vendor writes them; fold makes the spellings of one code equal.
type table struct {
	name    string
	vendors []string  // names of vendors, or parts of them between dashes; nil for a dialect
	rate    sdk.Scope // what a rate limit speaks for if the code does not say
	offset  int       // hours east of UTC of times given without a zone
	codes   map[string]verdict
}

// rateScope is what a limit of this vendor speaks for, "" if nothing is known;
// t may be nil.
func (t *table) rateScope() sdk.Scope {
	if t == nil {
		return ""
	}
	return t.rate
}

// tables is every table with folded keys.
type tables struct{ dialects, providers []*table }

var index = sync.OnceValue(func() (ix tables) {
	folded := func(t table) *table {
		codes := make(map[string]verdict, len(t.codes))
		for k, v := range t.codes {
			codes[fold(k)] = v
		}
		t.codes = codes
		return &t
	}
	for _, t := range dialectTables() {
		ix.dialects = append(ix.dialects, folded(t))
	}
	for _, t := range providerTables() {
		ix.providers = append(ix.providers, folded(t))
	}
	return ix
})

// vendorTable returns the table for a provider's name, nil if there is none. A
// name matches whole or by whole words of it: "zhipu-coding" is "zhipu".
func vendorTable(vendor string) *table {
	vendor = "-" + strings.NewReplacer("_", "-", ".", "-", "/", "-", " ", "-").Replace(strings.ToLower(vendor)) + "-"
	for _, t := range index().providers {
		for _, name := range t.vendors {
			if strings.Contains(vendor, "-"+name+"-") {
				return t
			}
		}
	}
	return nil
}

// fold brings the spellings of one code together: "rate_limit_error",
// "RateLimitError" and "RateLimitException" are all "ratelimit". Dots stay, and
// colons become dots: they separate a code from its refinement.
func fold(s string) string {
	if i := strings.LastIndexByte(s, '#'); i >= 0 {
		s = s[i+1:]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r == ':':
			return '.'
		}
		return -1
	}, s)
	for _, suffix := range []string{"exception", "error"} {
		if cut := strings.TrimSuffix(s, suffix); cut != "" {
			s = cut
		}
	}
	return s
}

// match is the outcome of a lookup.
type match struct {
	verdict
	ok    bool
	table string
	name  name
}

func (m match) decision() decision {
	return decision{
		verdict: m.verdict,
		rule:    m.table + "." + m.name.field + ":" + m.name.value,
		generic: m.weight != specific,
	}
}

// lookup returns the weightiest meaning of names, the first of equals.
func lookup(vendor *table, dialect string, names []name) match {
	var best match
	for _, n := range names {
		m := lookupName(vendor, dialect, n)
		if m.ok && (!best.ok || m.weight < best.weight) {
			best = m
		}
	}
	return best
}

func lookupName(vendor *table, dialect string, n name) match {
	key := fold(n.value)
	if key == "" {
		return match{}
	}
	if n.field == quotaIDField {
		return match{verdict: quotaIDVerdict(key), ok: true, table: "gemini", name: n}
	}
	ix := index()
	order := make([]*table, 0, 2+len(ix.dialects))
	if vendor != nil {
		order = append(order, vendor)
	}
	if n.owner != "" {
		order = append(order, vendorTable(n.owner))
	}
	for _, t := range ix.dialects {
		if t.name == dialect {
			order = append(order, t)
		}
	}
	for _, t := range ix.dialects {
		if t.name != dialect {
			order = append(order, t)
		}
	}
	for _, k := range keysOf(key) {
		for _, t := range order {
			if v, ok := t.codes[k]; ok {
				return match{verdict: v, ok: true, table: t.name, name: n}
			}
		}
	}
	if v, ok := familyOf(key); ok {
		return match{verdict: v, ok: true, table: "family", name: n}
	}
	return match{}
}

// keysOf lists what to look up for a folded code: the whole, then without its
// refinements, then the last part alone (a class name with its package).
func keysOf(key string) []string {
	keys := []string{key}
	for i := strings.LastIndexByte(key, '.'); i > 0; i = strings.LastIndexByte(key[:i], '.') {
		keys = append(keys, key[:i])
		if len(keys) == 4 {
			break
		}
	}
	if i := strings.LastIndexByte(key, '.'); i >= 0 && i+1 < len(key) {
		keys = append(keys, key[i+1:])
	}
	return keys
}
