package profile

import "fmt"

// Entry is one row to start.
type Entry struct {
	ID   string // unique among the entries
	Name string // the module
	Row  Row

	// Config is the row's config with its expressions evaluated. It may hold
	// secrets, also once it is JSON.
	Config *Value
	// Unset are the variables that Config lacks.
	Unset []string
	// Err is why the entry cannot start. The others can all the same.
	Err error
}

// Entries returns what is to be started, in order: groups expanded, disabled
// rows left out. Where rows share an id the last of them counts, and a warning
// says so. A row without id goes by its name, with a number if that is taken.
func (c *Composed) Entries(env Lookup) ([]Entry, []Warning) {
	leaves := leavesOf(c.Rows, env, false)
	ids := namer{last: make(map[string]int), tried: make(map[string]int)}
	for i, l := range leaves {
		if id := l.row.ID(); id != "" {
			ids.last[id] = i
		}
	}
	var entries []Entry
	var warnings []Warning
	for i, l := range leaves {
		id := l.row.ID()
		if id == "" {
			id = ids.free(l.row.Name(), i)
		}
		if last := ids.last[id]; last != i {
			warnings = append(warnings, Warning{
				Text: fmt.Sprintf("duplicate id %q: the row at %s counts instead of this one", clip(id, maxShown), leaves[last].row.Pos()),
				Pos:  l.row.Pos(),
			})
			continue
		}
		if !l.off {
			entries = append(entries, l.entry(id, env))
		}
	}
	return entries, warnings
}

// namer finds ids for rows that have none.
type namer struct {
	last  map[string]int // by id, the last row that has it
	tried map[string]int // by name, the numbers that are taken
}

// free returns name for the row at index, or name-2, name-3 and so on if it is
// taken.
func (n namer) free(name string, index int) string {
	if name == "" {
		name = "entry"
	}
	for {
		n.tried[name]++
		id := name
		if count := n.tried[name]; count > 1 {
			id = fmt.Sprintf("%s-%d", name, count)
		}
		if _, taken := n.last[id]; !taken {
			n.last[id] = index
			return id
		}
	}
}

// leaf is a row that is started itself, or cannot be.
type leaf struct {
	row Row
	off bool  // disabled, or in a group that is
	err error // not a row, or whether it is disabled is not known
}

func leavesOf(rows []Row, env Lookup, off bool) []leaf {
	var leaves []leaf
	for _, row := range rows {
		l := leaf{row: row, off: off}
		if row.v.kind != kindMap {
			l.err = &Error{Pos: row.v.pos, Message: "an entry is " + row.v.kind.String(), Allowed: rowForm}
			leaves = append(leaves, l)
			continue
		}
		disabled, err := row.Disabled(env)
		l.off, l.err = off || disabled, err
		config := row.Config()
		switch {
		case !row.Group() || err != nil:
			leaves = append(leaves, l)
		case config == nil || config.kind == kindNull: // an empty group
		case config.kind != kindList:
			l.err = &Error{Pos: config.pos, Message: "the config of a group is " + config.kind.String(), Allowed: "a list of rows"}
			leaves = append(leaves, l)
		default:
			leaves = append(leaves, leavesOf(row.Children(), env, l.off)...)
		}
	}
	return leaves
}

func (l leaf) entry(id string, env Lookup) Entry {
	e := Entry{ID: id, Name: l.row.Name(), Row: l.row, Err: l.err}
	if e.Err != nil {
		return e
	}
	if name := l.row.v.get("name"); name == nil || name.kind != kindText || name.text == "" {
		at, ok := l.row.Origin("name")
		if !ok {
			at = l.row.Pos()
		}
		message := "no module: there is no name"
		if name != nil {
			message = "no module: name is " + clip(name.code(), maxShown)
		}
		e.Err = &Error{Pos: at, Message: message, Allowed: "the name of a built-in module or of a file in plugins/"}
		return e
	}
	e.Config, e.Unset, e.Err = l.row.Resolve(env)
	return e
}
