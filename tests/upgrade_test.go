package tests

import (
	"database/sql"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/host/sim"
	"spillway/host/sqlite"
	"spillway/tests/internal/rig"
)

// older puts the state of testdata/upgrade into a profile of two vendors. Its
// circuits were stored when stateTime was; they are moved to now, else they would
// have ended.
func older(t *testing.T) (dir string, env []string, vendors *sim.Server) {
	t.Helper()
	vendors = rig.Vendors(t, sim.Vendor{Name: "anthropic", Script: "ok"}, sim.Vendor{Name: "deepseek", Script: "ok"})
	rows, env := rig.Providers(vendors, "anthropic", "openai")
	dir = rig.Profile(t, rows+"- {id: failover, name: failover, config: {priority: [anthropic/claude-sonnet-5, deepseek/deepseek-flash]}}\n")
	state := filepath.Join(dir, "state")
	if err := os.CopyFS(state, os.DirFS("testdata/upgrade/state")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(state, 0o700); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, filepath.Join(state, "spillway.db"))
	defer db.Close()
	moved := time.Since(stateTime)
	var data []byte
	const where = " FROM items WHERE key = 'item/failover/circuit/anthropic'"
	if err := db.QueryRow("SELECT data" + where).Scan(&data); err != nil {
		t.Fatal(err)
	}
	data = regexp.MustCompile(`\b\d{13}\b`).ReplaceAllFunc(data, func(ms []byte) []byte {
		n, err := strconv.ParseInt(string(ms), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.AppendInt(nil, n+moved.Milliseconds(), 10)
	})
	if _, err := db.Exec("UPDATE items SET data = ?, expires = expires + ? WHERE key = 'item/failover/circuit/anthropic'", data, moved.Milliseconds()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE records SET started = started + ?", moved.Microseconds()); err != nil {
		t.Fatal(err)
	}
	return dir, env, vendors
}

// stateTime is when the circuit of testdata/upgrade was stored.
var stateTime = time.UnixMilli(1796056269475)

func openDB(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(file, nil))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestUpgrade: a program finds in the state of the oldest one what that knew: who
// is out, what happened, what was said, and what nobody knows.
func TestUpgrade(t *testing.T) {
	dir, env, vendors := older(t)
	s := rig.ServeProfile(t, dir, env...)
	resp, err := http.Post(s.URL+"/v1/messages", "application/json",
		strings.NewReader(`{"model":"anthropic/claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("X-Spillway-Route"); got != "deepseek/deepseek-flash" {
		t.Errorf("served by %q, status %d: the older program had seen that anthropic is out", got, resp.StatusCode)
	}
	if n := len(vendors.Vendor("anthropic").Calls()); n != 0 {
		t.Errorf("anthropic was asked %d times", n)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"status"}, `anthropic +paused`},
		{[]string{"explain", "req_shhscowdss74awmf7ht3"}, `(?s)anthropic/claude-sonnet-5.*out of quota.*deepseek/deepseek-flash`},
		{[]string{"session", "list"}, `s-kvf536trxh.*write done to out`},
		{[]string{"session", "show", "s-kvf536trxh"}, `The tool told anthropic`},
		{[]string{"ledger"}, `unknown +shell`},
	} {
		if out := rig.Run(t, s.Command(tt.args...)); !regexp.MustCompile(tt.want).MatchString(out) {
			t.Errorf("%q: no %q in\n%s", tt.args, tt.want, out)
		}
	}
	s.Stop()
	if log := s.Log(); strings.Contains(log, "ignored") {
		t.Errorf("something of the older state was not taken:\n%s", log)
	}
}

// TestDowngrade: an older program than the one that wrote a file says so, and
// changes nothing in it.
func TestDowngrade(t *testing.T) {
	dir, env, _ := older(t)
	state := filepath.Join(dir, "state")
	const session = "sessions/s-kvf536trxh.jsonl"
	for _, name := range []string{"spillway.db", "tools.db"} {
		db := openDB(t, filepath.Join(state, name))
		if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	lines := file(t, state, session)
	if err := os.WriteFile(filepath.Join(state, session), []byte(strings.Replace(lines, `"version":1`, `"version":99`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"spillway.db", "tools.db", session}
	before := map[string]string{}
	for _, name := range names {
		before[name] = file(t, state, name)
	}
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"}, {"status"}, {"ledger"}, {"session", "show", "s-kvf536trxh"},
	} {
		cmd := exec.Command(rig.Spillway(t), append(args, "--profile", dir+"/")...)
		cmd.Env = append(env, "HOME="+dir, "SPILLWAY_HOME="+dir, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "written by a newer spillway") || !strings.Contains(string(out), "99") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	for _, name := range names {
		if file(t, state, name) != before[name] {
			t.Errorf("%s was changed", name)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(state, "*corrupt*")); len(all) > 0 {
		t.Errorf("a newer file was set aside: %q", all)
	}
}

// file is what a file below dir holds.
func file(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
