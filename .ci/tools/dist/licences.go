package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile is what a licence, or what must go along with one, is called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense|copyright)`)

// module is a module that programs are linked from.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// licences are the texts of everything that is linked into the programs, by
// module: those in a linked package's folder and in all folders above it up to
// the module's, and those of Go itself. A module without one is an error.
func licences(env []string) ([]byte, error) {
	args := []string{"list", "-deps", "-json=Dir,Module,Standard"}
	for _, p := range programs {
		args = append(args, p.pkg)
	}
	listed, err := output(env, "go", args...)
	if err != nil {
		return nil, err
	}
	modules := map[string]module{}
	texts := map[string]map[string]bool{} // files, by module
	for d := json.NewDecoder(strings.NewReader(listed)); ; {
		var pkg struct {
			Dir      string
			Standard bool
			Module   *module
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if pkg.Standard || pkg.Module == nil || pkg.Module.Main {
			continue
		}
		m := *pkg.Module
		if texts[m.Path] == nil {
			modules[m.Path], texts[m.Path] = m, map[string]bool{}
		}
		for dir := pkg.Dir; ; dir = filepath.Dir(dir) {
			names, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range names {
				if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
					texts[m.Path][filepath.Join(dir, e.Name())] = true
				}
			}
			if dir == m.Dir || len(dir) <= len(m.Dir) {
				break
			}
		}
	}
	root, err := output(env, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goroot, goversion, _ := strings.Cut(strings.TrimSpace(root), "\n")
	const std = "Go standard library"
	modules[std] = module{Path: std, Version: goversion, Dir: goroot}
	texts[std] = map[string]bool{}
	for _, name := range []string{"LICENSE", "PATENTS"} {
		texts[std][filepath.Join(goroot, name)] = true
	}

	var b bytes.Buffer
	fmt.Fprintln(&b, "spillway and its failover plugin are linked with the following. Each has its licence below.")
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(&b, "  %s %s\n", path, modules[path].Version)
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		if len(texts[path]) == 0 {
			return nil, fmt.Errorf("module %s: no licence in %s", path, m.Dir)
		}
		for _, file := range slices.Sorted(maps.Keys(texts[path])) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(m.Dir, file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), path, m.Version, filepath.ToSlash(name), bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}
