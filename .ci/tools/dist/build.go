package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// entry is one file of an archive.
type entry struct {
	name string // with slashes
	path string
	mode os.FileMode
}

// build makes a platform's programs in dir, and beside them what they are made
// of: their modules, and the modules' licences.
func build(dir, goos, goarch string) ([]entry, error) {
	var files []entry
	var modules bytes.Buffer
	env := append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	for _, p := range programs {
		name := p.name
		if goos == "windows" && !strings.HasPrefix(name, "plugins/") { // a plugin is found by its bare name
			name += ".exe"
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := command(env, nil, "go", "build", "-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", file, p.pkg); err != nil {
			return nil, err
		}
		files = append(files, entry{name, file, 0o755})
		list, err := output(env, "go", "version", "-m", file)
		if err != nil {
			return nil, err
		}
		_, list, _ = strings.Cut(list, "\n") // the first line tells the path
		fmt.Fprintf(&modules, "%s\n%s\n", name, list)
	}
	licences, err := licences(env)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"MODULES": modules.Bytes(), "THIRD-PARTY": licences} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return nil, err
		}
		files = append(files, entry{name, file, 0o644})
	}
	return files, nil
}

// makeShared makes in dir what all platforms have alike. A program for this
// machine writes its own manual and completions.
func makeShared(dir string) ([]entry, error) {
	files := []entry{
		{"LICENSE", "LICENSE", 0o644}, {"README.md", "README.md", 0o644}, {"README.zh.md", "README.zh.md", 0o644},
		{"CHANGELOG.md", "CHANGELOG.md", 0o644}, {"UPGRADE.md", "deploy/UPGRADE.md", 0o644}, {"SECURITY.md", "deploy/SECURITY.md", 0o644},
	}
	program := filepath.Join(dir, "spillway")
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if err := command(env, nil, "go", "build", "-trimpath", "-o", program, programs[0].pkg); err != nil {
		return nil, err
	}
	for _, w := range []struct {
		name string
		args []string
	}{
		{"man/spillway.1", []string{"man"}},
		{"completions/spillway.bash", []string{"completion", "bash"}},
		{"completions/_spillway", []string{"completion", "zsh"}},
		{"completions/spillway.fish", []string{"completion", "fish"}},
		{"completions/spillway.ps1", []string{"completion", "powershell"}},
	} {
		file := filepath.Join(dir, filepath.FromSlash(w.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := command(os.Environ(), &text, program, w.args...); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			return nil, err
		}
		files = append(files, entry{w.name, file, 0o644})
	}
	return files, nil
}

func output(env []string, name string, args ...string) (string, error) {
	var out bytes.Buffer
	err := command(env, &out, name, args...)
	return out.String(), err
}

// command runs a command, whose words on standard error are the user's.
func command(env []string, out *bytes.Buffer, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Env, c.Stderr = env, os.Stderr
	if out != nil {
		c.Stdout = out
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
