package supervisor_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	below := func(mode os.FileMode) string { return filepath.Join(folder(mode), "copies") }
	type row struct{ name, dir, want string }
	tests := []row{
		{"new", filepath.Join(t.TempDir(), "a", "b"), ""},
		{"own", folder(0o700), ""},
		{"readable by others", folder(0o755), ""},
		{"writable by its group", folder(0o770), "can be changed by others (mode drwxrwx---; chmod go-w it)"},
		{"writable by everybody", folder(0o777), "can be changed by others (mode drwxrwxrwx; chmod go-w it)"},
		{"sticky", folder(os.ModeSticky | 0o777), "can be changed by others (mode dtrwxrwxrwx; chmod go-w it)"},
		{"in a folder that others can read", below(0o755), ""},
		{"in a sticky folder", below(os.ModeSticky | 0o777), ""},
		{"in a folder that others can write", below(0o777), "the folder above its copy's "},
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

// TestInstallRefusesSource: nor is a file taken from where others can put one.
func TestInstallRefusesSource(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(open, "p"), "")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, source, want string }{
		{"in a folder of everybody", filepath.Join(open, "p"), "its folder " + open + " can be changed by others (mode drwxrwxrwx; chmod go-w it)"},
		{"a pipe that nobody writes", pipe, "is no regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, installed := supervisor.Install(tt.source, filepath.Join(t.TempDir(), "copies"))
			_, inspected := supervisor.Inspect(tt.source)
			for _, err := range []error{installed, inspected} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			}
		})
	}
}
