package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"spillway/host/profile"
)

// place is where something was written.
type place struct {
	Layer  string `json:"layer"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// rowOrigins is a row and where its parts were written.
type rowOrigins struct {
	Row   profile.Row      `json:"row"`
	Place place            `json:"place"`
	Keys  map[string]place `json:"keys"`
	Rows  []rowOrigins     `json:"rows,omitempty"`
}

func originsOf(rows []profile.Row) []rowOrigins {
	all := make([]rowOrigins, len(rows))
	for i, r := range rows {
		all[i] = rowOrigins{Row: r, Place: place(r.Pos()), Keys: map[string]place{}, Rows: originsOf(r.Children())}
		for _, key := range r.Keys() {
			at, _ := r.Origin(key)
			all[i].Keys[key] = place(at)
		}
	}
	return all
}

// originTable writes a line for each row and each of its keys.
func originTable(w io.Writer, rows []profile.Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROW\tKEY\tLAYER\tPLACE")
	originLines(t, "", rows)
	return t.Flush()
}

func originLines(w io.Writer, indent string, rows []profile.Row) {
	for _, r := range rows {
		name := r.ID()
		if name == "" {
			name = r.Name()
		}
		fmt.Fprintf(w, "%s%s\t\t%s\t%s\n", indent, name, r.Pos().Layer, r.Pos())
		for _, key := range r.Keys() {
			at, _ := r.Origin(key)
			fmt.Fprintf(w, "\t%s\t%s\t%s\n", key, at.Layer, at)
		}
		originLines(w, indent+"  ", r.Children())
	}
}
