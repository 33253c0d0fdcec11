package mcp

import (
	"maps"
	"slices"
)

// passedEnv are the host's variables that a program gets: what programs, and npx
// and uvx that fetch them, need to find their way. None of them holds a
// credential.
var passedEnv = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"npm_config_cache", "npm_config_registry", "NPM_CONFIG_CACHE", "NPM_CONFIG_REGISTRY", "NODE_EXTRA_CA_CERTS",
	"UV_CACHE_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	// Windows
	"SystemRoot", "SystemDrive", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "TEMP", "TMP", "PATHEXT", "ComSpec",
}

// environment is a program's: what is passed, and the row's own in its place.
func environment(c *config, lookup func(string) (string, bool)) []string {
	vars := map[string]string{}
	for _, name := range passedEnv {
		if v, ok := lookup(name); ok {
			vars[name] = v
		}
	}
	for name, secret := range c.Env {
		delete(vars, name)
		if secret != nil {
			vars[name] = secret.Reveal()
		}
	}
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}
