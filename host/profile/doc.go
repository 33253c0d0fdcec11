// Package profile reads profile files and composes them into the list of
// entries that the host starts.
//
// A profile is a folder; [Load] knows its layout. Its files are layers. One
// layer, the base, is a list of entry rows. All others are lists of patches,
// applied in the order of the layers, the later one winning for each row and
// key.
//
// The order of things is: bytes → [ParseEntries] and [ParsePatch] → [Compose]
// → [Composed.Entries], which evaluates environment expressions → [Validate]
// of each entry's config against its module's schema. Each step makes new
// values and changes none that it was given, so all of them may be shared.
//
// Who looks for faults reads with [Survey], which goes on past a broken layer,
// and asks [Marked] where a schema says what a text means. [EditorSchema] tells
// editors what may stand in the files.
//
// # Dialect
//
// Files are YAML 1.2 with the scalars of its JSON schema as js-yaml reads them,
// because the patch format was born there: yes, no, on, off and timestamps are
// text, << is an ordinary key, numbers are IEEE doubles, and 1 and "1" are
// different ids. Anchors make one object of several places, so patching one
// shows in all. Keys are text or scalars that become text. JSON is YAML.
//
// The library below is go.yaml.in/yaml v4, for its syntax, places and comments
// only. Its v3 reads flows as YAML 1.1, where {port: process.env.PORT ?? 80} is
// an error, drops rows after a wrong dedent without a word, and places few of
// its errors. What the original accepts and we do not: lists, mappings
// and expressions as keys, a flow that begins right behind its colon ({a:[1]}),
// anchors with other letters than a to z, and outside of JSON surrogate pairs
// written as two \u escapes.
//
// An expression is a scalar tagged !!js or !env. It is carried through
// composition as it stands and evaluated only when an entry starts, and only if
// it is no more than an environment variable with an optional default.
//
// # Settings
//
// [OpenForm] leaves the volatile fields of a module's schema, [Form.Apply] makes
// a new config of changes to them, and [Save] writes it into the profile's
// patch, where nothing else changes by a byte: it edits the text at the places of
// the values that differ. That is checked by reading the new text before it is
// written; a file whose form defeats the editor is refused. [Form.Shown] is
// what people may see: secrets are never among it.
//
// # Errors
//
// A file that cannot be used is refused with an [*Error], which names file,
// line and column and says what is allowed. A patch that finds no row to work
// on is skipped with a [Warning]. An entry that cannot start carries its own
// error and holds up no other.
//
// Every bound is a constant in limits.go.
package profile
