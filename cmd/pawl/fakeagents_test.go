package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The fake agents behave, as far as their logins go, as the real ones were seen to: the test binary is called by their
// names.
var fakeAgents = map[string]func(args []string) int{"codex": fakeCodex, "claude": fakeClaude}

// fakes makes a folder with the fake agents in it.
func fakes(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name := range fakeAgents {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fake is an agent at work.
type fake struct {
	url, token string
	say        func(v any)
}

// ask makes one request.
func (f *fake) ask(path string, body any) (map[string]any, int) {
	raw, _ := json.Marshal(body)
	req, err := http.NewRequest(http.MethodPost, f.url+path, bytes.NewReader(raw))
	if err != nil {
		return nil, 0
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0
	}
	defer resp.Body.Close()
	var out map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&out)
	return out, resp.StatusCode
}

// bash runs a command of the model.
func bash(command string) string {
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s\n%v", out, err)
	}
	return string(out)
}

// tokens asks a maker for new tokens, as agents do.
func tokens(url, refresh string) (access, next string, ok bool) {
	body, _ := json.Marshal(map[string]string{"grant_type": "refresh_token", "refresh_token": refresh})
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return "", "", false
	}
	defer resp.Body.Close()
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	return got.Access, got.Refresh, resp.StatusCode == http.StatusOK &&
		json.NewDecoder(resp.Body).Decode(&got) == nil && set(&access, got.Access) && set(&next, got.Refresh)
}

func set(to *string, v string) bool { *to = v; return v != "" }

// replace puts a file into the place of another.
func replace(path string, v any) {
	raw, _ := json.Marshal(v)
	_ = os.WriteFile(path+".new", raw, 0o600)
	_ = os.Rename(path+".new", path)
}

var baseURL = regexp.MustCompile(`base_url = "([^"]+)"`)

func fakeCodex(args []string) int {
	home := os.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(os.Getenv("HOME"), ".codex")
	}
	auth := filepath.Join(home, "auth.json")
	read := func() (f map[string]any, t map[string]any) {
		raw, _ := os.ReadFile(auth)
		_ = json.Unmarshal(raw, &f)
		t, _ = f["tokens"].(map[string]any)
		return f, t
	}
	say := func(v any) { raw, _ := json.Marshal(v); fmt.Println(string(raw)) }
	switch {
	case len(args) > 0 && args[0] == "--version":
		fmt.Println("codex-cli 0.169.0")
		return 0
	case len(args) > 0 && args[0] == "app-server":
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if !strings.Contains(in.Text(), "account/read") {
				continue
			}
			f, t := read()
			refresh, _ := t["refresh_token"].(string)
			access, next, ok := tokens(os.Getenv("CODEX_REFRESH_TOKEN_URL_OVERRIDE"), refresh)
			if ok {
				t["access_token"], t["id_token"], t["refresh_token"] = access, access, next
				replace(auth, f)
			}
			say(map[string]any{"id": 2, "result": map[string]any{"account": nil}})
		}
		return 0
	}
	raw, _ := os.ReadFile(filepath.Join(home, "config.toml"))
	m := baseURL.FindStringSubmatch(string(raw))
	_, t := read()
	token, _ := t["access_token"].(string)
	token = cmp.Or(token, os.Getenv("OPENAI_API_KEY")) // as set in the gateway's environment
	if m == nil || token == "" {
		fmt.Fprintln(os.Stderr, "Not logged in")
		return 1
	}
	f := &fake{url: m[1], token: token, say: say}
	return f.codex(args[len(args)-1])
}

func (f *fake) codex(prompt string) int {
	f.say(map[string]any{"type": "thread.started", "thread_id": "th-fake"})
	input := []any{map[string]any{"type": "additional_tools",
		"tools": []any{map[string]any{"type": "namespace", "name": "functions", "tools": []any{
			map[string]any{"type": "function", "name": "exec_command",
				"parameters": map[string]any{"properties": map[string]any{"cmd": map[string]any{"type": "string"}}}}}}}},
		map[string]any{"type": "message", "role": "user", "content": prompt}}
	said := "done"
	for range 20 {
		out, status := f.ask("/responses", map[string]any{"model": "gpt-fake", "input": input})
		if status != http.StatusOK {
			why := fmt.Sprintf("unexpected status %d", status)
			if status == http.StatusUnauthorized {
				// which is all that the real one says of it
				why = "Fatal error: application network policy is unavailable"
			}
			f.say(map[string]any{"type": "turn.failed", "error": map[string]any{"message": why}})
			return 1
		}
		called := false
		items, _ := out["output"].([]any)
		for _, i := range items {
			item, _ := i.(map[string]any)
			input = append(input, item)
			if parts, _ := item["content"].([]any); item["type"] == "message" && len(parts) > 0 {
				said, _ = parts[0].(map[string]any)["text"].(string)
			}
			if item["type"] != "function_call" {
				continue
			}
			called = true
			var call struct{ Cmd string }
			_ = json.Unmarshal([]byte(item["arguments"].(string)), &call)
			ran := map[string]any{"id": item["call_id"], "type": "command_execution", "command": call.Cmd,
				"status": "in_progress"}
			f.say(map[string]any{"type": "item.started", "item": ran})
			output := bash(call.Cmd)
			ran["aggregated_output"], ran["exit_code"], ran["status"] = output, 0, "completed"
			if strings.Contains(output, "exit status ") {
				ran["exit_code"], ran["status"] = 1, "failed"
			}
			f.say(map[string]any{"type": "item.completed", "item": ran})
			input = append(input, map[string]any{"type": "function_call_output", "call_id": item["call_id"],
				"output": output})
		}
		if !called {
			break
		}
	}
	f.say(map[string]any{"type": "item.completed", "item": map[string]any{"type": "agent_message", "text": said}})
	f.say(map[string]any{"type": "turn.completed"})
	return 0
}

func fakeClaude(args []string) int {
	say := func(v any) { raw, _ := json.Marshal(v); fmt.Println(string(raw)) }
	switch {
	case len(args) > 0 && args[0] == "--version":
		fmt.Println("2.1.329 (Claude Code)")
		return 0
	case len(args) > 1 && args[0] == "auth":
		file := filepath.Join(os.Getenv("HOME"), ".claude", ".credentials.json")
		var f map[string]map[string]any
		raw, _ := os.ReadFile(file)
		_ = json.Unmarshal(raw, &f)
		refresh, _ := f["claudeAiOauth"]["refreshToken"].(string)
		if access, next, ok := tokens(os.Getenv("FAKE_TOKEN_URL"), refresh); ok {
			f["claudeAiOauth"]["accessToken"], f["claudeAiOauth"]["refreshToken"] = access, next
			replace(file, f)
		}
		return 0
	}
	token := ""
	if os.Getenv("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR") == "9" {
		raw, _ := io.ReadAll(os.NewFile(9, "token"))
		token = string(raw)
	}
	if token == "" {
		say(map[string]any{"type": "result", "subtype": "success", "is_error": true,
			"result": "Not logged in · Please run /login"})
		return 1
	}
	prompt := ""
	for i, a := range args {
		if a == "-p" {
			prompt = args[i+1]
		}
	}
	url := os.Getenv("ANTHROPIC_BASE_URL")
	var project struct {
		Env   map[string]string
		Hooks map[string]string
	}
	// The real one obeys its project unless it is told not to; this one obeys whatever it sees.
	if raw, err := os.ReadFile(filepath.Join(".claude", "settings.json")); err == nil &&
		json.Unmarshal(raw, &project) == nil {
		bash(project.Hooks["SessionStart"])
		url = cmp.Or(project.Env["ANTHROPIC_BASE_URL"], url)
	}
	f := &fake{url: url, token: token, say: say}
	return f.claude(prompt)
}

func (f *fake) claude(prompt string) int {
	f.say(map[string]any{"type": "system", "subtype": "init", "session_id": "cl-fake"})
	tools := []any{map[string]any{"name": "Bash",
		"input_schema": map[string]any{"properties": map[string]any{"command": map[string]any{"type": "string"}}}}}
	messages := []any{map[string]any{"role": "user", "content": prompt}}
	said := "done"
	for range 20 {
		out, status := f.ask("/v1/messages", map[string]any{"model": "claude-fake", "max_tokens": 1000,
			"messages": messages, "tools": tools})
		if status != http.StatusOK {
			why := fmt.Sprintf("API Error: %d", status)
			if status == http.StatusUnauthorized {
				why = "Failed to authenticate. " + why
			}
			f.say(map[string]any{"type": "result", "subtype": "success", "is_error": true, "result": why})
			return 1
		}
		content, _ := out["content"].([]any)
		messages = append(messages, map[string]any{"role": "assistant", "content": content})
		var results []any
		for _, b := range content {
			block, _ := b.(map[string]any)
			if block["type"] == "text" {
				said, _ = block["text"].(string)
			}
			if block["type"] != "tool_use" {
				continue
			}
			command, _ := block["input"].(map[string]any)["command"].(string)
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": block["id"],
				"content": bash(command)})
		}
		if len(results) == 0 {
			break
		}
		messages = append(messages, map[string]any{"role": "user", "content": results})
	}
	f.say(map[string]any{"type": "result", "subtype": "success", "result": said})
	return 0
}
