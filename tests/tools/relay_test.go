package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// relayEnv makes the test binary a relay: its arguments are the command of an MCP
// server, its value the tool whose replies are lost.
const relayEnv = "SPILLWAY_TEST_RELAY"

// losing puts a relay between the agent and a server: the server answers calls of
// tool, and the relay ends instead of passing that on.
func losing(t *testing.T, r row, tool string) row {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r["args"] = append([]string{r["command"].(string)}, r["args"].([]string)...)
	r["command"], r["env"] = self, row{relayEnv: tool}
	return r
}

// relay passes messages between its own standard streams and a server's.
func relay(losing string, command []string) int {
	server := exec.Command(command[0], command[1:]...)
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	if err != nil {
		return 1
	}
	stdout, err := server.StdoutPipe()
	if err != nil || server.Start() != nil {
		return 1
	}
	var lost sync.Map // ids of the calls whose replies are lost
	go func() {
		defer stdin.Close()
		for in := bufio.NewReader(os.Stdin); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var req struct {
				ID     json.RawMessage
				Method string
				Params struct{ Name string }
			}
			if json.Unmarshal(line, &req) == nil && req.Method == "tools/call" && req.Params.Name == losing {
				lost.Store(string(req.ID), true)
			}
			if _, err := stdin.Write(line); err != nil {
				return
			}
		}
	}()
	for out := bufio.NewReader(stdout); ; {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var reply struct{ ID, Result json.RawMessage }
		if json.Unmarshal(line, &reply) == nil && reply.Result != nil {
			if _, ok := lost.Load(string(bytes.TrimSpace(reply.ID))); ok {
				return 7
			}
		}
		if _, err := os.Stdout.Write(line); err != nil {
			return 1
		}
	}
}
