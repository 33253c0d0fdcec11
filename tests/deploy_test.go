package tests

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"spillway/tests/internal/rig"
)

// readFile is a file of this repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// drainTime is how long serve says that answers have to end.
func drainTime(t *testing.T) time.Duration {
	t.Helper()
	help := rig.Run(t, exec.Command(rig.Spillway(t), "serve", "--help"))
	m := regexp.MustCompile(`\((\S+) at most\)`).FindStringSubmatch(help)
	if m == nil {
		t.Fatalf("serve does not say how long answers have to end:\n%s", help)
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestContainerfile: what the file copies and builds is there, the program is run
// by nobody in particular, and the base is pinned. The image itself is not built:
// that takes a network.
func TestContainerfile(t *testing.T) {
	text := strings.ReplaceAll(readFile(t, "deploy/Containerfile"), "\\\n", " ")
	has := map[string][]string{}
	for line := range strings.Lines(text) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			has[word] = append(has[word], strings.TrimSpace(rest))
		}
	}
	for _, c := range has["COPY"] {
		words := strings.Fields(c)
		if strings.HasPrefix(words[0], "--from") {
			continue
		}
		for _, source := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join("..", source)); err != nil {
				t.Errorf("COPY %s: %v", c, err)
			}
		}
	}
	built := map[string]bool{}
	for _, m := range regexp.MustCompile(`go build .*-o /programs(\S+) (\./\S+)`).FindAllStringSubmatch(text, -1) {
		built[m[1]] = true
		if _, err := os.Stat(filepath.Join("..", m[2])); err != nil {
			t.Error(err)
		}
	}
	program := "/opt/spillway/spillway"
	if !built[program] || !built[filepath.Join(filepath.Dir(program), "plugins/failover")] {
		t.Errorf("built: %v, want the program with the plugin beside it", built)
	}
	if !slices.Equal(has["ENTRYPOINT"], []string{`["` + program + `"]`}) || !strings.Contains(strings.Join(has["HEALTHCHECK"], ""), program) {
		t.Errorf("runs %q, checks %q", has["ENTRYPOINT"], has["HEALTHCHECK"])
	}
	if user := has["USER"]; len(user) != 1 || strings.HasPrefix(user[0], "0") || user[0] == "root" {
		t.Errorf("user %q", user)
	}
	if from := has["FROM"]; len(from) != 2 || !regexp.MustCompile(`golang:\d+\.\d+\.\d+-`).MatchString(from[0]) || from[1] != "scratch" {
		t.Errorf("from %q, want a pinned Go, then scratch", from)
	}
	if !strings.Contains(text, "CGO_ENABLED=0") {
		t.Error("what scratch runs must be static")
	}
}

// TestSystemdUnit: the unit gives a drain its time, keeps keys out of the
// environment, and systemd finds no fault in it where there is one.
func TestSystemdUnit(t *testing.T) {
	text := readFile(t, "deploy/spillway.service")
	has := map[string][]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			has[key] = append(has[key], value)
		}
	}
	for key, want := range map[string]string{
		"Type": "notify", "KillMode": "mixed", "Restart": "always", "DynamicUser": "yes", "NoNewPrivileges": "yes",
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "CapabilityBoundingSet": "", "StateDirectoryMode": "0700",
	} {
		if got := has[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	stop, err := time.ParseDuration(strings.Join(has["TimeoutStopSec"], "") + "s")
	if drain := drainTime(t); err != nil || stop < drain+10*time.Second {
		t.Errorf("TimeoutStopSec is %v (%v), want ten seconds more than a drain, which takes %v", stop, err, drain)
	}
	for _, e := range has["Environment"] {
		if strings.Contains(e, "KEY") || strings.Contains(e, "TOKEN") {
			t.Errorf("a secret in the environment: %s", e)
		}
	}
	for _, c := range has["LoadCredential"] {
		if name, path, _ := strings.Cut(c, ":"); filepath.Base(path) != name {
			t.Errorf("credential %s: the file has another name", c)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // no systemd here
	}
	unit := filepath.Join(t.TempDir(), "spillway.service")
	text = strings.ReplaceAll(text, "/usr/local/lib/spillway/spillway", rig.Spillway(t)) // it must be there
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestLaunchdAgent: the example is XML with the keys that launchd needs, each with
// a value. macOS itself has not read it.
func TestLaunchdAgent(t *testing.T) {
	text := readFile(t, "deploy/dev.spillway.serve.plist")
	var elements, keys []string
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements = append(elements, e.Name.Local)
			if e.Name.Local == "key" {
				var key string
				if err := d.DecodeElement(&key, &e); err != nil {
					t.Fatal(err)
				}
				keys = append(keys, key)
			}
		}
	}
	for i, e := range elements {
		if e == "key" && (i+1 == len(elements) || elements[i+1] == "key") {
			t.Errorf("a key without a value: %q", elements)
		}
	}
	for _, want := range []string{"Label", "ProgramArguments", "RunAtLoad", "KeepAlive", "ExitTimeOut", "EnvironmentVariables"} {
		if !slices.Contains(keys, want) {
			t.Errorf("no key %s in %q", want, keys)
		}
	}
	m := regexp.MustCompile(`<key>ExitTimeOut</key>\s*<integer>(\d+)</integer>`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no time to end")
	}
	if stop, err := time.ParseDuration(m[1] + "s"); err != nil || stop < drainTime(t)+10*time.Second {
		t.Errorf("it has %v to end (%v)", stop, err)
	}
}

// namedTest is a test as a document names it.
var namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")

// TestClaimsAreTested: each test that the security page names is there.
func TestClaimsAreTested(t *testing.T) {
	there := map[string]bool{}
	declared := regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if m := declared.FindSubmatch(lines.Bytes()); m != nil {
				there[string(m[1])] = true
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, m := range namedTest.FindAllStringSubmatch(readFile(t, "deploy/SECURITY.md"), -1) {
		named++
		if !there[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(\\w+\\.txtar)`").FindAllStringSubmatch(readFile(t, "deploy/SECURITY.md"), -1) {
		if _, err := os.Stat(filepath.Join("testdata/script", m[1])); err != nil {
			t.Error(err)
		}
	}
	if named < 20 {
		t.Errorf("the page names %d tests", named)
	}
}
