package profile

import (
	"path/filepath"
	"testing"
)

func TestDir(t *testing.T) {
	home := t.TempDir()
	tests := []struct {
		profile string
		want    string // "" for an error
	}{
		{"default", filepath.Join(home, "profiles", "default")},
		{"故障 转移", filepath.Join(home, "profiles", "故障 转移")},
		{"...", filepath.Join(home, "profiles", "...")},
		{"/abs/dir", "/abs/dir"},
		{"/abs/../dir/", "/dir"},
		{"", ""},
		{".", ""},
		{"..", ""},
		{`a\b`, ""},
		{"a\x00b", ""},
	}
	for _, tt := range tests {
		got, err := Dir(home, tt.profile)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("Dir(%q): got %q, %v, want %q", tt.profile, got, err, tt.want)
		}
	}
	here, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Dir(home, "./x"); got != here || err != nil {
		t.Errorf("Dir(./x): got %q, %v, want %q", got, err, here)
	}
	if err := CheckName("a/b"); err == nil {
		t.Error("CheckName(a/b): got no error")
	}
}

func TestHome(t *testing.T) {
	got, err := Home(environment(map[string]string{"SPILLWAY_HOME": "/srv/spill"}))
	if got != "/srv/spill" || err != nil {
		t.Errorf("got %q, %v, want /srv/spill", got, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "/xdg")
	t.Setenv("HOME", "/home/u")
	for _, env := range []map[string]string{nil, {"SPILLWAY_HOME": ""}} {
		got, err := Home(environment(env))
		if filepath.Base(got) != "spillway" || err != nil {
			t.Errorf("with %v: got %q, %v, want a folder spillway", env, got, err)
		}
	}
}
