package agents

import "fmt"

// quick are the agents that a test run can wait for.
var quick = []agent{
	claude,
	codex,
	pi("openai-completions", "/v1", false),
	pi("openai-responses", "/v1", true),
	pi("anthropic-messages", "", false),
}

var claude = agent{
	name: "claude", shell: shell{tool: "Bash", argument: "command"}, sticky: true, onBreak: repeats,
	command: func(p *place) (argv, env []string) {
		argv = []string{
			p.node(), p.module("@anthropic-ai/claude-code/cli-wrapper.cjs"),
			"-p", prompt, "--allowedTools", "Bash", "--model", "claude-sonnet-5",
		}
		env = []string{
			"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=" + clientKey,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
			"CLAUDE_CODE_TMPDIR=" + p.home, // else a folder below /tmp that must be its user's
		}
		return argv, env
	},
}

var codex = agent{
	name: "codex", shell: shell{tool: "exec_command", argument: "cmd"}, sticky: true, onBreak: repeats,
	command: func(p *place) (argv, env []string) {
		p.write(".codex/config.toml", fmt.Sprintf(`model = "auto"
model_provider = "spillway"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.spillway]
name = "spillway"
base_url = "%s/v1"
env_key = "SPILLWAY_KEY"
wire_api = "responses"
`, p.url))
		argv = []string{
			p.node(), p.module("@openai/codex/bin/codex.js"),
			"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt,
		}
		return argv, []string{"SPILLWAY_KEY=" + clientKey}
	},
}

// pi speaks each of the three protocols; path is what follows the gateway's
// address there.
func pi(api, path string, sticky bool) agent {
	return agent{
		name: "pi " + api, shell: shell{tool: "bash", argument: "command"}, sticky: sticky,
		command: func(p *place) (argv, env []string) {
			p.write(".pi/agent/models.json", fmt.Sprintf(`{"providers": {"spillway": {
  "baseUrl": "%s%s", "api": "%s", "apiKey": "SPILLWAY_KEY",
  "models": [{
    "id": "auto", "name": "spillway", "reasoning": false, "input": ["text"], "contextWindow": 200000, "maxTokens": 8192,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
  }]
}}}`, p.url, path, api))
			argv = []string{
				p.node(), p.module("@mariozechner/pi-coding-agent/dist/cli.js"),
				"-p", "--provider", "spillway", "--model", "auto", "--no-session", prompt,
			}
			return argv, []string{"SPILLWAY_KEY=" + clientKey, "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}
		},
	}
}
