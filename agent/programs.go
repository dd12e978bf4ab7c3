package agent

import "pawl/agent/wire"

// dummyKey is what agents show to the gateway. It opens nothing: the gateway has the real one.
const dummyKey = "pawl-gateway"

// codexConfig is codex's configuration. A login shell would reset PATH, and codex's own sandbox cannot be nested into
// pawl's walls, which hold instead. Its web search is run by the provider, out of every policy's reach.
const codexConfig = `model = "{model}"
model_provider = "pawl"
allow_login_shell = false
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.pawl]
name = "pawl"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"

[tools]
web_search = false
`

// geminiSettings choose the key as the way to log in; without them the agent refuses to start.
const geminiSettings = `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"disableAutoUpdate":true,"disableUpdateNag":true,"enableAutoUpdate":false}}
`

const qwenSettings = `{"security":{"auth":{"selectedType":"openai"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true,"enableAutoUpdate":false}}
`

const piModels = `{"providers":{"pawl":{"baseUrl":"{url}/v1","api":"openai-completions","apiKey":"{key}","models":[{"id":"{model}","name":"{model}",` +
	`"reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":{window},"maxTokens":{out}}]}}}
`

const continueConfig = `name: pawl
version: 1.0.0
schema: v1
models:
  - name: pawl
    provider: openai
    model: "{model}"
    apiBase: "{url}/v1"
    apiKey: "{key}"
    roles: [chat, edit, apply]
    capabilities: [tool_use]
    defaultCompletionOptions:
      contextLength: {window}
      maxTokens: {out}
`

// opencodeConfig is opencode's configuration, with what it may do without asking. It keeps no copies of the tree of its
// own for undoing, because pawl keeps them.
func opencodeConfig(permission string) string {
	return `{"model":"pawl/{model}","small_model":"pawl/{model}","share":"disabled","autoupdate":false,"snapshot":false,"provider":{"pawl":{"npm":"@ai-sdk/openai-compatible",` +
		`"name":"pawl","options":{"baseURL":"{url}/v1","apiKey":"{key}"},"models":{"{model}":{"name":"{model}","tool_call":true,"limit":{"context":{window},"output":{out}}}}}},` +
		`"permission":{"edit":"` + permission + `","bash":"` + permission + `","webfetch":"deny"}}`
}

func opencodeEnv(permission string) map[string]string {
	return map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_CONFIG_CONTENT": opencodeConfig(permission)}
}

// codexAsks has codex ask before it runs what it does not know to be harmless.
const codexAsks = "approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n"

func codexEnv() map[string]string {
	return map[string]string{"CODEX_HOME": "{home}/.codex", "OPENAI_API_KEY": "{key}"}
}

// claudeEnv bounds the answers besides: what a call may cost at most is set aside before it is made, and Claude Code
// asks for room for answers that are several times as long as any that it gets.
func claudeEnv() map[string]string {
	return map[string]string{
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "{out}",
		"ANTHROPIC_BASE_URL":            "{url}", "ANTHROPIC_API_KEY": "{key}", "ANTHROPIC_MODEL": "{model}",
		"ANTHROPIC_SMALL_FAST_MODEL":               "{model}",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
		"DISABLE_AUTOUPDATER": "1",
	}
}

func geminiEnv() map[string]string {
	return map[string]string{"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "{key}",
		"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
}

func qwenEnv() map[string]string {
	return map[string]string{"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}", "OPENAI_MODEL": "{model}",
		"QWEN_CODE_NO_RELAUNCH": "true"}
}

// claudeObeys are the settings that Claude Code takes from a project. Its texts, commands and skills are not among
// them: they tell it something and run nothing.
var claudeObeys = []string{".claude/settings.json", ".claude/settings.local.json", ".mcp.json"}

// opencodeObeys are those of opencode, with the plugins that it would load.
var opencodeObeys = []string{"opencode.json", "opencode.jsonc", ".opencode"}

// headlessPrograms are the agents that are run in a headless mode. In claude's arguments the prompt stands before
// --allowedTools, which would swallow it. It is told to leave alone what a project sets for it, which can have it call
// other addresses and run commands; the project's texts for it, which that leaves out as well, stand in its own home
// instead.
func headlessPrograms() []Program {
	return []Program{
		{
			Name: "codex", Chooses: true, Title: "Codex CLI", Kind: KindHeadless, Names: []string{"codex"}, Version: []string{"--version"}, Tested: [2]string{"0.160.0", "0.169.0"},
			Install: "npm install -g @openai/codex@0.169.0", Wire: wire.Responses, Dialect: DialectCodex,
			Args:   []string{"exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", access, "-m", "{model}", "{prompt}"},
			Resume: []string{"exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", access, "-m", "{model}", "resume", "{session}", "{prompt}"},
			Reads:  []string{"--output-schema", "{form}"},
			Env:    codexEnv(), Files: map[string]string{".codex/config.toml": codexConfig}, Quirks: []string{"agent.quirk_exit"},
		},
		{
			Name: "claude-code", Chooses: true, Title: "Claude Code", Kind: KindHeadless, Names: []string{"claude"}, Version: []string{"--version"}, Tested: [2]string{"2.1.197", "2.1.329"},
			Install: "npm install -g @anthropic-ai/claude-code@2.1.329", Wire: wire.Messages, Dialect: DialectClaude,
			Args:     []string{"-p", "{prompt}", "--output-format", "stream-json", "--verbose", "--model", "{model}", distrust, access},
			Resume:   []string{"-p", "{prompt}", "--resume", "{session}", "--output-format", "stream-json", "--verbose", "--model", "{model}", distrust, access},
			Acts:     []string{"--permission-mode", "acceptEdits", "--disallowedTools", "WebSearch,WebFetch", "--allowedTools", "Bash", "Edit", "Write", "Read", "Glob", "Grep"},
			Reads:    []string{"--json-schema", "{schema}", "--permission-mode", "default", "--disallowedTools", "WebSearch,WebFetch,Edit,Write,NotebookEdit", "--allowedTools", "Read", "Glob", "Grep"},
			Distrust: []string{"--setting-sources", "user", "--strict-mcp-config"}, Obeys: claudeObeys,
			Texts: map[string][]string{".claude/CLAUDE.md": {"CLAUDE.md", ".claude/CLAUDE.md"}},
			Env:   claudeEnv(), Quirks: []string{"agent.quirk_licence", "agent.quirk_slow_retry"},
		},
		{
			Name: "opencode", Title: "opencode", Kind: KindHeadless, Names: []string{"opencode"}, Version: []string{"--version"}, Tested: [2]string{"1.18.0", "1.18.33"},
			Install: "npm install -g opencode-ai@1.18.33", Wire: wire.Chat, Dialect: DialectOpencode,
			// With a title of ours the model is not asked for one.
			Args:   []string{"run", "--format", "json", "--title", "pawl", access, "{prompt}"},
			Resume: []string{"run", "--format", "json", access, "-s", "{session}", "{prompt}"},
			Reads:  []string{"--agent", "plan"},
			Env:    opencodeEnv("allow"), Obeys: opencodeObeys,
		},
		{
			Name: "gemini-cli", Chooses: true, Title: "Gemini CLI", Kind: KindHeadless, Names: []string{"gemini"}, Version: []string{"--version"}, Tested: [2]string{"0.60.0", "0.61.0"},
			Install: "npm install -g @google/gemini-cli@0.61.0", Wire: wire.Gemini, Dialect: DialectGemini,
			Args: []string{"-p", "{prompt}", "--output-format", "stream-json", access, "-m", "{model}"},
			Acts: []string{"--approval-mode", "yolo"}, Reads: []string{"--approval-mode", "plan"},
			Resume: []string{"-r", "{session}", "-p", "{prompt}", "--output-format", "stream-json", access, "-m", "{model}"},
			Env:    geminiEnv(), Files: map[string]string{".gemini/settings.json": geminiSettings}, Obeys: []string{".gemini"}, Quirks: []string{"agent.quirk_slow_retry"},
		},
		{
			Name: "qwen-code", Title: "Qwen Code", Kind: KindHeadless, Names: []string{"qwen"}, Version: []string{"--version"}, Tested: [2]string{"0.15.10", "0.24.4"},
			Install: "npm install -g @qwen-code/qwen-code@0.15.10", Wire: wire.Chat, Dialect: DialectClaude,
			Args: []string{"-p", "{prompt}", "--output-format", "stream-json", access, "--auth-type", "openai"},
			Acts: []string{"--approval-mode", "yolo"}, Reads: []string{"--approval-mode", "plan"},
			Resume: []string{"--resume", "{session}", "-p", "{prompt}", "--output-format", "stream-json", access, "--auth-type", "openai"},
			Env:    qwenEnv(), Unproxied: true, Files: map[string]string{".qwen/settings.json": qwenSettings}, Obeys: []string{".qwen"}, Quirks: []string{"agent.quirk_exit", "agent.quirk_slow_retry"},
		},
		{
			Name: "pi", Title: "pi", Kind: KindHeadless, Names: []string{"pi"}, Version: []string{"--version"}, Tested: [2]string{"0.70.0", "0.73.1"},
			Install: "npm install -g @mariozechner/pi-coding-agent@0.73.1", Wire: wire.Chat, Dialect: DialectPi,
			Args:   []string{"--offline", "--mode", "json", "-p", "--provider", "pawl", "--model", "{model}", access, "{prompt}"},
			Reads:  []string{"--tools", "read,grep,find,ls"},
			Resume: []string{"--offline", "--mode", "json", "-p", "--provider", "pawl", "--model", "{model}", access, "--session", "{session}", "{prompt}"},
			Env:    map[string]string{"PI_OFFLINE": "1"}, Files: map[string]string{".pi/agent/models.json": piModels}, Obeys: []string{".pi"}, Quirks: []string{"agent.quirk_exit"},
		},
		{
			Name: "continue", Title: "Continue CLI", Kind: KindHeadless, Names: []string{"cn"}, Version: []string{"--version"}, Tested: [2]string{"1.5.40", "1.5.47"},
			Install: "npm install -g @continuedev/cli@1.5.47", Wire: wire.Chat, Dialect: DialectContinue,
			Args: []string{"--config", "{home}/.continue/pawl.yaml", access, "-p", "--format", "json", "{prompt}"},
			Acts: []string{"--auto"}, Reads: []string{"--readonly"},
			Env: map[string]string{"CONTINUE_GLOBAL_DIR": "{home}/.continue", "CONTINUE_TELEMETRY_ENABLED": "0"}, Files: map[string]string{".continue/pawl.yaml": continueConfig}, Obeys: []string{".continue"},
			Quirks: []string{"agent.quirk_no_resume"},
		},
		{
			Name: "cline", Title: "Cline", Kind: KindHeadless, Names: []string{"cline"}, Version: []string{"--version"}, Tested: [2]string{"3.0.60", "3.0.65"},
			Install: "npm install -g cline@3.0.65", Wire: wire.Chat, Dialect: DialectCline,
			Setup:  [][]string{{"auth", "-p", "openai", "-k", "{key}", "-m", "{model}", "-b", "{url}/v1", "--data-dir", "{home}/.cline"}},
			Obeys:  []string{".cline"},
			Args:   []string{"--json", "--data-dir", "{home}/.cline", "-P", "openai", "-m", "{model}", access, "{prompt}"},
			Reads:  []string{"--plan"},
			Quirks: []string{"agent.quirk_no_resume"},
		},
	}
}

// acpPrograms are the agents that speak the Agent Client Protocol.
func acpPrograms() []Program {
	return []Program{
		{
			Name: "opencode-acp", Title: "opencode (ACP)", Kind: KindACP, Names: []string{"opencode"},
			Version: []string{"--version"}, Tested: [2]string{"1.18.0", "1.18.33"},
			Install: "npm install -g opencode-ai@1.18.33", Wire: wire.Chat, Dialect: DialectACP, Args: []string{"acp"},
			Env: opencodeEnv("ask"), Obeys: opencodeObeys, Asks: true,
		},
		{
			Name: "gemini-cli-acp", Chooses: true, Title: "Gemini CLI (ACP)", Kind: KindACP, Names: []string{"gemini"},
			Version: []string{"--version"}, Tested: [2]string{"0.60.0", "0.61.0"},
			Install: "npm install -g @google/gemini-cli@0.61.0", Wire: wire.Gemini, Dialect: DialectACP,
			Args: []string{"--acp", "-m", "{model}"},
			Env:  geminiEnv(), Files: map[string]string{".gemini/settings.json": geminiSettings},
			Obeys: []string{".gemini"}, Asks: true, ReadsAlone: true, Quirks: []string{"agent.quirk_slow_retry",
				"agent.quirk_no_resume"},
		},
		{
			Name: "qwen-code-acp", Title: "Qwen Code (ACP)", Kind: KindACP, Names: []string{"qwen"},
			Version: []string{"--version"}, Tested: [2]string{"0.15.10", "0.24.4"},
			Install: "npm install -g @qwen-code/qwen-code@0.15.10", Wire: wire.Chat, Dialect: DialectACP,
			Args: []string{"--acp", "--auth-type", "openai"},
			Env:  qwenEnv(), Unproxied: true, Files: map[string]string{".qwen/settings.json": qwenSettings},
			Obeys: []string{".qwen"}, Asks: true, Quirks: []string{"agent.quirk_slow_retry"},
		},
		{
			Name: "codex-acp", Chooses: true, Title: "Codex (ACP)", Kind: KindACP, Names: []string{"codex-acp"},
			Tested:  [2]string{"0.16.0", "0.16.0"},
			Install: "npm install -g @zed-industries/codex-acp@0.16.0", Wire: wire.Responses, Dialect: DialectACP,
			Env: codexEnv(), Files: map[string]string{".codex/config.toml": codexAsks + codexConfig}, Asks: true,
		},
		{
			Name: "claude-code-acp", Chooses: true, Title: "Claude Code (ACP)", Kind: KindACP,
			Names: []string{"claude-agent-acp"}, Tested: [2]string{"0.23.1", "0.23.1"},
			Install: "npm install -g @zed-industries/claude-agent-acp@0.23.1", Wire: wire.Messages, Dialect: DialectACP,
			Env: claudeEnv(), Obeys: claudeObeys, Mode: "default", Asks: true, Quirks: []string{"agent.quirk_licence",
				"agent.quirk_slow_retry"},
		},
	}
}
