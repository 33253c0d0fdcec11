package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"spillway/tests/bench/report"
)

// goOutput is the file of the Go benchmarks' output among the results.
const goOutput = "go.txt"

// goBenchmarks runs every Go benchmark of the tree, keeps the output as it is, and
// compares it with that of the last result that was committed.
func (b *bench) goBenchmarks(ctx context.Context) error {
	packages, err := benchmarked(".")
	if err != nil {
		return err
	}
	args := []string{"test", "-run", "^$", "-bench", ".", "-benchmem", "-p", "1", "-count", "6", "-benchtime", "50ms"}
	if b.short {
		args = append(args, "-count", "1", "-benchtime", "1ms")
		packages = slices.DeleteFunc(packages, func(p string) bool { return strings.HasPrefix(p, "./tests/") }) // they build programs
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var raw bytes.Buffer
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		raw.WriteString(lines.Text() + "\n")
		if p, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			fmt.Fprintf(os.Stderr, "%s: %s\n", goBench, p)
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test -bench: %w\n%s", err, raw.Bytes())
	}
	b.cells = append(b.cells, goCells(raw.String())...)
	if err := os.MkdirAll(b.results, 0o755); err != nil {
		return err
	}
	path := filepath.Join(b.results, goOutput)
	if err := os.WriteFile(path, raw.Bytes(), 0o644); err != nil {
		return err
	}
	return b.compare(ctx, path)
}

// compare prints how the Go benchmarks changed since the last committed result.
func (b *bench) compare(ctx context.Context, path string) error {
	last, err := exec.CommandContext(ctx, "git", "show", "HEAD:tests/bench/results/"+goOutput).Output()
	if err != nil {
		_, err := fmt.Fprintln(b.out, "benchstat: no result is committed to compare with")
		return err
	}
	old := filepath.Join(b.temp, "last")
	if err := os.WriteFile(old, last, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "tools", "benchstat"), "last="+old, "now="+path)
	cmd.Stdout, cmd.Stderr = b.out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("benchstat: %w", err)
	}
	return nil
}

var benchmarkFunc = regexp.MustCompile(`(?m)^func Benchmark\w+\(`)

// benchmarked are the packages below root that have benchmarks.
func benchmarked(root string) (packages []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if dir := "./" + filepath.ToSlash(filepath.Dir(path)); benchmarkFunc.Match(text) && !slices.Contains(packages, dir) {
			packages = append(packages, dir)
		}
		return err
	})
	if len(packages) == 0 && err == nil {
		err = errors.New("no benchmarks here: run it at the root of the repository")
	}
	return packages, err
}

var processors = regexp.MustCompile(`-\d+$`)

// goCells are the lines of benchmarks in the output of go test: a gateway is a
// benchmark's name, a round its next line.
func goCells(output string) (cells report.Cells) {
	rounds := map[string]int{}
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(f[0], "")
		rounds[name]++
		c := report.Cell{Scenario: goBench, Gateway: name, Round: rounds[name], Values: map[string]float64{}}
		for pair := range slices.Chunk(f[2:], 2) {
			if v, err := strconv.ParseFloat(pair[0], 64); err == nil && len(pair) == 2 {
				c.Values[pair[1]] = v
			}
		}
		cells = append(cells, c)
	}
	return cells
}
