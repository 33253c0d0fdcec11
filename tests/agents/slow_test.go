package agents

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slow are the agents that are too heavy for every test run.
var slow = []agent{
	opencode("openai-compatible"),
	opencode("anthropic"),
	dsh,
	qwen,
	router,
}

// opencode speaks what the provider package speaks that it is told to use.
func opencode(pkg string) agent {
	return agent{
		name: "opencode " + pkg, shell: shell{tool: "bash", argument: "command"}, sticky: true, onBreak: repeats, aside: 2,
		names: []string{"registry.npmjs.org."},
		command: func(p *place) (argv, env []string) {
			p.write(filepath.Join(p.dir, "opencode.json"), fmt.Sprintf(`{
  "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "model": "spillway/auto",
  "provider": {"spillway": {
    "npm": "@ai-sdk/%s", "name": "spillway", "options": {"baseURL": "%s/v1", "apiKey": "%s"},
    "models": {"auto": {"name": "spillway", "limit": {"context": 200000, "output": 8192}}}
  }}
}`, pkg, p.url, clientKey))
			return []string{p.native("opencode", "bin/opencode"), "run", prompt}, []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_SHARE=1",
			}
		},
	}
}

// dsh is DeepSeek's own agent. It chooses the model itself.
var dsh = agent{
	name: "dsh", shell: shell{tool: "bash", argument: "command", further: `,"description":"reads the report"`}, sticky: true, onBreak: repeats, aside: 2,
	command: func(p *place) (argv, env []string) {
		return []string{p.node(), p.module("@deepseek-ai/dsh/lib/bin.js"), "--profile", "headless", prompt},
			[]string{"DEEPSEEK_BASE_URL=" + p.url, "DEEPSEEK_API_KEY=" + clientKey, "DSH_HOME=" + filepath.Join(p.home, ".dsh")}
	},
}

var qwen = agent{
	name:    "qwen",
	shell:   shell{tool: "run_shell_command", argument: "command", after: " Error: (none) Exit Code: 0 Signal: (none) Process Group PGID: (none)"},
	onBreak: resumes, aside: 2,
	command: func(p *place) (argv, env []string) {
		p.write(".qwen/settings.json", `{
  "security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": false}, "privacy": {"usageStatisticsEnabled": false},
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}
}`)
		return []string{p.node(), p.module("@qwen-code/qwen-code/cli-entry.js"), "-p", prompt, "--yolo"},
			[]string{"OPENAI_BASE_URL=" + p.url + "/v1", "OPENAI_API_KEY=" + clientKey, "OPENAI_MODEL=auto"}
	},
}

// router is Claude Code with claude-code-router between it and the gateway.
var router = agent{
	name: "claude through claude-code-router", shell: claude.shell, onBreak: repeats,
	command: func(p *place) (argv, env []string) {
		address := freeAddress(p.t)
		_, port, _ := net.SplitHostPort(address)
		p.write(".claude-code-router/config.json", fmt.Sprintf(`{
  "HOST": "127.0.0.1", "PORT": %s, "LOG": false, "NON_INTERACTIVE_MODE": true,
  "Providers": [{"name": "spillway", "api_base_url": "%s/v1/chat/completions", "api_key": "%s", "models": ["auto"]}],
  "Router": {"default": "spillway,auto"}
}`, port, p.url, clientKey))
		p.serve(address, p.node(), p.module("@musistudio/claude-code-router/dist/cli.js"), "start")
		front := *p
		front.url = "http://" + address
		return claude.command(&front)
	},
}

// freeAddress is an address of loopback at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startTime is far more than a server takes to listen.
const startTime = time.Minute

// serve starts a server for the rest of the test and waits until it listens.
func (p *place) serve(address string, argv ...string) {
	p.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.clean()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			p.t.Error(err)
		}
		if p.t.Failed() {
			p.t.Logf("output of %q:\n%s", argv, &out)
		}
	})
	deadline := time.After(startTime)
	for tick := time.Tick(20 * time.Millisecond); ; {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick:
		case <-deadline:
			p.t.Fatalf("%q does not listen at %s", argv, address)
		}
	}
}
