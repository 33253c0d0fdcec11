package supervisor_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"spillway/host/supervisor"
	"spillway/sdk"
)

// quiet are options without a binary.
func quiet() (supervisor.Options, *logs) {
	l := &logs{}
	return supervisor.Options{
		Entry: "guest", Config: []byte("{}"), Log: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, l
}

// options are those of the guest in a mode.
func options(t *testing.T, mode string) (supervisor.Options, *logs) {
	o, l := quiet()
	o.Binary = binary(t, mode)
	return o, l
}

// TestStartErrors: what does not become a plugin is told by its file, what is
// wrong and what to do, within the limit, and leaves no process.
func TestStartErrors(t *testing.T) {
	const (
		hint  = "(is it a plugin? its main calls serve.Main)"
		short = 400 * time.Millisecond // of one step
		long  = 4 * time.Second        // of one step, where others must succeed before
		bound = 15 * time.Second       // of all of it, with every case at once
	)
	sh := func(line string) string { return "#!/bin/sh\n" + line + "\n" }
	tests := []struct {
		name, mode string // of the guest, unless there is a file
		file       string
		want       string // behind the file's path
	}{
		{"silent", "", sh("exit 0"), "does not start as a plugin: ended with exit status 0 before it said where it listens " + hint},
		{"exits", "exits", "", "does not start as a plugin: ended with exit status 3 before it said where it listens " + hint + `; its last line: "no licence found"`},
		{"panics", "panics", "", "does not start as a plugin: ended with exit status 2 before it said where it listens " + hint + `; its last line: "panic: boom"`},
		{"killed", "", sh("kill -9 $$"), "does not start as a plugin: ended with signal: killed before"},
		{"text", "", "hello\n", "does not start as a plugin: is no program for this machine (allowed: one for " + runtime.GOOS + "/" + runtime.GOARCH + ", a script that begins with #!)"},
		{"empty", "", "", "does not start as a plugin: is no program for this machine"},
		{"of another machine", "", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xf3\x00" + strings.Repeat("\x00", 44), "does not start as a plugin: is no program for this machine"},
		{"without its interpreter", "", "#!/nowhere/sh\n", "does not start as a plugin: what its first line (#!) or its header names to run it with is not there"},
		{"another version", "", sh("echo '1|9|unix|/x|grpc|'; exec tail -n 0 -f \"$0\""), "speaks version 9 of the plugin protocol (allowed: 1); build it anew with this version's sdk"},
		{"another core", "", sh("echo '2|1|unix|/x|grpc|'; exec tail -n 0 -f \"$0\""), "speaks version 2 of go-plugin's protocol (allowed: 1); build it anew with this version's sdk"},
		{"another protocol", "", sh("echo '1|1|unix|/x|netrpc|'; exec tail -n 0 -f \"$0\""), `does not speak gRPC but "netrpc|" (allowed: grpc)`},
		{"nobody listens", "", sh("echo '1|1|unix|/nowhere/socket|grpc|'; exec tail -n 0 -f \"$0\""), "cannot be reached where it listens: "},
		{"says nothing", "", sh("echo I wait >&2; exec tail -n 0 -f \"$0\""), "does not start as a plugin: said nothing of where it listens within 400ms " + hint + `; its last line: "I wait"`},
		{"says nothing and keeps its grandchild", "", sh("tail -n 0 -f \"$0\" & exec tail -n 0 -f \"$0\""), "does not start as a plugin: said nothing of where it listens within 400ms"},
		{"does not describe itself", "undescribed", "", "did not say within 4s what it is"},
		{"is not configured", "unconfigured", "", "did not take its configuration within 4s"},
		{"ends while it is configured", "deserts", "", `ended with exit status 4 while it was configured; its last line: "I do not like this"`},
		{"too large a manifest", "huge", "", "has too large a manifest (allowed: 1048576 bytes)"},
		{"nonsense in the manifest", "nonsense", "", `says nonsense in its manifest: hook.onDown: got "never" (allowed: bypass, wait, fail)`},
		{"panics in its manifest", "undescribable", "", "ended with exit status 2 before it said what it is; its last line: \"panic: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, _ := quiet()
			if tt.mode != "" {
				o.Binary = binary(t, tt.mode)
			} else {
				source := filepath.Join(t.TempDir(), "guest")
				if err := os.WriteFile(source, []byte(tt.file), 0o755); err != nil {
					t.Fatal(err)
				}
				o.Binary = install(t, source, filepath.Join(t.TempDir(), "copies"))
			}
			for _, limit := range []time.Duration{short, long} {
				if strings.Contains(tt.want, "within "+limit.String()) {
					o.StartTimeout = limit
				}
			}
			began := time.Now()
			_, err := supervisor.Start(t.Context(), o)
			if want := `plugin "guest": ` + o.Binary.Source + " " + tt.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if took := time.Since(began); took > bound {
				t.Errorf("took %s", took)
			}
			noProcess(t, o.Binary.Path)
		})
	}
}

// noProcess waits until nothing runs a copy or what it began.
func noProcess(t *testing.T, path string) {
	t.Helper()
	wait(t, "no process is left", func() bool {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range lines {
			if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), path) {
				return false
			}
		}
		return true
	})
}

func TestRefusals(t *testing.T) {
	t.Run("bad configuration", func(t *testing.T) {
		o, _ := options(t, "")
		o.Config = []byte(`{"x":"bad"}`)
		_, err := supervisor.Start(t.Context(), o)
		if f, ok := errors.AsType[sdk.Faults](err); !ok || f[0].Path != "x" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("refused manifest", func(t *testing.T) {
		o, _ := options(t, "")
		o.Check = func(sdk.Manifest) error { return errors.New("schema says no") }
		if _, err := supervisor.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "schema says no") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the copy is gone", func(t *testing.T) {
		o, _ := options(t, "")
		if err := os.Remove(o.Binary.Path); err != nil {
			t.Fatal(err)
		}
		_, err := supervisor.Start(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "its copy "+o.Binary.Path+" is gone: start the host anew") {
			t.Errorf("got %v", err)
		}
	})
}
