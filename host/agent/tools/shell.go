package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"spillway/host/agent/tool"
)

const maxCommand = 64 << 10 // bytes

// seen are the variables that commands see in any case.
var seen = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR",
	"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME",
}

// noBareRepository has git pass over folders that merely look like a repository: files
// of a working folder, which nobody is asked about, would else be a configuration by
// which a harmless command of git runs another.
var noBareRepository = [...]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit"}

// Shell is the tool of a tools-shell row. Lookup reads the environment as
// os.LookupEnv does.
func Shell(config json.RawMessage, folder string, lookup func(string) (string, bool)) ([]tool.Tool, error) {
	c := struct {
		Confirm   string   `json:"confirm"`
		Allow     []string `json:"allow"`
		TimeoutMs int64    `json:"timeoutMs"`
		MaxOutput int      `json:"maxOutput"`
		Env       []string `json:"env"`
	}{Confirm: confirmUnlisted, TimeoutMs: 120_000, MaxOutput: 64 << 10}
	if err := configure(config, &c); err != nil {
		return nil, err
	}
	p, err := openPlace(folder, 0)
	if err != nil {
		return nil, err
	}
	s := &shell{
		folder: p.real, confirm: c.Confirm, allow: c.Allow, maxOutput: c.MaxOutput,
		timeout: time.Duration(c.TimeoutMs) * time.Millisecond,
		env:     append([]string{"PWD=" + p.real}, noBareRepository[:]...),
	}
	for _, name := range slices.Concat(seen[:], c.Env) {
		if value, ok := lookup(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	return []tool.Tool{s}, nil
}

type shell struct {
	folder    string
	confirm   string
	allow     []string
	timeout   time.Duration
	maxOutput int
	env       []string
}

var _ tool.Confirmer = (*shell)(nil)

func (s *shell) Spec() tool.Spec {
	return tool.Spec{
		Name: "shell", Effect: tool.Write,
		Description: fmt.Sprintf("Runs a command with sh -c in the working folder, and returns its output and exit code. It has no input and no terminal, and is stopped after %v. A process that shall go on must be started in the background with its output sent to a file.", s.timeout),
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["command"], "properties": {
			"command": {"type": "string", "description": "the command"},
			"timeout_ms": {"type": "integer", "minimum": 1, "description": "a shorter time limit, in milliseconds"}}}`),
	}
}

type shellInput struct {
	Command   string `json:"command"`
	TimeoutMs int64  `json:"timeout_ms"`
}

func readShell(input json.RawMessage) (in shellInput, err error) {
	err = read(input, &in)
	switch {
	case err != nil:
	case strings.TrimSpace(in.Command) == "":
		err = errors.New("command is empty")
	case len(in.Command) > maxCommand:
		err = fmt.Errorf("command has %d bytes (allowed: %d); write a script with write_file", len(in.Command), maxCommand)
	case strings.ContainsRune(in.Command, 0):
		err = errors.New("command has a zero byte")
	case in.TimeoutMs < 0:
		err = fmt.Errorf("timeout_ms %d is negative", in.TimeoutMs)
	}
	return in, err
}

func (s *shell) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	in, err := readShell(c.Input)
	if err != nil {
		return failure(err)
	}
	if ctx.Err() != nil {
		return tool.Result{}, notRun(context.Cause(ctx))
	}
	timeout := s.timeout
	if in.TimeoutMs > 0 {
		timeout = min(timeout, time.Duration(min(in.TimeoutMs, s.timeout.Milliseconds()))*time.Millisecond)
	}
	p, err := start(s.command(in.Command), newEnds(s.maxOutput))
	if err != nil {
		return tool.Result{}, notRun(err)
	}
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	select {
	case <-p.done:
		return p.ended()
	case <-limit.C:
		return p.stopped(fmt.Sprintf("stopped: it took longer than %v", timeout)), nil
	case <-ctx.Done():
		return p.stopped(fmt.Sprintf("stopped before its end: %v", context.Cause(ctx))), nil
	}
}

func (s *shell) command(text string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir, cmd.Env = s.folder, s.env
	cmd.SysProcAttr = ownGroup()
	return cmd
}
