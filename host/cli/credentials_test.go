//go:build unix

package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentials: what the environment lacks is a file in the folder of
// credentials, and in no other folder.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		filepath.Join(inner, "KEY"):     "from the file\n",
		filepath.Join(inner, "BOTH"):    "from the file",
		filepath.Join(inner, "LARGEST"): strings.Repeat("x", maxCredential),
		filepath.Join(inner, "LARGER"):  strings.Repeat("x", maxCredential+1),
		filepath.Join(dir, "OUTSIDE"):   "secret",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := map[string]string{credentialsVariable: inner, "BOTH": "from the environment", "EMPTY": ""}
	env := func(name string) (string, bool) { v, ok := set[name]; return v, ok }
	for _, tt := range []struct {
		name, want string
		ok         bool
	}{
		{"KEY", "from the file", true},
		{"BOTH", "from the environment", true},
		{"EMPTY", "", true},
		{"LARGEST", strings.Repeat("x", maxCredential), true},
		{"LARGER", "", false},
		{"NONE", "", false},
		{"../OUTSIDE", "", false},
		{"..", "", false},
		{"", "", false},
	} {
		if v, ok := lookup(env)(tt.name); v != tt.want || ok != tt.ok {
			t.Errorf("%q: got %.20q, %v, want %.20q, %v", tt.name, v, ok, tt.want, tt.ok)
		}
	}
	delete(set, credentialsVariable)
	if _, ok := lookup(env)("KEY"); ok {
		t.Error("a file was found without a folder")
	}
}

// TestNotify: a service manager that wants to know is told, and nobody else.
func TestNotify(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	set := map[string]string{}
	a := &app{env: func(name string) (string, bool) { v, ok := set[name]; return v, ok }}
	if err := a.notify("READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
	set["NOTIFY_SOCKET"] = socket
	if err := a.notify("READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := l.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("told %q, %v", b[:n], err)
	}
	set["NOTIFY_SOCKET"] = socket + "-gone"
	if err := a.notify("READY=1"); err == nil {
		t.Error("nobody listens, and no error")
	}
}
