package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File names of a profile, and of the home folder for PatchFile.
const (
	BaseFile   = "cordis.yml"
	PatchFile  = "cordis.patch.yml"
	PluginsDir = "plugins"
	StateDir   = "state"
)

// Home is the folder that holds all profiles and the home layer: SPILLWAY_HOME,
// else "spillway" in the user's configuration directory.
func Home(env Lookup) (string, error) {
	if dir, ok := env("SPILLWAY_HOME"); ok && dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("SPILLWAY_HOME is not set: %w", err)
	}
	return filepath.Join(dir, "spillway"), nil
}

// Dir is the folder of a profile that a user asked for: a path if it contains a
// slash, else the name of a profile in home.
func Dir(home, profile string) (string, error) {
	if strings.Contains(profile, "/") {
		return filepath.Abs(profile)
	}
	if err := CheckName(profile); err != nil {
		return "", err
	}
	return filepath.Join(home, "profiles", profile), nil
}

// CheckState refuses a profile in whose folder something else stands in the
// place of the state's. None is right: it is made when it is needed. The error
// is an [*Error].
func CheckState(dir string) error {
	at := Pos{File: filepath.Join(dir, StateDir)}
	switch info, err := os.Stat(at.File); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unreadable(at, err)
	case !info.IsDir():
		return &Error{Pos: at, Message: "a file, not a folder", Allowed: "a folder, or nothing: it is made when it is needed"}
	}
	return nil
}

// CheckName refuses what cannot be the name of a profile.
func CheckName(name string) error {
	const allowed = "any name without slashes, except . and .."
	switch {
	case name == "":
		return fmt.Errorf("profile name is empty (allowed: %s)", allowed)
	case name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00"):
		return fmt.Errorf("profile name %q is not possible (allowed: %s)", clip(name, maxShown), allowed)
	}
	return nil
}
