package supervisor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spillway/host/supervisor"
)

// script writes a plugin's file that says text.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n# "+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func install(t *testing.T, source, dir string) supervisor.Binary {
	t.Helper()
	b, err := supervisor.Install(source, dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// age makes a file as old as it were if it had not been asked for lately.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestOldCopiesGo: a copy that nobody runs is removed by a later Install, one
// that somebody has just asked for or that a plugin runs from is not.
func TestOldCopiesGo(t *testing.T) {
	o, _ := options(t, "")
	dir := filepath.Dir(o.Binary.Path)
	p, err := supervisor.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	source := filepath.Join(t.TempDir(), "p")
	script(t, source, "old")
	old := install(t, source, dir)
	script(t, source, "asked for again")
	asked := install(t, source, dir)
	litter, foreign := filepath.Join(dir, ".incoming-1"), filepath.Join(dir, "README")
	for _, path := range []string{litter, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{o.Binary.Path, old.Path, asked.Path, litter, foreign} {
		age(t, path)
	}
	if again := install(t, source, dir); again != asked {
		t.Errorf("got %+v, want %+v", again, asked)
	}
	for path, want := range map[string]bool{o.Binary.Path: true, old.Path: false, asked.Path: true, litter: false, foreign: true} {
		if exists(path) != want {
			t.Errorf("%s is there: %t, want %t", path, !want, want)
		}
	}

	// So the plugin is restarted from its own copy, whatever became of the file.
	before := pid(t, p)
	if err := os.Remove(o.Binary.Source); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(atoi(before), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if after := pid(t, p); after == before || after == "bypassed" {
		t.Errorf("after the kill: %s, before: %s", after, before)
	}
	p.Stop()
	age(t, o.Binary.Path)
	install(t, source, dir)
	if exists(o.Binary.Path) {
		t.Error("the copy of a plugin that was stopped is still there")
	}
}

// TestCopyIsWhole: a copy that was changed or cut is made anew.
func TestCopyIsWhole(t *testing.T) {
	source, dir := filepath.Join(t.TempDir(), "p"), filepath.Join(t.TempDir(), "copies")
	script(t, source, "whole")
	b := install(t, source, dir)
	for _, damage := range []func() error{
		func() error { return os.Chmod(b.Path, 0o400) },
		func() error {
			return errors.Join(os.Chmod(b.Path, 0o700), os.Truncate(b.Path, 3), os.Chmod(b.Path, 0o500))
		},
		func() error { return os.Remove(b.Path) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if again := install(t, source, dir); again != b {
			t.Errorf("got %+v, want %+v", again, b)
		}
		info, err := os.Stat(b.Path)
		want, err2 := os.ReadFile(source)
		got, err3 := os.ReadFile(b.Path)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o500 || !slices.Equal(got, want) {
			t.Errorf("mode %s, content %q", info.Mode(), got)
		}
	}
}

// TestReplacedWhileItRuns: the file of a running plugin may be written over, in
// place too; what runs, and what a restart runs, is what was checked.
func TestReplacedWhileItRuns(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := quiet()
	source := filepath.Join(t.TempDir(), "guest")
	if err := os.WriteFile(source, program, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Binary = install(t, source, filepath.Join(t.TempDir(), "copies"))
	p, err := supervisor.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	before := p.Info()
	if err := os.WriteFile(source, []byte("#!/bin/sh\necho not what was checked\n"), 0o755); err != nil {
		t.Fatalf("text file busy? %v", err)
	}
	if err := syscall.Kill(atoi(before.PID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := pid(t, p); got == before.PID || got == "bypassed" {
		t.Errorf("after the kill: %s, before: %s", got, before.PID)
	}
	if after := p.Info(); after.SHA256 != before.SHA256 || after.Version != "7" {
		t.Errorf("got %+v, before %+v", after, before)
	}
}

// TestInstallBesideStarts: copies are made while other goroutines start
// processes, which must not meet "text file busy".
func TestInstallBesideStarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copies")
	folder := t.TempDir()
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			source := filepath.Join(folder, fmt.Sprint(n))
			for round := range 5 {
				text := fmt.Sprintf("#!/bin/sh\necho %d %d >&2; exit 3\n", n, round)
				if err := os.WriteFile(source, []byte(text), 0o755); err != nil {
					t.Error(err)
					return
				}
				o, _ := quiet()
				var err error
				if o.Binary, err = supervisor.Install(source, dir); err != nil {
					t.Error(err)
					return
				}
				_, err = supervisor.Start(t.Context(), o)
				if want := fmt.Sprintf("its last line: %q", fmt.Sprint(n, " ", round)); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
	wg.Wait()
}
