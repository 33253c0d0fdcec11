// Dist makes the release: for each platform an archive of static programs, the
// plugin beside the host, with licences, manual and completions, and one file of
// checksums over all of them.
//
// The same commit built by the same Go gives the same bytes: paths are left out
// of the programs, and archives have the names in order, the commit's time and
// no owner.
//
// Usage, in the module's folder: dist [-out DIR] [-platforms OS/ARCH,...]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// platforms are all that are released. Windows is built so that it goes on to
// compile; nothing of it is tried.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// programs are built into the archive by these names.
var programs = []struct{ name, pkg string }{
	{"spillway", "./host/cmd/spillway"},
	{"plugins/failover", "./plugin/failover"},
}

func main() {
	out := flag.String("out", "bin/dist", "`folder` for the archives; what is in it is removed")
	list := flag.String("platforms", platforms, "`list` of OS/ARCH; \"host\" is this machine's")
	flag.Parse()
	if err := run(*out, strings.Split(*list, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out string, platforms []string) error {
	version, err := sourceVersion()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	shared, err := makeShared(filepath.Join(work, "shared"))
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	at := commitTime()
	var archives []string
	for _, p := range platforms {
		if p == "host" {
			p = runtime.GOOS + "/" + runtime.GOARCH
		}
		goos, goarch, ok := strings.Cut(p, "/")
		if !ok {
			return fmt.Errorf("platform %q: want OS/ARCH", p)
		}
		name := fmt.Sprintf("spillway-%s-%s-%s", version, goos, goarch)
		files, err := build(filepath.Join(work, name), goos, goarch)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		archive, err := pack(filepath.Join(out, name), name, goos, append(files, shared...), at)
		if err != nil {
			return err
		}
		fmt.Println("dist:", archive)
		archives = append(archives, archive)
	}
	return writeSums(filepath.Join(out, "SHA256SUMS"), archives)
}

// versionLine is where the source says which version it is.
var versionLine = regexp.MustCompile(`(?m)^const Version = "([^"]+)"$`)

// sourceVersion is the version that the program will tell. A tag of the commit
// must agree with it.
func sourceVersion() (string, error) {
	const file = "host/cli/version.go"
	src, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m := versionLine.FindSubmatch(src)
	if m == nil {
		return "", fmt.Errorf("%s: no version", file)
	}
	version := string(m[1])
	if tag := git("describe", "--tags", "--exact-match", "--match", "v*"); tag != "" && tag != "v"+version {
		return "", fmt.Errorf("the commit is tagged %s, but %s says %s", tag, file, version)
	}
	return version, nil
}

// commitTime is the time that archives show; the epoch outside of a checkout.
func commitTime() time.Time {
	at, err := time.Parse(time.RFC3339, git("log", "-1", "--format=%cI"))
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return at.UTC()
}

// git is what git says, "" outside of a checkout.
func git(args ...string) string {
	b, err := exec.Command("git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
