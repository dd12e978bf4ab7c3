// Command fakeagent is an ACP agent that plays the scenario named by FAKE.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"pawl/internal/modeltest"
)

type fake struct {
	scenario string
	conn     *acp.AgentSideConnection
	cwd      string
	reads    bool // through the client
	canceled chan struct{}
	once     sync.Once
}

func main() {
	f := &fake{scenario: os.Getenv("FAKE"), canceled: make(chan struct{})}
	switch f.scenario {
	case "mute", "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		if f.scenario == "mute" {
			_, _ = io.Copy(io.Discard, os.Stdin)
			time.Sleep(time.Hour)
		}
	case "deaf":
		time.Sleep(time.Hour) // reads nothing
	case "noise":
		fmt.Println("Welcome! Loading…")
		fmt.Println(`{"half": `)
	case "garbage":
		fmt.Print(strings.Repeat("x", 12<<20))
		time.Sleep(time.Hour)
	}
	f.conn = acp.NewAgentSideConnection(f, os.Stdout, os.Stdin)
	f.conn.SetLogger(slog.New(slog.DiscardHandler))
	<-f.conn.Done()
	if f.scenario == "stubborn" {
		time.Sleep(time.Hour)
	}
}

func (f *fake) Initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	f.reads = p.ClientCapabilities.Fs.ReadTextFile
	version := acp.ProtocolVersion(acp.ProtocolVersionNumber)
	if f.scenario == "version" {
		version = 7
	}
	return acp.InitializeResponse{ProtocolVersion: version, AgentCapabilities: acp.AgentCapabilities{LoadSession: f.scenario != "noload"}, AuthMethods: []acp.AuthMethod{}}, nil
}

func (f *fake) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if f.scenario == "auth" {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	f.cwd = p.Cwd
	return acp.NewSessionResponse{SessionId: "new-1"}, nil
}

func (f *fake) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	f.cwd = p.Cwd
	if f.scenario == "lost" {
		return acp.LoadSessionResponse{}, acp.NewInternalError(map[string]any{"details": "No previous sessions found"})
	}
	for i := range 3000 {
		f.say(ctx, p.SessionId, fmt.Sprintf("old line %d\n", i))
	}
	return acp.LoadSessionResponse{}, nil
}

func (f *fake) Cancel(context.Context, acp.CancelNotification) error {
	f.once.Do(func() { close(f.canceled) })
	return nil
}

func (f *fake) say(ctx context.Context, id acp.SessionId, text string) {
	_ = f.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: acp.UpdateAgentMessageText(text)})
}

func end(why acp.StopReason) (acp.PromptResponse, error) {
	return acp.PromptResponse{StopReason: why}, nil
}

func (f *fake) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	ctx = context.WithoutCancel(ctx)
	id := p.SessionId
	text := p.Prompt[0].Text.Text
	if strings.Contains(text, "## Form: ") {
		return f.answer(ctx, id, text)
	}
	if !strings.Contains(text, "mend Add") {
		return acp.PromptResponse{}, errors.New("no goal in the prompt")
	}
	_ = os.WriteFile(filepath.Join(os.Getenv("HOME"), "prompt.txt"), []byte(p.Prompt[0].Text.Text), 0o600)
	switch f.scenario {
	case "work":
		return f.work(ctx, id)
	case "permission":
		return f.permission(ctx, id)
	case "new":
		return f.write(ctx, id)
	case "outside":
		_, err := f.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: "/etc/passwd"})
		_, err2 := f.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: id, Path: f.cwd + "/../x", Content: "x"})
		f.say(ctx, id, fmt.Sprint(err != nil, err2 != nil))
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: the agent broke")
		os.Exit(3)
	case "model":
		return acp.PromptResponse{}, acp.NewInternalError(map[string]any{"details": "401 Unauthorized"})
	case "hang", "stubborn", "cancel":
		f.say(ctx, id, "thinking\n")
		if f.scenario == "cancel" {
			<-f.canceled
			return end(acp.StopReasonCancelled)
		}
		time.Sleep(time.Hour)
	case "tokens":
		return end(acp.StopReasonMaxTokens)
	case "refusal":
		return end(acp.StopReasonRefusal)
	case "giveup":
		f.say(ctx, id, "I tried.\nPAWL-GIVE-UP: the file is missing")
	case "question":
		f.say(ctx, id, "I looked.\nPAWL-ASK: keep the flag?")
	case "grandchild":
		c := exec.Command("sleep", "600")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
		f.say(ctx, id, fmt.Sprint(c.Process.Pid))
	case "flood":
		for range 100 << 10 {
			f.say(ctx, id, strings.Repeat("y", 1024))
		}
	case "chatter":
		for i := range 20_000 {
			f.say(ctx, id, fmt.Sprintln("line", i))
		}
	case "commands":
		f.commands(ctx, id)
	case "many":
		f.many(ctx, id)
	case "environment":
		f.say(ctx, id, strings.Join(os.Environ(), "\n"))
	default: // lie, noise, lost, load
		f.say(ctx, id, "Done. All tests pass.")
	}
	return end(acp.StopReasonEndTurn)
}

// commands reports calls as opencode and Gemini CLI do: the second has neither output nor exit code.
func (f *fake) commands(ctx context.Context, id acp.SessionId) {
	const one = `{"sessionUpdate":"tool_call_update","toolCallId":"%s","status":"in_progress","kind":"execute","title":"bash",` +
		`"rawInput":{"command":"sleep 4; echo one"}}`
	const end = `{"sessionUpdate":"tool_call_update","toolCallId":"%s","status":"completed","kind":"execute","title":"Wait",` +
		`"content":[{"type":"content","content":{"type":"text","text":"%s"}}],"rawInput":{"command":"sleep 4; echo one"},` +
		`"rawOutput":{"output":"%s","metadata":{"exit":%d}}}`
	for _, u := range []string{
		`{"sessionUpdate":"tool_call","toolCallId":"a","title":"bash","kind":"execute","status":"pending","rawInput":{}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"b","title":"bash","kind":"execute","status":"pending","rawInput":{}}`,
		fmt.Sprintf(one, "a"), fmt.Sprintf(one, "b"), fmt.Sprintf(end, "b", "second", "second", 1),
		fmt.Sprintf(end, "a", "first", "first", 0), fmt.Sprintf(end, "a", "first", "first", 0),
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"echo two; false","kind":"execute","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"d","title":"add.go","kind":"read","status":"completed","content":[` +
			`{"type":"content","content":{"type":"text","text":"package add"}}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"e","title":"rm -rf /","kind":"execute","status":"failed","content":[]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"f","title":"long","kind":"execute","status":"completed","content":[` +
			`{"type":"content","content":{"type":"text","text":"` + strings.Repeat(`a line\n`, 10<<20/7) + `"}}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"g","title":"sleep 600","kind":"execute","status":"in_progress"}`,
	} {
		n := acp.SessionNotification{SessionId: id}
		if err := json.Unmarshal([]byte(u), &n.Update); err != nil {
			panic(err)
		}
		_ = f.conn.SessionUpdate(ctx, n)
	}
}

// answer answers a question with what the model says, or tries to change something as its scenario says.
func (f *fake) answer(ctx context.Context, id acp.SessionId, text string) (acp.PromptResponse, error) {
	path := filepath.Join(f.cwd, "add.go")
	switch f.scenario {
	case "work":
		_, err := f.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: id, Path: path, Content: "x"})
		_, err2 := f.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: id, Command: "echo x > add.go"})
		f.say(ctx, id, fmt.Sprint(err != nil, err2 != nil))
	case "permission":
		return f.permission(ctx, id)
	case "outside":
		_ = os.WriteFile(path, []byte("x"), 0o600)
		f.say(ctx, id, modeltest.Ask(os.Getenv("FAKE_URL"), text))
	default:
		f.say(ctx, id, "I look at {it}.\n")
		_ = f.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id,
			Update: acp.StartToolCall("look", "look", acp.WithStartKind(acp.ToolKindRead))})
		f.say(ctx, id, modeltest.Ask(os.Getenv("FAKE_URL"), text))
	}
	return end(acp.StopReasonEndTurn)
}

// write writes a new file as agents do: one that is not there is written, and one that cannot be read is not.
func (f *fake) write(ctx context.Context, id acp.SessionId) (acp.PromptResponse, error) {
	path := filepath.Join(f.cwd, "sub", "new.go")
	var err error
	if f.reads {
		_, err = f.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: path})
	}
	if no := (*acp.RequestError)(nil); !f.reads || errors.As(err, &no) && no.Code == -32002 && strings.HasPrefix(no.Message, "Resource not found") {
		_, err = f.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: id, Path: path, Content: "package sub\n"})
	}
	f.say(ctx, id, fmt.Sprint("written: ", err))
	return end(acp.StopReasonEndTurn)
}

func (f *fake) work(ctx context.Context, id acp.SessionId) (acp.PromptResponse, error) {
	path := filepath.Join(f.cwd, "add.go")
	old, err := f.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: path})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	_, err = f.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: id, Path: path, Content: strings.ReplaceAll(old.Content, "-", "+")})
	if err != nil {
		f.say(ctx, id, "refused: "+err.Error())
		return end(acp.StopReasonEndTurn)
	}
	t, err := f.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: id, Command: "cat", Args: []string{"add.go"}, Cwd: &f.cwd, Env: []acp.EnvVariable{{Name: "A", Value: "b c"}}})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	w, err := f.conn.WaitForTerminalExit(ctx, acp.WaitForTerminalExitRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	o, err := f.conn.TerminalOutput(ctx, acp.TerminalOutputRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	_, _ = f.conn.ReleaseTerminal(ctx, acp.ReleaseTerminalRequest{SessionId: id, TerminalId: t.TerminalId})
	f.say(ctx, id, fmt.Sprintf("exit %d: %s", *w.ExitCode, o.Output))
	return end(acp.StopReasonEndTurn)
}

// permission asks for an edit and a command, and does what it may.
func (f *fake) permission(ctx context.Context, id acp.SessionId) (acp.PromptResponse, error) {
	options := []acp.PermissionOption{
		{Kind: acp.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "a1"}, {Kind: acp.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "weird-yes"},
		{Kind: acp.PermissionOptionKindRejectOnce, Name: "No", OptionId: "weird-no"},
	}
	edit, run, other := acp.ToolKindEdit, acp.ToolKindExecute, acp.ToolKindOther
	for _, c := range []acp.ToolCallUpdate{
		{ToolCallId: "1", Kind: &edit, Locations: []acp.ToolCallLocation{{Path: filepath.Join(f.cwd, "add.go")}}},
		{ToolCallId: "2", Kind: &run, RawInput: map[string]any{"command": []any{"bash", "-lc", "rm -rf build"}}},
		{ToolCallId: "3", Kind: &edit, Locations: []acp.ToolCallLocation{{Path: "/etc/hosts"}}},
		{ToolCallId: "4", Kind: &other},
	} {
		r, err := f.conn.RequestPermission(ctx, acp.RequestPermissionRequest{SessionId: id, Options: options, ToolCall: c})
		if err != nil {
			return acp.PromptResponse{}, err
		}
		chosen := "cancelled"
		if r.Outcome.Selected != nil {
			chosen = string(r.Outcome.Selected.OptionId)
		}
		f.say(ctx, id, string(c.ToolCallId)+"="+chosen+" ")
		if c.ToolCallId == "1" && chosen == "cancelled" {
			return end(acp.StopReasonCancelled)
		}
	}
	return end(acp.StopReasonEndTurn)
}

// many makes requests faster than they can be answered.
func (f *fake) many(ctx context.Context, id acp.SessionId) {
	var wg sync.WaitGroup
	good := make(chan bool, 500)
	for range 500 {
		wg.Go(func() {
			_, err := f.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: filepath.Join(f.cwd, "add.go")})
			good <- err == nil
		})
	}
	wg.Wait()
	close(good)
	n := 0
	for ok := range good {
		if ok {
			n++
		}
	}
	f.say(ctx, id, fmt.Sprint(n))
}

func (f *fake) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}
func (f *fake) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, nil
}
func (f *fake) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, nil
}
func (f *fake) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, nil
}
func (f *fake) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, nil
}
func (f *fake) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, nil
}
