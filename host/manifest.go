package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spillway/host/profile"
	"spillway/host/supervisor"
	"spillway/sdk"
)

// catalogue is the modules that a profile can name.
type catalogue struct {
	runtime *Runtime          // that does not run: it knows what to trust
	state   string            // the profile's state folder
	folders []string          // where plugins are
	names   []string          // the built-in modules, then the plugins, the profile's own first
	files   map[string]string // paths of plugins and of what cannot be run, by name
}

func newCatalogue(o Options) *catalogue {
	c := &catalogue{
		runtime: &Runtime{opts: o},
		state:   filepath.Join(o.Dir, profile.StateDir),
		folders: append([]string{filepath.Join(o.Dir, profile.PluginsDir)}, o.PluginDirs...),
		names:   slices.Clone(modules),
		files:   make(map[string]string),
	}
	for _, dir := range c.folders {
		entries, _ := os.ReadDir(dir) // it need not exist
		for _, e := range entries {
			c.file(filepath.Join(dir, e.Name()))
		}
	}
	return c
}

// file adds a file of a plugins folder. One that cannot be run is no module,
// but whoever names it is told why.
func (c *catalogue) file(path string) {
	name := filepath.Base(path)
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || strings.HasPrefix(name, ".") || c.files[name] != "" || slices.Contains(modules, name) {
		return
	}
	c.files[name] = path
	if info.Mode().Perm()&0o111 != 0 {
		c.names = append(c.names, name)
	}
}

// describe tells a person which modules there are.
func (c *catalogue) describe() string {
	var b strings.Builder
	b.WriteString("the built-in " + strings.Join(modules, ", "))
	for _, dir := range c.folders {
		var names []string
		for _, name := range c.names {
			if filepath.Dir(c.files[name]) == dir {
				names = append(names, name)
			}
		}
		if names == nil {
			names = []string{"none"}
		}
		fmt.Fprintf(&b, "; a file in %s: %s", dir, strings.Join(names, ", "))
	}
	return b.String()
}

// unknown says that there is no module of that name, and which there are.
func (c *catalogue) unknown(module string) error {
	near := ""
	if like := profile.Nearest(module, c.names); like != nil {
		near = "; nearest known: " + strings.Join(like, ", ")
	}
	return fmt.Errorf("no module %q (allowed: %s)%s", module, c.describe(), near)
}

// schema is that of a module's config, nil if it has none. rows are those that
// have the module, and say whether its file may be run.
func (c *catalogue) schema(ctx context.Context, module string, rows ...profile.Row) (json.RawMessage, error) {
	if slices.Contains(modules, module) {
		return builtinSchema(module), nil
	}
	file, ok := c.files[module]
	if !ok {
		return nil, c.unknown(module)
	}
	bin, err := supervisor.Inspect(file)
	for _, r := range rows {
		if err == nil {
			err = c.runtime.trusted(profile.Entry{Name: module, Row: r}, bin)
		}
	}
	if err != nil {
		return nil, err
	}
	m, err := c.manifest(ctx, bin)
	return m.Schema, err
}

// manifest is what is kept of a plugin's own.
type manifest struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Schema  json.RawMessage `json:"schema,omitempty"`
}

// errDescribed ends a start that was for the manifest only.
var errDescribed = errors.New("described")

// maxManifest bounds a kept manifest: a schema and a few words.
const maxManifest = profile.MaxSchema + 64<<10

// manifest is what a plugin says that it is. It depends on nothing but the file,
// so it is kept by the file's hash, and the plugin is started once only.
func (c *catalogue) manifest(ctx context.Context, bin supervisor.Binary) (m manifest, err error) {
	kept := filepath.Join(c.state, "manifests", bin.SHA256+".json")
	if info, err := os.Stat(kept); err == nil && info.Size() <= maxManifest {
		if b, err := os.ReadFile(kept); err == nil && json.Unmarshal(b, &m) == nil {
			return m, nil
		}
	}
	copied, err := supervisor.Install(bin.Source, filepath.Join(c.state, "plugins"))
	if err == nil && copied.SHA256 != bin.SHA256 {
		err = fmt.Errorf("plugin %q: changed while it was looked at", bin.Source)
	}
	if err != nil {
		return manifest{}, err
	}
	_, err = supervisor.Start(ctx, supervisor.Options{
		Entry: filepath.Base(bin.Source), Binary: copied, Log: slog.New(slog.DiscardHandler),
		Check: func(got sdk.Manifest) error {
			m = manifest{Name: got.Name, Version: got.Version, Schema: got.Schema}
			return errDescribed
		},
	})
	if !errors.Is(err, errDescribed) {
		return manifest{}, err
	}
	// A manifest that cannot be kept is asked for again the next time.
	_ = keep(kept, m)
	return m, nil
}

func keep(file string, m manifest) error {
	b, err := json.Marshal(m)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = profile.ReplaceFile(file, b)
	}
	return err
}
