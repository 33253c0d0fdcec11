package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"spillway/host/profile"
	"spillway/sdk"
)

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.b.Bytes())
}

// TestKeysStayInTheHost makes calls that fail in every way near a key, and then
// looks for the key everywhere it must not be: the plugin's whole memory, which
// holds its environment and every frame it got, the log, errors, records and
// the state folder.
func TestKeysStayInTheHost(t *testing.T) {
	t.Setenv("SOME_VENDOR_API_KEY", canary)
	log := &buffer{}
	s := vendors(t, 12, 0, map[string]string{
		"anthropic":   "invalid-key; auth; 401; reset; 500; hang; repeat",
		"kimi-coding": "ban; quota; refuse",
		"deepseek":    "error-event=3; 400; ok; repeat",
	})
	rt := open(t, rows(s)+`- id: failover
  name: failover
  config:
    priority: [anthropic/m, kimi-coding/m, deepseek/m]
    failureThreshold: 1000
    cooldownMs: 1
    maxCooldownMs: 1
    transientCooldownMs: 1
    keys: {cooldownMs: 1, maxCooldownMs: 1}
    halts: {cooldownMs: 1, maxCooldownMs: 1, rateMs: 1}
    budget: {maxSameTargetAttempts: 1, firstContentMs: 100}
`, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))

	var told bytes.Buffer
	for range 12 {
		text, f, id := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
		rec, err := rt.Records().Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		_ = json.NewEncoder(&told).Encode(rec)
		fmt.Fprintf(&told, "%s %v %+v\n", text, f, f)
	}
	statuses, err := rt.Statuses(t.Context())
	fmt.Fprintf(&told, "%+v %v %+v %+v\n", statuses, err, rt.Graph().Plugins(), rt.Graph().Entries())

	pid := rt.Graph().Plugins()[0].PID
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][]byte{"the plugin's environment": env, "the log": log.Bytes(), "records, errors and status": told.Bytes()}
	state := os.DirFS(filepath.Join(rt.Dir(), profile.StateDir))
	err = fs.WalkDir(state, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			places["state file "+path], err = fs.ReadFile(state, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, data := range places {
		if len(data) == 0 {
			t.Errorf("%s: nothing there to search", place)
		}
		if bytes.Contains(data, []byte(canary)) {
			t.Errorf("the key is in %s", place)
		}
	}
	if !bytes.Contains(told.Bytes(), []byte(`"SERVER"`)) {
		t.Error("the calls have not met every failure of the script")
	}
	if !inMemory(t, pid, "kimi-coding") { // the catalogue stays there
		t.Error("the search of the plugin's memory finds nothing at all")
	}
	if inMemory(t, pid, canary) {
		t.Error("the key is in the plugin's memory: a frame or its environment brought it there")
	}
}

// inMemory searches the writable memory of a process.
func inMemory(t *testing.T, pid, what string) bool {
	t.Helper()
	maps, err := os.Open("/proc/" + pid + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	mem, err := os.Open("/proc/" + pid + "/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	lines := bufio.NewScanner(maps)
	buf := make([]byte, 1<<20)
	for lines.Scan() {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") {
			continue
		}
		// The race detector reserves terabytes that nobody has touched.
		if to-from > 1<<30 {
			continue
		}
		for at := from; at < to; at += int64(len(buf) - len(what)) {
			n, _ := mem.ReadAt(buf[:min(int64(len(buf)), to-at)], at)
			if bytes.Contains(buf[:n], []byte(what)) {
				return true
			}
			if n == 0 {
				break
			}
		}
	}
	return false
}
