package sdk

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Measurement is how well a route did the tasks of a file, as "spillway drill --live
// --eval" found. It is kept in a plugin's [State], as JSON under its Key.
type Measurement struct {
	Eval        string    `json:"eval"`   // the file, as the plugin's settings name it
	SHA256      string    `json:"sha256"` // of its content, hex
	Route       Route     `json:"route"`
	At          time.Time `json:"at"`
	Tasks       int       `json:"tasks"`        // that were given
	TaskSuccess float64   `json:"task_success"` // the share of them that was done, from 0 to 1
	Schemas     int       `json:"schemas"`      // tasks that wanted an answer by a JSON schema
	SchemaValid float64   `json:"schema_valid"` // the share of those that got one
}

// MeasurementPrefix begins the keys of all measurements.
const MeasurementPrefix = "measured/"

// Key is where a measurement is kept: one for each file and route, the latest.
func (m Measurement) Key() string {
	sum := sha256.Sum256([]byte(m.Eval + "\n" + m.Route.String()))
	return MeasurementPrefix + hex.EncodeToString(sum[:16])
}
