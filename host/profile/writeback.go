package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Editable is one entry's config as it can be edited: in the profile's patch.
type Editable struct {
	Row       Row
	Config    *Value // with expressions as they stand; an empty mapping for none
	Inherited *Value // what Config would be had the patch no override of it
	Revision  string // of all layers
}

// Edit is a change of one entry's config.
type Edit struct {
	ID string
	// Revision is that of the Editable that the change was made of; "" takes
	// any.
	Revision string
	// Next makes the new config. It is called under the lock, with what the
	// files hold then; its error ends the save.
	Next func(*Editable) (*Value, error)
	// Accept takes the written profile in. Its error restores the old text. Nil
	// accepts.
	Accept func(context.Context) error
}

// Saved is what a save has done.
type Saved struct {
	Pos      Pos    // of the config in the patch; without a line if it has none there any more
	Revision string // of the layers as they are now
	Written  bool   // false: the file said so already
}

// ErrChanged refuses a save whose revision is not that of the files.
var ErrChanged = errors.New("changed since it was read")

// ErrNoEntry is for an id that no row has.
var ErrNoEntry = errors.New("no row has this id")

// OverriddenError refuses a save that would have no effect.
type OverriddenError struct {
	ID  string
	Pos Pos // of the config that counts
}

// Error begins with the original's words.
func (e *OverriddenError) Error() string {
	return fmt.Sprintf("Configuration for %q is overridden by a home patch or command-line overlay (%s, %s)", clip(e.ID, maxShown), e.Pos.Layer, e.Pos)
}

// edition is a profile's layers to be edited.
type edition struct {
	*builder
	own Layer // the profile's patch, without data if there is no file
	has bool  // there is one
}

// openEdition reads the layers. Every one must be usable.
func openEdition(dir string, o Options) (*edition, error) {
	b, err := read(dir, o)
	if err != nil {
		return nil, err
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	e := &edition{builder: b, own: Layer{Name: "profile patch", File: filepath.Join(dir, PatchFile)}}
	if layers := b.profile.Layers; b.slot < len(layers) && layers[b.slot].Name == e.own.Name {
		e.own, e.has = layers[b.slot], true
	}
	return e, nil
}

// compose composes the layers with other rows in the profile's patch; later
// are the layers above it.
func (e *edition) compose(rows []*Value, later bool) (*Composed, error) {
	lists := append(slices.Clone(e.lists[:e.slot]), &List{pos: Pos{File: e.own.File}, rows: rows})
	if later {
		above := e.slot
		if e.has {
			above++
		}
		lists = append(lists, e.lists[above:]...)
	}
	return Compose(&List{}, lists...)
}

// rows are those of the profile's patch.
func (e *edition) rows() []*Value {
	if e.has {
		return e.lists[e.slot].rows
	}
	return nil
}

// editable finds an entry.
func (e *edition) editable(id string) (*Editable, target, error) {
	whole, err := e.compose(e.rows(), true)
	if err != nil {
		return nil, target{}, err
	}
	row, ok := running(whole.Rows, id)
	if !ok {
		return nil, target{}, fmt.Errorf("entry %q: %w", clip(id, maxShown), ErrNoEntry)
	}
	t := target{id: row.v.get("id"), name: row.v.get("name")}
	rest, _ := t.without(e.rows())
	below, err := e.compose(rest, false)
	if err != nil {
		return nil, target{}, err
	}
	x := &Editable{Row: row, Config: orEmpty(row.Config()), Inherited: orEmpty(nil), Revision: revision(e.profile.Layers)}
	if r, ok := running(below.Rows, id); ok {
		x.Inherited = orEmpty(r.Config())
	}
	return x, t, nil
}

func orEmpty(config *Value) *Value {
	if config == nil || config.kind == kindNull {
		return &Value{kind: kindMap}
	}
	return config
}

// running is the row that runs under an id: the last that has it and is no group.
func running(rows []Row, id string) (found Row, ok bool) {
	for _, r := range rows {
		switch {
		case r.Group():
			if in, inside := running(r.Children(), id); inside {
				found, ok = in, true
			}
		case r.ID() == id:
			found, ok = r, true
		}
	}
	return found, ok
}

// revision names the state of all layers.
func revision(layers []Layer) string {
	h := sha256.New()
	for _, l := range layers {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00", l.Name, l.File, len(l.Data))
		h.Write(l.Data)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// ReadEditable returns an entry of the profile in dir as it can be edited.
func ReadEditable(dir string, o Options, id string) (*Editable, error) {
	e, err := openEdition(dir, o)
	if err != nil {
		return nil, err
	}
	x, _, err := e.editable(id)
	return x, err
}

// Save changes the config of an entry in the profile's patch, and nothing else
// in it: comments, order and spelling of the rest stay. Of an entry whose next
// config is what it inherits the overrides lose theirs; else the last override
// gets it, or a row at the end. Rows of an insert are never edited.
//
// Nothing is written if another process has changed the files since Revision
// (ErrChanged), or if another layer would decide all the same
// (*OverriddenError). One save goes on at a time; ctx bounds the wait.
func Save(ctx context.Context, dir string, o Options, s Edit) (*Saved, error) {
	unlock, err := lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	e, err := openEdition(dir, o)
	if err != nil {
		return nil, err
	}
	x, t, err := e.editable(s.ID)
	if err != nil {
		return nil, err
	}
	if s.Revision != "" && s.Revision != x.Revision {
		return nil, fmt.Errorf("entry %q: %w", clip(s.ID, maxShown), ErrChanged)
	}
	next, err := s.Next(x)
	if err != nil {
		return nil, err
	}
	text, rows, err := e.next(x, t, next)
	if err != nil {
		return nil, err
	}
	saved := &Saved{Pos: Pos{Layer: e.own.Name, File: e.own.File}, Revision: x.Revision}
	for _, row := range rows {
		if i, ok := row.at["config"]; ok && t.overrides(row) {
			saved.Pos = row.fields[i].pos
		}
	}
	if text == string(e.own.Data) {
		return saved, nil
	}
	if err := e.write(ctx, text, s.Accept); err != nil {
		return nil, err
	}
	saved.Written, saved.Revision = true, revision(e.layers(text))
	return saved, nil
}

// layers are those of the profile with another text of its patch.
func (e *edition) layers(text string) []Layer {
	own := e.own
	own.Data = []byte(text)
	if e.has {
		layers := slices.Clone(e.profile.Layers)
		layers[e.slot] = own
		return layers
	}
	return slices.Insert(slices.Clone(e.profile.Layers), e.slot, own)
}

// next is the text of the profile's patch with the next config, which is then
// the one that counts, and its rows.
func (e *edition) next(x *Editable, t target, next *Value) (text string, rows []*Value, err error) {
	now := next
	if sameConfig(next, x.Inherited) {
		now = nil
	}
	if now != nil || e.has {
		if text, err = t.rewrite(e.own, now); err != nil {
			return "", nil, err
		}
		l := e.own
		l.Data = []byte(text)
		list, err := ParsePatch(l)
		if err != nil {
			return "", nil, err
		}
		rows = list.rows
	}
	return text, rows, e.effective(x.Row.ID(), rows, next)
}

// effective refuses rows of the profile's patch with which the entry would not
// have the config that is wanted.
func (e *edition) effective(id string, rows []*Value, want *Value) error {
	c, err := e.compose(rows, true)
	if err != nil {
		return err
	}
	row, ok := running(c.Rows, id)
	if ok && sameConfig(row.Config(), want) {
		return nil
	}
	at, known := Pos{}, false
	if ok {
		if at, known = row.Origin("config"); !known {
			at = row.Pos()
		}
	}
	return &OverriddenError{ID: id, Pos: at}
}

// write puts the text in the place of the profile's patch. If it is not
// accepted the old text is back.
func (e *edition) write(ctx context.Context, text string, accept func(context.Context) error) error {
	file, err := resolveLink(e.own.File)
	if err != nil {
		return err
	}
	// An editor knows nothing of the lock.
	if now, err := os.ReadFile(file); err == nil && string(now) != string(e.own.Data) || (err == nil) != e.has {
		return fmt.Errorf("%s: %w", e.own.File, ErrChanged)
	}
	if err := ReplaceFile(file, []byte(text)); err != nil {
		return err
	}
	if accept == nil {
		return nil
	}
	refused := accept(ctx)
	if refused == nil {
		return nil
	}
	switch now, _ := os.ReadFile(file); {
	case string(now) != text: // somebody else has the last word
		return refused
	case e.has:
		err = ReplaceFile(file, e.own.Data)
	default:
		err = os.Remove(file)
	}
	if err != nil {
		return errors.Join(refused, fmt.Errorf("the old text is not restored: %w", err))
	}
	return refused
}
