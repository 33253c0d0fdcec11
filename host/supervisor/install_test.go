package supervisor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/supervisor"
)

// TestInstallRefusesFolder: the folder of copies is one in which nobody else can
// swap a file, else nothing is put there.
func TestInstallRefusesFolder(t *testing.T) {
	source := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(source, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	folder := func(mode os.FileMode) string {
		dir := filepath.Join(t.TempDir(), "copies")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder(0o700), link); err != nil {
		t.Fatal(err)
	}
	type row struct{ name, dir, want string }
	tests := []row{
		{"new", filepath.Join(t.TempDir(), "a", "b"), ""},
		{"own", folder(0o700), ""},
		{"readable by others", folder(0o755), ""},
		{"writable by its group", folder(0o770), "can be changed by others (mode drwxrwx---; chmod go-w it)"},
		{"writable by everybody", folder(0o777), "can be changed by others (mode drwxrwxrwx; chmod go-w it)"},
		{"sticky", folder(os.ModeSticky | 0o777), "can be changed by others (mode dtrwxrwxrwx; chmod go-w it)"},
		{"a link", link, "can be changed by others"},
	}
	if os.Getuid() == 0 { // nobody else can give a folder away
		foreign := folder(0o755)
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, row{"of somebody else", foreign, "belongs to user 65534, neither to us nor to root"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := supervisor.Install(source, tt.dir)
			left, rerr := os.ReadDir(tt.dir)
			if rerr != nil {
				t.Fatal(rerr)
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || len(left) > 0 {
					t.Errorf("got %v with %v, want %q with nothing", err, left, tt.want)
				}
				return
			}
			if err != nil || len(left) != 1 || filepath.Join(tt.dir, left[0].Name()) != b.Path {
				t.Errorf("got %+v, %v with %v", b, err, left)
			}
			again, err := supervisor.Install(source, tt.dir)
			if err != nil || again != b {
				t.Errorf("again: got %+v, %v, want %+v", again, err, b)
			}
		})
	}
}
