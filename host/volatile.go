package host

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// node is what volatileChange needs to know of a schema.
type node struct {
	Volatile   bool            `json:"x-volatile"`
	Properties map[string]node `json:"properties"`
}

// volatileChange compares two configurations. It returns the paths that differ,
// and whether the schema marks every one of them as volatile: only then can a
// running plugin take the change.
func volatileChange(schema, before, after []byte) (paths []string, ok bool) {
	var n node
	var a, b any
	if json.Unmarshal(schema, &n) != nil || json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return nil, false
	}
	ok = true
	compare(n, "", a, b, func(path string, volatile bool) {
		paths = append(paths, path)
		ok = ok && volatile
	})
	return paths, ok && len(paths) > 0
}

// compare calls differs for each difference. Inside a volatile field only the
// field itself is named.
func compare(n node, path string, a, b any, differs func(path string, volatile bool)) {
	if reflect.DeepEqual(a, b) {
		return
	}
	x, aok := a.(map[string]any)
	y, bok := b.(map[string]any)
	if n.Volatile || !aok || !bok {
		differs(path, n.Volatile)
		return
	}
	keys := map[string]bool{}
	for k := range x {
		keys[k] = true
	}
	for k := range y {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		sub := k
		if path != "" {
			sub = path + "." + k
		}
		compare(n.Properties[k], sub, x[k], y[k], differs)
	}
}
