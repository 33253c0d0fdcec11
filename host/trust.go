package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"spillway/host/profile"
	"spillway/host/supervisor"
)

// A plugin runs if its file belongs to us or to root and others cannot write it
// (supervisor.Install). A row with "trust: pinned" wants more: the file's hash
// must be one that the user has pinned, in state/trust.json.

// trustFile holds the pins, in the state folder.
const trustFile = "trust.json"

// maxTrustFile bounds it: thousands of pins.
const maxTrustFile = 1 << 20

// pins are trusted SHA-256 hashes by module, hex.
type pins map[string][]string

func readPins(dir string) (pins, error) {
	path := filepath.Join(dir, profile.StateDir, trustFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return pins{}, nil
	}
	if err == nil && info.Size() > maxTrustFile {
		err = fmt.Errorf("larger than %d bytes", maxTrustFile)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	p := pins{}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// trusted checks what a row says of trust.
func (r *Runtime) trusted(e profile.Entry, bin supervisor.Binary) error {
	var row struct {
		Trust any `json:"trust"`
	}
	b, err := e.Row.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(b, &row)
	}
	if err != nil {
		return err
	}
	switch row.Trust {
	case nil, "owner":
		return nil
	case "pinned":
	default:
		pos, _ := e.Row.Origin("trust")
		return fmt.Errorf("%s: trust: got %v (allowed: owner, pinned)", pos, row.Trust)
	}
	p, err := readPins(r.opts.Dir)
	if err != nil {
		return err
	}
	if !slices.Contains(p[e.Name], bin.SHA256) {
		return fmt.Errorf("%s is not pinned: its SHA-256 is %s; look at it, then: spillway plugin trust %s", bin.Source, bin.SHA256, e.Name)
	}
	return nil
}

// PluginFile is a plugin's file as it lies there.
type PluginFile struct {
	Module string `json:"module"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	Pinned bool   `json:"pinned"`
	Error  string `json:"error,omitempty"` // why it would not run
}

// PluginFiles lists the plugins that a profile can name.
func PluginFiles(o Options) ([]PluginFile, error) {
	p, err := readPins(o.Dir)
	if err != nil {
		return nil, err
	}
	c := newCatalogue(o)
	var all []PluginFile
	for _, name := range c.names {
		path, ok := c.files[name]
		if !ok {
			continue
		}
		f := PluginFile{Module: name, Path: path}
		bin, err := supervisor.Inspect(path)
		if err != nil {
			f.Error = err.Error()
		}
		f.SHA256 = bin.SHA256
		f.Pinned = slices.Contains(p[name], bin.SHA256) && bin.SHA256 != ""
		all = append(all, f)
	}
	return all, nil
}

// PinPlugin trusts the present file of a module, and returns it. Earlier pins of
// the module end.
func PinPlugin(o Options, module string) (PluginFile, error) {
	path, ok := newCatalogue(o).files[module]
	if !ok {
		return PluginFile{}, fmt.Errorf("no plugin %q in this profile's folders", module)
	}
	bin, err := supervisor.Inspect(path)
	if err != nil {
		return PluginFile{}, err
	}
	p, err := readPins(o.Dir)
	if err != nil {
		return PluginFile{}, err
	}
	p[module] = []string{bin.SHA256}
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return PluginFile{}, err
	}
	state := filepath.Join(o.Dir, profile.StateDir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return PluginFile{}, err
	}
	if err := profile.ReplaceFile(filepath.Join(state, trustFile), append(b, '\n')); err != nil {
		return PluginFile{}, err
	}
	return PluginFile{Module: module, Path: path, SHA256: bin.SHA256, Pinned: true}, nil
}
