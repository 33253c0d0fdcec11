package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"spillway/host/agent/tool"
)

func sh(t *testing.T, folder, config string) tool.Tool {
	t.Helper()
	all, err := Shell(json.RawMessage(config), folder, os.LookupEnv)
	return named(t, all, err, "shell")
}

func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}

func TestShell(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("SPILLWAY_TEST_LISTED", "seen")
	folder := t.TempDir()
	put(t, folder, map[string]string{"here.txt": ""})
	for name, c := range map[string]struct {
		command string
		want    string
		failed  bool
	}{
		"output":             {"echo hello; ls *.txt", "hello\nhere.txt\n", false},
		"no output":          {"true", "[no output]\n", false},
		"exit code":          {"echo oops >&2; exit 3", "oops\n[exit code 3]\n", true},
		"order":              {"echo 1; echo 2 >&2; echo 3; echo 4 >&2", "1\n2\n3\n4\n", false},
		"signal":             {"kill -9 $$", "[signal: killed]\n", true},
		"no such program":    {"nosuchprogram_x 2>/dev/null", "[exit code 127]\n", true},
		"no input":           {"cat; echo end", "end\n", false},
		"no last line end":   {"printf x; exit 1", "x\n[exit code 1]\n", true},
		"environment":        {`echo "$ANTHROPIC_API_KEY$SPILLWAY_TEST_LISTED"; test -n "$PATH"`, "seen\n", false},
		"not UTF-8":          {`printf 'a\377b'`, "a\uFFFDb\n", false},
		"empty":              {"  ", "command is empty", true},
		"fails, leaves one":  {"(sleep 60; echo late) & echo $! > pid; exit 3", "[a process that it started still runs, and its output is no longer read]\n[exit code 3]\n", true},
		"runs on, silent":    {"sleep 60 >/dev/null 2>&1 & echo $! > pid; echo begun", "begun\n", false},
		"runs on, and talks": {"(sleep 60; echo late) & echo $! > pid; echo begun", "begun\n[a process that it started still runs, and its output is no longer read]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := call(t, sh(t, folder, `{"env": ["SPILLWAY_TEST_LISTED"]}`), in{"command": c.command})
			if strings.Contains(c.command, "> pid") {
				pid, err := strconv.Atoi(strings.TrimSpace(get(t, filepath.Join(folder, "pid"))))
				if err != nil || syscall.Kill(pid, syscall.SIGTERM) != nil {
					t.Errorf("the process in the background is gone (%d, %v)", pid, err)
				}
			}
			if got != c.want || failed != c.failed {
				t.Errorf("got %q, failed %v; want %q", got, failed, c.want)
			}
		})
	}
}

// TestShellStopped: a command that takes too long, or whose agent is stopped, is
// ended with all its processes, even those that do not heed TERM.
func TestShellStopped(t *testing.T) {
	const stubborn = `echo begun; trap '' TERM; (trap '' TERM; echo $$ > group; touch ready; while :; do sleep 0.05; done) & wait; wait`
	for name, c := range map[string]struct {
		command string
		want    string
	}{
		"heeds TERM":    {"echo begun; echo $$ > group; touch ready; sleep 60", "begun\n\n[stopped"},
		"does not":      {stubborn, "begun\n\n[stopped"},
		"says goodbye":  {"trap 'echo bye; exit' TERM; echo begun; echo $$ > group; touch ready; sleep 60 & wait", "begun\nbye\n\n[stopped"},
		"many children": {"echo begun; echo $$ > group; for i in 1 2 3 4 5; do (sleep 60 & sleep 60) & done; touch ready; wait", "begun\n\n[stopped"},
	} {
		for _, how := range []string{"time limit", "cancelled"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				config := `{"timeoutMs": 60000}`
				if how == "time limit" {
					config = `{"timeoutMs": 700}`
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if how == "cancelled" {
					go func() {
						look := time.NewTicker(5 * time.Millisecond)
						defer look.Stop()
						for ctx.Err() == nil {
							<-look.C
							if _, err := os.Stat(filepath.Join(folder, "ready")); err == nil {
								cancel(errors.New("stop it"))
							}
						}
					}()
				}
				begun := time.Now()
				got, failed := callWith(ctx, t, sh(t, folder, config), in{"command": c.command})
				why := map[string]string{"time limit": "it took longer than 700ms", "cancelled": "before its end: stop it"}[how]
				if !strings.HasPrefix(got, c.want) || !strings.Contains(got, why) || !failed {
					t.Errorf("got %q, failed %v", got, failed)
				}
				if took := time.Since(begun); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
				group, err := strconv.Atoi(strings.TrimSpace(get(t, filepath.Join(folder, "group"))))
				if err != nil {
					t.Fatal(err)
				}
				// One that was killed does nothing any more, but on a busy machine it is
				// still listed until its turn comes to end.
				living, look := runs(t, group), time.NewTicker(10*time.Millisecond)
				defer look.Stop()
				for limit := time.Now().Add(10 * time.Second); len(living) > 0 && time.Now().Before(limit); living = runs(t, group) {
					<-look.C
				}
				if len(living) > 0 {
					t.Errorf("still run: %v", living)
				}
			})
		}
	}
}

// TestShellEscaped: a process that makes a group of its own is told of if it keeps
// the output open.
func TestShellEscaped(t *testing.T) {
	folder := t.TempDir()
	got, failed := call(t, sh(t, folder, `{"timeoutMs": 500}`), in{"command": "setsid sh -c 'echo $$ > pid; sleep 60' & echo begun; sleep 60"})
	pid, err := strconv.Atoi(strings.TrimSpace(get(t, filepath.Join(folder, "pid"))))
	if err != nil || syscall.Kill(-pid, syscall.SIGKILL) != nil {
		t.Errorf("no such process %d, %v", pid, err)
	}
	if !failed || !strings.Contains(got, "but for one that has left their group, and still runs") {
		t.Errorf("got %q", got)
	}
}

// runs are the processes of a group that are not merely waiting to be buried.
func runs(t *testing.T, group int) (living []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		f := strings.Fields(rest) // state, parent, group
		if len(f) > 2 && f[0] != "Z" && f[0] != "X" && f[2] == strconv.Itoa(group) {
			living = append(living, path)
		}
	}
	return living
}

// TestShellBounded: the beginning and the end of a long output are kept.
func TestShellBounded(t *testing.T) {
	got, failed := call(t, sh(t, t.TempDir(), `{"maxOutput": 1000}`), in{"command": "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"})
	if failed || len(got) > 1100 || !strings.HasPrefix(got, "line 0\nline 1\n") || !strings.HasSuffix(got, "line 1998\nline 1999\n") || !strings.Contains(got, "bytes left out …]") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestShellLimit(t *testing.T) {
	one := sh(t, t.TempDir(), `{"timeoutMs": 60000}`)
	if got, failed := call(t, one, in{"command": "sleep 60", "timeout_ms": 50}); !failed || !strings.Contains(got, "longer than 50ms") {
		t.Errorf("got %q", got)
	}
	ctx, cancel := cancelled(t)
	defer cancel()
	if _, err := one.Run(ctx, tool.Call{Input: json.RawMessage(`{"command": "touch never"}`)}); !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v", err)
	}
}

func TestShellNotRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	one := sh(t, folder, "")
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Run(t.Context(), tool.Call{Input: json.RawMessage(`{"command": "true"}`)}); !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v", err)
	}
}

func TestEnds(t *testing.T) {
	for _, pieces := range [][]string{
		{"abcdefghij"}, {"abcdefghijk"}, {"abc", "defghij", "k"}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"},
		{"abcde", "fghij", "klmno"}, {strings.Repeat("x", 100), "klmno"}, {""}, {"abcdefgh", "ijklmnopqrstuvw", "xyz"},
	} {
		e, whole := newEnds(10), ""
		for _, p := range pieces {
			if n, err := e.Write([]byte(p)); n != len(p) || err != nil {
				t.Error(n, err)
			}
			whole += p
		}
		want := whole
		if n := len(whole); n > 10 {
			want = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", whole[:5], n-10, whole[n-5:])
		}
		if got := e.String(); got != want {
			t.Errorf("%q: got %q, want %q", pieces, got, want)
		}
	}
}

func TestListed(t *testing.T) {
	allow := []string{"git status", "ls", "go test"}
	for command, want := range map[string]bool{
		"ls": true, "ls -la src": true, "git status": true, "  git\tstatus  -s": true, "git  status": true, `git "status"`: true,
		`ls 'a;b' "c|d"`: true, "ls *.go": true, "go test ./... -run 'A|B'": true, `ls "it's"`: true,
		"": false, "git": false, "git push": false, "lsof": false, "LS": false, "./ls": false, "X=1 ls": false, "git statusx": false,
		"ls; rm x": false, "ls && rm x": false, "ls | sh": false, "ls & rm x": false, "ls > x": false, "ls < x": false, "ls $(rm x)": false,
		"ls `rm x`": false, `ls "$(rm x)"`: false, "ls $HOME": false, "ls\nrm x": false, "ls\rrm x": false, "ls \\\nrm": false, `ls "a`: false, "ls 'a": false,
		"(ls)": false, `ls "\$x"`: false, "ls \x00": false, "ls\u00a0x": false, "'ls x'": false, "ls 'a\nb'": false, "ls \xff": false,
	} {
		if got := listed(command, allow); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
	if listed("anything", []string{""}) || listed("anything", []string{"  "}) {
		t.Error("an empty entry allows everything")
	}
}

func TestShellConfirm(t *testing.T) {
	for _, c := range []struct {
		policy, command string
		ask             bool
	}{
		{"always", "ls", true}, {"never", "rm -rf x", false}, {"unlisted", "ls -l", false}, {"unlisted", "rm x", true},
	} {
		one := sh(t, t.TempDir(), fmt.Sprintf(`{"confirm": %q, "allow": ["ls"]}`, c.policy)).(tool.Confirmer)
		input, err := json.Marshal(in{"command": c.command + "\n" + "\x1b[2J" + strings.Repeat("x", 5000)})
		if err != nil {
			t.Fatal(err)
		}
		if c.policy == "unlisted" && !c.ask {
			input = json.RawMessage(fmt.Sprintf(`{"command": %q}`, c.command))
		}
		what, ask := one.Confirm(input)
		if ask != c.ask || !strings.HasPrefix(what, "run: "+c.command) || strings.ContainsAny(what, "\n\x1b") || len(what) > maxAsked+100 {
			t.Errorf("%v: %q, %v", c, what, ask)
		}
	}
}

// FuzzListed asks a real shell: a command that nobody is asked about starts the
// listed program once and nothing else.
func FuzzListed(f *testing.F) {
	for _, seed := range []string{"probe a", "probe 'a b' \"c\"", "probe; probe", "probe $(probe)", "probe {a,b}", "probe ~ * # x", "! probe", "probe\tx=y", "probe \u2028", "probe =x !!"} {
		f.Add(seed)
	}
	folder := f.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "probe"), []byte("#!/bin/sh\necho probed\n"), 0o755); err != nil {
		f.Fatal(err)
	}
	work := filepath.Join(folder, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		f.Fatal(err)
	}
	lookup := func(name string) (string, bool) { return folder, name == "PATH" }
	all, err := Shell(nil, work, lookup)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if !listed(command, []string{"probe"}) {
			return
		}
		raw, err := json.Marshal(in{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		r, err := all[0].Run(t.Context(), tool.Call{Input: raw})
		if err != nil || r.Parts[0].Text != "probed\n" {
			t.Errorf("%q: %v, %v", command, r, err)
		}
		if left, _ := os.ReadDir(work); len(left) > 0 {
			t.Errorf("%q wrote %v", command, left)
		}
	})
}

// TestShellBareRepository: files that look like a repository of git make no command
// run.
func TestShellBareRepository(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{
		"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch ran; false\"\n",
	})
	call(t, sh(t, folder, ""), in{"command": "git status"})
	if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
		t.Error("the command of a file ran")
	}
}
