package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"spillway/host/profile"
)

// credentialsVariable names the folder in which a service manager puts a
// service's secrets, a file for each: systemd does so for LoadCredential=, and a
// container's mounted secrets lie there if it is set to their folder.
const credentialsVariable = "CREDENTIALS_DIRECTORY"

// maxCredential bounds a secret.
const maxCredential = 64 << 10

// lookup finds variables in the environment, and those that it lacks as files in
// the folder of credentials: the environment of a process is easily read and
// inherited, a file is not.
func lookup(env profile.Lookup) profile.Lookup {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		dir, ok := env(credentialsVariable)
		if !ok || dir == "" || name != filepath.Base(name) {
			return "", false
		}
		v, err := readCredential(dir, name)
		return v, err == nil
	}
}

func readCredential(dir, name string) (string, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCredential+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxCredential {
		return "", errors.New("too long for a credential")
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}
