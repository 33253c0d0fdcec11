package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"spillway/host/profile"
	"spillway/host/state"
	"spillway/host/supervisor"
	"spillway/sdk"
)

// failoverModule is the plugin that comes with spillway.
const failoverModule = "failover"

// judge is the failover plugin, started for its judgement only.
type judge struct {
	*supervisor.Plugin
	store *state.Store
}

func (j *judge) stop() {
	j.Stop()
	j.store.Close()
}

// judge starts the profile's failover plugin, else the one beside the
// executable, with its own settings.
func (a *app) judge(ctx context.Context) (*judge, error) {
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	dirs, entries, err := a.judgeProfile()
	if err != nil {
		return nil, err
	}
	source, err := judgeFile(dirs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "spillway-classify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // the process keeps its file open
	bin, err := supervisor.Install(source, dir)
	if err != nil {
		return nil, err
	}
	o := supervisor.Options{Entry: failoverModule, Binary: bin, Config: []byte("{}"), Log: log}
	var config *profile.Value
	for _, e := range entries {
		// The plugin warns of routes to providers that it does not know.
		o.Catalogue.Providers = append(o.Catalogue.Providers, sdk.Provider{Name: e.ID})
		if e.Name != failoverModule {
			continue
		}
		if e.Err != nil {
			return nil, usageError{e.Err}
		}
		if e.Config != nil {
			config = e.Config
			if o.Config, err = json.Marshal(config); err != nil {
				return nil, err
			}
			o.Check = func(m sdk.Manifest) error { return checkConfig(config, m.Schema) }
		}
	}
	store := state.NewMemory(state.Options{Log: log})
	o.State = store.Namespace(failoverModule, failoverModule)
	p, err := supervisor.Start(ctx, o)
	if err != nil {
		store.Close()
		if faults, ok := errors.AsType[sdk.Faults](err); ok && config != nil {
			err = faultsError(profile.Place(config, faults))
		}
		return nil, err
	}
	return &judge{Plugin: p, store: store}, nil
}

// judgeProfile is where the plugin is looked for, and the entries of the
// profile. The default profile need not exist.
func (a *app) judgeProfile() (dirs []string, entries []profile.Entry, err error) {
	dirs = pluginDirs()
	home, err := a.home()
	if err != nil {
		return dirs, nil, nil // no home, no profile
	}
	dir, err := profile.Dir(home, a.profile)
	if err != nil {
		return nil, nil, usageError{err}
	}
	p, err := profile.Load(dir, profile.Options{Home: home, Overlays: a.patches})
	switch {
	case err == nil:
		entries, _ = p.Entries(a.env)
		return append([]string{filepath.Join(dir, profile.PluginsDir)}, dirs...), entries, nil
	case errors.Is(err, os.ErrNotExist) && a.profile == "default" && a.patches == nil:
		return dirs, nil, nil
	}
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		return nil, nil, a.noProfile(home, dir)
	}
	return nil, nil, usageError{err}
}

func judgeFile(dirs []string) (string, error) {
	for _, d := range dirs {
		path := filepath.Join(d, failoverModule)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no failover plugin in %s", strings.Join(dirs, " or "))
}

func checkConfig(config *profile.Value, schema []byte) error {
	if len(schema) == 0 {
		return nil
	}
	faults, err := profile.Validate(config, schema)
	if err != nil {
		return err
	}
	return faultsError(faults)
}

// faultsError is faults with their places as one error, nil for none.
func faultsError(faults []profile.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return usageError{errors.New(strings.Join(lines, "\n"))}
}
