package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"spillway/host/profile"
	"spillway/sdk"
)

// Settings are an entry's volatile fields: what can be changed while it runs.
type Settings struct {
	ID     string
	Module string
	Schema json.RawMessage // of the volatile fields only
	// Values and Inherited hold the fields that are set, as the files say it:
	// now, and without what the profile's patch says over it. Secrets are not
	// in them; see profile.Form.Shown.
	Values    json.RawMessage
	Inherited json.RawMessage
	Origins   map[string]profile.Pos // by path of a field, where its value stands
	Revision  string                 // of the files
	Error     string                 // why the entry does not run as the files say, "" if it does
}

// ErrNoSettings is for an entry that does not exist or has no volatile fields.
var ErrNoSettings = errors.New("no settings")

// saveLimit bounds a save: waiting for another's, and for the plugin, which may
// have to start anew.
const saveLimit = 30 * time.Second

// Settings lists the entries that have volatile fields and an id to be found by,
// in the order of the profile. The error is about the profile's files.
func (r *Runtime) Settings() ([]Settings, error) {
	var all []Settings
	for _, u := range r.Graph().units {
		form, _, err := u.form()
		if err != nil {
			continue // whose fields are not known; status says why it does not run
		}
		x, err := profile.ReadEditable(r.opts.Dir, r.layers(), u.entry.ID)
		if errors.Is(err, profile.ErrNoEntry) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := Settings{ID: u.entry.ID, Module: u.entry.Name, Schema: form.Schema(), Origins: form.Origins(x.Config), Revision: x.Revision}
		if s.Values, err = form.Shown(x.Config); err == nil {
			s.Inherited, err = form.Shown(x.Inherited)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %q: %w", s.ID, err)
		}
		if u.err != nil {
			s.Error = u.err.Error()
		}
		all = append(all, s)
	}
	return all, nil
}

// layers are what the profile is made of besides its folder.
func (r *Runtime) layers() profile.Options {
	return profile.Options{Home: r.opts.Home, Overlays: r.opts.Overlays}
}

// form is that of an entry, with the schema that it is a part of. The schema of a
// plugin that does not run is not known.
func (u *unit) form() (*profile.Form, json.RawMessage, error) {
	var schema json.RawMessage
	if u.plugin != nil {
		schema = u.plugin.Manifest().Schema
	} else if u.kind != kindPlugin {
		schema = builtinSchema(u.entry.Name)
	}
	form, err := profile.OpenForm(schema)
	if form == nil && err == nil {
		err = fmt.Errorf("%w: Plugin entry %q has no volatile fields", ErrNoSettings, u.entry.ID)
	}
	return form, schema, err
}

// SaveSettings writes changes of an entry's volatile fields into the profile's
// patch and returns when they are in force. What the profile, the module's schema
// or the plugin does not want is not there afterwards: the old text is back, and
// what runs goes on. revision is that of the Settings that the changes were made
// of.
//
// Errors: ErrNoSettings, profile.ErrChanged, *profile.OverriddenError,
// *profile.NotVolatileError, *InvalidError with the paths of what is wrong; others
// are about the files.
func (r *Runtime) SaveSettings(ctx context.Context, id, revision string, changes []profile.Change) (*profile.Saved, error) {
	u := r.Graph().find(id)
	if u == nil {
		return nil, fmt.Errorf("%w: no entry %q", ErrNoSettings, id)
	}
	form, schema, err := u.form()
	if err != nil {
		return nil, err
	}
	// Whoever asked may go away: what was begun is ended all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLimit)
	defer cancel()
	written := false
	saved, err := profile.Save(ctx, r.opts.Dir, r.layers(), profile.Edit{
		ID: id, Revision: revision,
		Next: func(x *profile.Editable) (*profile.Value, error) {
			next, err := form.Apply(x, changes)
			if err != nil {
				return nil, err
			}
			return next, r.fits(form, schema, x, next)
		},
		Accept: func(ctx context.Context) error {
			written = true
			return r.takeIn(ctx, id)
		},
	})
	if err != nil {
		if written {
			_ = r.Reload(ctx) // told in the log and in status
		}
		if faults, ok := errors.AsType[sdk.Faults](err); ok {
			bad := &InvalidError{}
			for _, f := range faults {
				bad.Faults = append(bad.Faults, profile.Fault{Fault: f})
			}
			err = bad
		}
		return nil, err
	}
	r.log.Info("settings saved", "entry", id, "at", saved.Pos.String())
	return saved, nil
}

// fits checks a config before it is written.
func (r *Runtime) fits(form *profile.Form, schema json.RawMessage, x *profile.Editable, next *profile.Value) error {
	secrets, err := form.CheckSecrets(x, next)
	if err != nil {
		return err
	}
	if secrets != nil {
		return secrets
	}
	config, _, err := next.Resolve(r.opts.Env)
	if err != nil {
		return sdk.Faults{{Message: err.Error()}}
	}
	faults, err := profile.Validate(config, schema)
	if err != nil {
		return err
	}
	return located(faults)
}

// takeIn puts the files in force and tells why an entry does not run as they
// say.
func (r *Runtime) takeIn(ctx context.Context, id string) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	if u := r.Graph().find(id); u != nil {
		return u.err
	}
	return nil
}
