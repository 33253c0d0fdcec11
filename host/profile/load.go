package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Profile is a profile folder, read and composed.
type Profile struct {
	*Composed
	Dir    string
	Layers []Layer // those that exist, in order
}

// Options is what a profile is made of besides its folder.
type Options struct {
	// Home is the folder whose cordis.patch.yml is the home layer; "" for no
	// home layer.
	Home string
	// Bundle is a list of patches that come with the host, usually one insert.
	// The rows of the base come after it. Nil means none.
	Bundle []byte
	// Overlays are further patch files. Unlike the others they must exist.
	Overlays []string
}

// Load reads the profile in dir. Its layers are, in order: the bundle, the
// base, the profile's patch, the home patch, the overlays. A file that does not
// exist is no layer. The error tells everything that is wrong with every layer,
// each an [*Error] unless the folder is missing.
func Load(dir string, o Options) (*Profile, error) {
	p, errs := Survey(dir, o)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return p, nil
}

// Survey is [Load] for those who look for faults: it leaves out the layers that
// cannot be used, each an error, and composes the others. The profile is nil if
// there is no folder.
func Survey(dir string, o Options) (*Profile, []error) {
	b, err := read(dir, o)
	if err != nil {
		return nil, []error{err}
	}
	b.profile.Composed, err = Compose(&List{}, b.lists...)
	if err != nil {
		b.profile.Composed = &Composed{}
		b.errs = append(b.errs, err)
	}
	return b.profile, b.errs
}

// read reads the layers. The error is for a folder that is not there.
func read(dir string, o Options) (*builder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("profile: %s is not a folder", dir)
	}
	b := &builder{profile: &Profile{Dir: dir}}
	if o.Bundle != nil {
		b.patch(Layer{Name: "bundle", File: "(built in)", Data: o.Bundle})
	}
	b.optional("base", filepath.Join(dir, BaseFile), b.base)
	b.slot = len(b.lists)
	b.optional("profile patch", filepath.Join(dir, PatchFile), b.patch)
	if o.Home != "" {
		b.optional("home patch", filepath.Join(o.Home, PatchFile), b.patch)
	}
	for _, file := range o.Overlays {
		b.read("--patch", file, b.patch)
	}
	return b, nil
}

// builder collects layers and what is wrong with them.
type builder struct {
	profile *Profile
	lists   []*List
	errs    []error
	slot    int // the place of the profile's patch among the lists
}

func (b *builder) optional(name, file string, use func(Layer)) {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		b.read(name, file, use)
	}
}

func (b *builder) read(name, file string, use func(Layer)) {
	l, err := ReadLayer(name, file)
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	use(l)
}

func (b *builder) patch(l Layer) { b.add(l, ParsePatch) }

// base adds the base after the bundle, so as one patch that inserts its rows.
func (b *builder) base(l Layer) {
	b.add(l, func(l Layer) (*List, error) {
		list, err := ParseEntries(l)
		if err != nil {
			return nil, err
		}
		insert := &Value{kind: kindMap, pos: list.pos}
		insert.set(field{key: "insert", pos: list.pos, value: &Value{kind: kindList, pos: list.pos, items: list.rows}})
		list.rows = []*Value{insert}
		return list, nil
	})
}

func (b *builder) add(l Layer, parse func(Layer) (*List, error)) {
	list, err := parse(l)
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	b.profile.Layers = append(b.profile.Layers, l)
	b.lists = append(b.lists, list)
}
