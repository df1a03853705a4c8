package cli

import (
	"encoding/json"
	"fmt"
)

func claudePreset() Preset {
	return Preset{
		Name: "claude", Program: "claude", Title: "Claude Code", Way: Stdin, Parser: newClaude, SchemaArg: true, CostTold: true,
		Args: func(c Call) []string {
			args := []string{"-p", "--output-format", "stream-json", "--verbose"}
			switch c.Access {
			case Read:
				args = append(args, "--permission-mode", "dontAsk", "--allowedTools", "Read,Glob,Grep")
			case Full:
				args = append(args, "--dangerously-skip-permissions")
			default:
				args = append(args, "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Read,Edit,Write,Glob,Grep")
			}
			args = flag(args, "--model", c.Model)
			args = flag(args, "--json-schema", c.Inline)
			return append(args, c.More...)
		},
		Quiet: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1"},
		Pass:  []string{"ANTHROPIC_*", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_*", "AWS_*", "GOOGLE_APPLICATION_CREDENTIALS"},
		Write: []string{".claude", ".cache/claude-cli-nodejs"}, WriteFiles: []string{".claude.json"}, WriteEnv: []string{"CLAUDE_CONFIG_DIR"},
		Keep:   []string{".claude/settings.json", ".claude/hooks/", ".claude/plugins/", ".claude/commands/", ".claude/agents/", ".claude/skills/", ".claude/CLAUDE.md"},
		Status: []string{"auth", "status"}, Login: "claude auth login",
		ACPBy: "claude-agent-acp", ACP: []string{}, Modes: map[Access]string{Read: "plan", Workspace: "acceptEdits", Full: "bypassPermissions"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=" + s.Key}, nil
		},
	}
}

func codexPreset() Preset {
	return Preset{
		Name: "codex", Program: "codex", Title: "OpenAI Codex", Way: Stdin, Parser: newCodex, SchemaArg: true, Interrupt: true, Boxes: true,
		Args: func(c Call) []string {
			args := []string{"exec", "--json", "--skip-git-repo-check"}
			switch c.Access {
			case Read:
				args = append(args, "-s", "read-only")
			case Full:
				args = append(args, "--dangerously-bypass-approvals-and-sandbox")
			default:
				args = append(args, "-s", "workspace-write")
			}
			args = flag(args, "-o", c.Last)
			args = flag(args, "-m", c.Model)
			args = flag(args, "--output-schema", c.Schema)
			return append(append(args, c.More...), "-")
		},
		Pass:     []string{"OPENAI_*", "CODEX_*"},
		Write:    []string{".codex"},
		Keep:     []string{".codex/config.toml", ".codex/hooks.json", ".codex/prompts/", ".codex/rules/", ".codex/skills/", ".codex/AGENTS.md"},
		WriteEnv: []string{"CODEX_HOME"},
		Status:   []string{"login", "status"}, Login: "codex login",
		TellsUse: true, ACPBy: "codex-acp", ACP: []string{}, Modes: map[Access]string{Read: "read-only", Workspace: "workspace-write", Full: "agent-full-access"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"OPENAI_API_KEY=" + s.Key}, map[string]string{".codex/config.toml": fmt.Sprintf(`model = %q
model_provider = "test"
check_for_update_on_startup = false
[model_providers.test]
name = "test"
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 30000
[analytics]
enabled = false
[feedback]
enabled = false
`, s.Model, s.URL)}
		},
	}
}

func geminiPreset() Preset {
	return Preset{
		Name: "gemini", Program: "gemini", Title: "Gemini CLI", Way: Stdin, Parser: newGemini,
		Args: func(c Call) []string {
			args := []string{"-o", "stream-json", "--approval-mode", yoloUnlessRead(c.Access)}
			args = flag(args, "-m", c.Model)
			return append(args, c.More...)
		},
		Quiet: []string{"GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false"},
		Pass:  []string{"GEMINI_*", "GOOGLE_*"},
		Write: []string{".gemini"},
		Keep:  []string{".gemini/settings.json", ".gemini/extensions/", ".gemini/commands/", ".gemini/GEMINI.md"},
		ACP:   []string{"--acp"}, Modes: map[Access]string{Read: "plan", Workspace: "yolo", Full: "yolo"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + s.URL, "GEMINI_API_KEY=" + s.Key}, map[string]string{
				".gemini/settings.json": jsonText(map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
					"model": map[string]any{"name": "gemini-2.5-flash"}, "general": map[string]any{"disableAutoUpdate": true}})}
		},
	}
}

func qwenPreset() Preset {
	return Preset{
		Name: "qwen", Program: "qwen", Title: "Qwen Code", Way: Stdin, Parser: newQwen,
		Args: func(c Call) []string {
			args := []string{"--output-format", "stream-json", "--approval-mode", yoloUnlessRead(c.Access), "--max-tool-calls", "200"}
			args = flag(args, "-m", c.Model)
			return append(args, c.More...)
		},
		Quiet: []string{"QWEN_CODE_NO_RELAUNCH=1", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1", "QWEN_TELEMETRY_ENABLED=false"},
		Pass:  []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_API_KEY"},
		Write: []string{".qwen"},
		Keep:  []string{".qwen/settings.json", ".qwen/extensions/", ".qwen/commands/", ".qwen/QWEN.md"},
		ACP:   []string{"--acp"}, Modes: map[Access]string{Read: "plan", Workspace: "yolo", Full: "yolo"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=" + s.Key, "OPENAI_MODEL=" + s.Model}, map[string]string{
				".qwen/settings.json": jsonText(map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
					"general": map[string]any{"disableAutoUpdate": true}, "privacy": map[string]any{"usageStatisticsEnabled": false}})}
		},
	}
}

func opencodePreset() Preset {
	return Preset{
		Name: "opencode", Program: "opencode", Title: "opencode", Way: Stdin, Parser: newOpencode, CostTold: true,
		Args: func(c Call) []string {
			args := []string{"run", "--format", "json", "--title", "orch"}
			if c.Access == Read {
				args = append(args, "--agent", "plan")
			}
			args = flag(args, "-m", c.Model)
			return append(args, c.More...)
		},
		Quiet: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		Pass:  []string{"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
		Write: []string{".local/share/opencode", ".local/state/opencode", ".config/opencode", ".cache/opencode"},
		Keep:  []string{".config/opencode/opencode.json", ".config/opencode/plugin/", ".config/opencode/plugins/", ".config/opencode/command/", ".config/opencode/agent/"},
		ACP:   []string{"acp"}, Modes: map[Access]string{Read: "plan", Workspace: "build", Full: "build"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"OPENCODE_CONFIG_CONTENT=" + jsonText(map[string]any{"model": "test/" + s.Model, "small_model": "test/" + s.Model,
				"provider": map[string]any{"test": map[string]any{"npm": "@ai-sdk/openai-compatible",
					"options": map[string]any{"baseURL": s.URL + "/v1", "apiKey": s.Key},
					"models":  map[string]any{s.Model: map[string]any{"name": s.Model}}}}})}, nil
		},
	}
}

func copilotPreset() Preset {
	return Preset{
		Name: "copilot", Program: "copilot", Title: "GitHub Copilot CLI", Way: LastArg, Parser: newCopilot, UsageFile: copilotUsage,
		Args: func(c Call) []string {
			args := []string{"--output-format", "json", "--no-ask-user"}
			if c.Access == Read {
				args = append(args, "--deny-tool", "shell", "--deny-tool", "write")
			} else {
				args = append(args, "--allow-all-tools")
			}
			args = flag(args, "--usage-output-file", c.Usage)
			args = flag(args, "--model", c.Model)
			return append(append(args, c.More...), "-p", c.Prompt)
		},
		Quiet:    []string{"COPILOT_AUTO_UPDATE=false"},
		Pass:     []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"},
		Write:    []string{".copilot", ".cache/copilot"},
		Keep:     []string{".copilot/mcp-config.json", ".copilot/hooks/", ".copilot/agents/"},
		TellsUse: true, ACP: []string{"--acp"},
		Aim: func(s Server) ([]string, map[string]string) {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + s.URL + "/v1", "COPILOT_PROVIDER_API_KEY=" + s.Key,
				"COPILOT_MODEL=" + s.Model, "COPILOT_OFFLINE=true"}, nil
		},
	}
}

func piPreset() Preset {
	return Preset{
		Name: "pi", Program: "pi", Title: "pi", Way: Stdin, Parser: newPi, CostTold: true,
		Args: func(c Call) []string {
			args := []string{"--mode", "json"}
			if c.Access == Read {
				args = append(args, "--tools", "read,grep,find,ls")
			}
			args = flag(args, "--model", c.Model)
			return append(args, c.More...)
		},
		Quiet: []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"},
		Pass:  []string{"PI_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
		Write: []string{".pi"},
		Keep:  []string{".pi/agent/settings.json", ".pi/agent/extensions/", ".pi/agent/skills/", ".pi/agent/prompts/"},
		Aim: func(s Server) ([]string, map[string]string) {
			return nil, map[string]string{".pi/agent/models.json": jsonText(map[string]any{"providers": map[string]any{"test": map[string]any{
				"baseUrl": s.URL + "/v1", "apiKey": s.Key, "api": "openai-completions", "models": []any{map[string]any{"id": s.Model}}}}}),
				".pi/agent/settings.json": jsonText(map[string]any{"defaultProvider": "test", "defaultModel": s.Model})}
		},
	}
}

func yoloUnlessRead(a Access) string {
	if a == Read {
		return "plan"
	}
	return "yolo"
}

func flag(args []string, name, value string) []string {
	if value == "" {
		return args
	}
	return append(args, name, value)
}

// jsonText is for configuration made of maps and strings, which always encodes.
func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
