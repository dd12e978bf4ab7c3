package acp

import (
	"context"
	"regexp"
	"strconv"
	"sync"

	"pawl/text/display"

	"pawl/text/shell"

	sdk "github.com/coder/acp-go-sdk"

	"pawl/agent"
	"pawl/kernel/effect"
)

// terminal is a command that the agent has pawl run. All its output is there when it has ended.
type terminal struct {
	cancel context.CancelFunc
	done   chan struct{}
	limit  int

	// What follows is written before done is closed.
	output    string
	truncated bool
	exit      int
	signal    string
}

// exitRefused is the exit status that the agent sees of a command that was not run.
const exitRefused = 126

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// CreateTerminal runs a command with run_terminal_cmd.
func (s client) CreateTerminal(_ context.Context, p sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	line, err := s.commandLine(p)
	if err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	if !s.session.begun() {
		return sdk.CreateTerminalResponse{}, s.session.over()
	}
	ctx, cancel := context.WithCancel(s.session.ctx)
	t := &terminal{cancel: cancel, done: make(chan struct{})}
	if p.OutputByteLimit != nil && *p.OutputByteLimit > 0 {
		t.limit = *p.OutputByteLimit
	}
	s.session.mu.Lock()
	id := "t" + strconv.Itoa(len(s.session.terminals)+1)
	s.session.terminals[id] = t
	s.session.mu.Unlock()
	go func() {
		defer s.session.calls.Done()
		defer cancel()
		defer close(t.done)
		r, err := s.session.call(ctx, toolRun, map[string]any{"command": line})
		t.end(r, err)
	}()
	return sdk.CreateTerminalResponse{TerminalId: id}, nil
}

// commandLine writes what the agent wants to run as one command for the shell. Without arguments the agent means a
// whole line.
func (s client) commandLine(p sdk.CreateTerminalRequest) (string, error) {
	line := p.Command
	if len(p.Args) > 0 {
		line = join(append([]string{p.Command}, p.Args...))
	}
	for _, e := range p.Env {
		if !variable().MatchString(e.Name) {
			return "", &sdk.RequestError{Code: -32602, Message: "no name of a variable: " + agent.Line(e.Name)}
		}
		line = "export " + e.Name + "=" + shell.Quote(e.Value) + "; " + line
	}
	if p.Cwd != nil {
		rel, err := s.session.rel(*p.Cwd)
		if err != nil {
			return "", err
		}
		if rel != "." {
			line = "cd " + shell.Quote("./"+rel) + " && { " + line + "\n}"
		}
	}
	return line, nil
}

// end keeps how a command ended.
func (t *terminal) end(r effect.Receipt, err error) {
	if err != nil {
		t.output, t.exit = err.Error()+"\n", exitRefused
		return
	}
	var o struct {
		ExitCode  int    `json:"exit_code"`
		Signal    string `json:"signal"`
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}
	if payload(r, &o) == nil {
		t.output, t.exit, t.signal, t.truncated = o.Output, o.ExitCode, o.Signal, o.Truncated
	}
	if !r.OK && t.exit == 0 {
		t.output, t.exit = t.output+failure(r).Error()+"\n", 1
	}
	if t.limit > 0 && len(t.output) > t.limit {
		t.output, t.truncated = display.Tail(t.output, t.limit), true
	}
}

func (s client) terminal(id string) (*terminal, error) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	t := s.session.terminals[id]
	if t == nil {
		return nil, &sdk.RequestError{Code: -32602, Message: errNoTerminal.Error()}
	}
	return t, nil
}

func (t *terminal) status() (exit *int, signal *string) {
	if t.signal != "" {
		return nil, &t.signal
	}
	return &t.exit, nil
}

// TerminalOutput returns the output, which is empty until the command has ended.
func (s client) TerminalOutput(_ context.Context, p sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	t, err := s.terminal(p.TerminalId)
	if err != nil {
		return sdk.TerminalOutputResponse{}, err
	}
	select {
	case <-t.done:
	default:
		return sdk.TerminalOutputResponse{}, nil
	}
	exit, signal := t.status()
	return sdk.TerminalOutputResponse{Output: t.output, Truncated: t.truncated,
		ExitStatus: &sdk.TerminalExitStatus{ExitCode: exit, Signal: signal}}, nil
}

// WaitForTerminalExit waits for a command to end.
func (s client) WaitForTerminalExit(_ context.Context,
	p sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	t, err := s.terminal(p.TerminalId)
	if err != nil {
		return sdk.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.done:
	case <-s.session.ctx.Done():
		return sdk.WaitForTerminalExitResponse{}, s.session.over()
	}
	exit, signal := t.status()
	return sdk.WaitForTerminalExitResponse{ExitCode: exit, Signal: signal}, nil
}

// KillTerminal ends a command.
func (s client) KillTerminal(_ context.Context, p sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	t, err := s.terminal(p.TerminalId)
	if err == nil {
		t.cancel()
	}
	return sdk.KillTerminalResponse{}, err
}

// ReleaseTerminal ends a command and forgets it. Its number is not given again.
func (s client) ReleaseTerminal(_ context.Context, p sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	t, err := s.terminal(p.TerminalId)
	if err != nil {
		return sdk.ReleaseTerminalResponse{}, err
	}
	t.cancel()
	s.session.mu.Lock()
	s.session.terminals[p.TerminalId] = nil
	s.session.mu.Unlock()
	return sdk.ReleaseTerminalResponse{}, nil
}
