package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"spillway/host/agent/mcp"
	"spillway/host/agent/tool"
)

func TestEverything(t *testing.T) {
	t.Parallel()
	r := program(t, "server-everything")
	r["env"] = row{"EXAMPLE": "of the row"}
	everything(t, r)
}

func TestEverythingOverHTTP(t *testing.T) {
	t.Parallel()
	everything(t, row{"url": serve(t), "startTimeoutMs": 60_000})
}

// everything uses what the server has of each kind.
func everything(t *testing.T, r row) {
	dir := folder(t)
	r["timeoutMs"] = 20_000
	s := open(t, "all", dir, r)
	for _, tt := range []struct {
		tool  string
		input row
		want  string
	}{
		{"all__echo", row{"message": "hello"}, "Echo: hello"},
		{"all__get-sum", row{"a": 2, "b": 3}, "The sum of 2 and 3 is 5."},
		{"all__get-tiny-image", row{}, "<image image/png>"},
		{"all__get-structured-content", row{"location": "New York"}, `"temperature":33`},
		{"all__get-resource-reference", row{"resourceType": "Text", "resourceId": 1}, "Resource 1: This is a plaintext resource"},
		{"all__get-resource-links", row{"count": 1}, "demo://resource/dynamic/"},
	} {
		if got := textOf(use(t.Context(), t, s, tt.tool, tt.input)); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q in it", tt.tool, got, tt.want)
		}
	}
	// Only what the row gives is in the environment of a program.
	if _, ok := r["command"]; ok {
		got := textOf(use(t.Context(), t, s, "all__get-env", row{}))
		if !strings.Contains(got, "of the row") || strings.Contains(got, "GOCOVERDIR") || strings.Contains(got, "OLDPWD") {
			t.Errorf("get-env: %s", got)
		}
	}
	// What nobody here can do for a server is not offered.
	for _, one := range s.Tools() {
		if name := one.Spec().Name; strings.Contains(name, "elicitation") || strings.Contains(name, "sampling") {
			t.Errorf("the server has %s", name)
		}
	}
	if res := use(t.Context(), t, s, "all__echo", row{"message": 7}); !res.Error {
		t.Errorf("echo of a number: %q, want a failure", textOf(res))
	}
	slow(t, s)
}

// slow cancels a call in its middle. The server goes on serving.
func slow(t *testing.T, s *mcp.Server) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	long := named(t, s, "all__trigger-long-running-operation")
	_, err := long.Run(ctx, tool.Call{Input: marshal(t, row{"duration": 3, "steps": 1})})
	if err == nil || errors.Is(err, tool.ErrNotRun) || !strings.Contains(err.Error(), "its outcome is not known") {
		t.Errorf("got %v", err)
	}
	if got := textOf(use(t.Context(), t, s, "all__echo", row{"message": "still here"})); got != "Echo: still here" {
		t.Errorf("got %q", got)
	}
}

// tellPort makes a Node program print the port on which it listens.
const tellPort = `data:text/javascript,` +
	`import net from "node:net";` +
	`const listen = net.Server.prototype.listen;` +
	`net.Server.prototype.listen = function (...args) {` +
	` this.on("listening", () => console.log("port", this.address().port));` +
	` return listen.apply(this, args);` +
	`};`

// serve starts the server on the network and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	args := program(t, "server-everything", "streamableHttp")["args"].([]string)
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"--import", tellPort}, args...)...)
	cmd.Env = append(cmd.Environ(), "PORT=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var port int
		if n, _ := fmt.Sscanf(lines.Text(), "port %d", &port); n == 1 {
			reading.Go(func() { // it is not to wait for a reader
				for lines.Scan() {
				}
			})
			return fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
		}
	}
	t.Fatal("the server told no port")
	return ""
}
