package tests

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"spillway/tests/internal/rig"
)

// TestDist makes this platform's release and uses it as somebody does who has
// nothing else: unpacks it into an empty folder and runs the demo. The other
// platforms are built by make dist.
func TestDist(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "dist")
	rig.Run(t, exec.Command("go", "build", "-C", "../.ci/tools", "-o", tool, "./dist"))
	dist := func() (out, sums string) {
		out = t.TempDir()
		cmd := exec.Command(tool, "-platforms", "host", "-out", out)
		cmd.Dir = ".."
		rig.Run(t, cmd)
		return out, file(t, out, "SHA256SUMS")
	}
	out, sums := dist()
	if _, again := dist(); again != sums {
		t.Errorf("made twice, it differs:\n%s%s", sums, again)
	}
	sum, name, _ := strings.Cut(strings.TrimSpace(sums), "  ")
	archive := file(t, out, name)
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(archive))); got != sum || !strings.HasSuffix(name, "-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz") {
		t.Errorf("%s has the sum %s, want %s", name, got, sum)
	}

	dir := filepath.Join(unpack(t, archive), strings.TrimSuffix(name, ".tar.gz"))
	program := filepath.Join(dir, "spillway")
	for _, f := range []string{program, filepath.Join(dir, "plugins/failover")} {
		static(t, f)
	}
	for f, want := range map[string]string{
		"LICENSE": "MIT License", "README.md": "# spillway", "UPGRADE.md": "# Upgrade", "SECURITY.md": "# Security", "CHANGELOG.md": "# Changelog",
		"MODULES": "modernc.org/sqlite", "THIRD-PARTY": "Apache License", "man/spillway.1": ".TH SPILLWAY 1",
		"completions/_spillway": "#compdef spillway", "completions/spillway.bash": "bash completion", "completions/spillway.fish": "fish completion",
		"completions/spillway.ps1": "powershell completion",
	} {
		if !strings.Contains(file(t, dir, f), want) {
			t.Errorf("%s: no %q in it", f, want)
		}
	}
	licences := file(t, dir, "THIRD-PARTY")
	for line := range strings.Lines(file(t, dir, "MODULES")) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" && !strings.Contains(licences, strings.Repeat("=", 80)+"\n"+f[1]+" "+f[2]+": ") {
			t.Errorf("no licence of %s %s", f[1], f[2])
		}
	}

	empty := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = empty, []string{"HOME=" + empty}
		return rig.Run(t, cmd)
	}
	if v := run("--version"); !strings.Contains(name, "spillway-"+strings.Fields(v)[2]+"-") {
		t.Errorf("%s says it is %s", name, v)
	}
	if demo := run("demo"); !strings.Contains(demo, "deepseek/deepseek-flash is asked instead") {
		t.Errorf("demo:\n%s", demo)
	}
	hides(t, program, empty)
}

// hides starts serve of the unpacked release with a plugin in the profile that is
// older than the one beside the program, and waits until it has said so.
func hides(t *testing.T, program, home string) {
	t.Helper()
	beside := filepath.Join(filepath.Dir(program), "plugins", "extra")
	copied := filepath.Join(rig.Profile(t, "- {id: p, name: provider-openai, config: {base_url: http://127.0.0.1:9/v1, models: [m], key: k}}\n"), "plugins", "extra")
	if err := os.Mkdir(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, f := range []string{copied, beside} {
		if err := os.WriteFile(f, []byte{byte(i)}, 0o755); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(f, at, at); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "serve", "--listen", "127.0.0.1:0", "--profile", filepath.Dir(filepath.Dir(copied))+"/")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for lines := bufio.NewScanner(stderr); !told && lines.Scan(); {
		told = strings.Contains(lines.Text(), "hides a newer one") && strings.Contains(lines.Text(), beside)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || !told {
		t.Errorf("an older plugin in the profile: told %v; serve ended with %v", told, err)
	}
}

// unpack unpacks a tar.gz into a folder of its own.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	gz, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, data, os.FileMode(h.Mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// static fails the test if a Linux program needs anything of the system to be
// loaded, which an image from scratch does not have.
func static(t *testing.T, program string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("%s: libraries %q, %v", program, libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s wants a loader", program)
		}
	}
}
