package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
)

// session is one conversation with an agent.
type session struct {
	ctx     context.Context         // ends when the work is over
	stop    context.CancelCauseFunc // ends the work, with the reason
	job     *agent.Job
	process *agent.Running
	watch   *agent.Watch
	conn    *sdk.ClientSideConnection
	tree    string
	calls   sync.WaitGroup // calls of the host that are under way

	mu        sync.Mutex
	id        sdk.SessionId
	replaying bool // the agent tells what was said before
	text      []byte
	line      []byte // what is not yet shown
	asked     int
	refusal   error // the last one
	broken    error // why the tap hung up
	terminals map[string]*terminal
}

func newSession(ctx context.Context, stop context.CancelCauseFunc, j *agent.Job, p *agent.Running,
	w *agent.Watch) *session {
	tree := j.Effect.Place.Tree
	if real, err := filepath.EvalSymlinks(tree); err == nil {
		tree = real
	}
	return &session{ctx: ctx, stop: stop, job: j, process: p, watch: w, tree: tree, terminals: map[string]*terminal{}}
}

// connect lays the wires.
func (s *session) connect(ctx context.Context) {
	open := make(chan struct{}, maxOpen)
	t := &tap{limit: s.job.External.Output, update: s.update, seen: s.watch.Seen, open: open}
	r, w := io.Pipe()
	go func() {
		err := t.copy(ctx, s.process.Stdout(), w)
		s.mu.Lock()
		s.broken = err
		s.mu.Unlock()
		_ = w.CloseWithError(err)
		_, _ = io.Copy(io.Discard, s.process.Stdout()) // an agent that writes on must not block before it is killed
	}()
	s.conn = sdk.NewClientSideConnection(client{s}, answers{Writer: s.process.Stdin(), open: open}, r)
	s.conn.SetLogger(slog.New(slog.DiscardHandler))
}

// name returns the agent's name of the session.
func (s *session) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.id)
}

// talk has the whole conversation.
func (s *session) talk(ctx context.Context) (effect.WorkResult, error) {
	works := s.job.Question == nil // who is only asked reads by itself, and has pawl do nothing
	hello, err := s.conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber, ClientInfo: &sdk.Implementation{Name: "pawl", Version: "1"},
		ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{WriteTextFile: works,
			ReadTextFile: works && !s.job.External.Program.ReadsAlone}, Terminal: works},
	})
	if err != nil {
		return effect.WorkResult{}, s.failed(err, false)
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		return effect.WorkResult{}, pawl.Fail(pawl.CodeEnvironment, "agent.protocol_version",
			s.job.External.Program.Name, int(hello.ProtocolVersion), sdk.ProtocolVersionNumber).In("acp.Work")
	}
	if err := s.begin(ctx, hello.AgentCapabilities); err != nil {
		return effect.WorkResult{}, err
	}
	if err := s.job.Bind(s.ctx, s.name()); err != nil {
		return effect.WorkResult{}, err
	}
	prompt := s.job.Prompt()
	answer, err := s.conn.Prompt(ctx, sdk.PromptRequest{SessionId: s.id,
		Prompt: []sdk.ContentBlock{sdk.TextBlock(prompt.Text)}})
	s.flush()
	s.mu.Lock()
	result := effect.WorkResult{Said: effect.Said{Prompt: prompt.Digest}, Text: strings.TrimSpace(string(s.text))}
	s.mu.Unlock()
	if err != nil {
		return result, s.failed(err, true)
	}
	return result, s.ended(&result, answer.StopReason)
}

// begin goes on with the agent's earlier session, or begins one where there is none or the agent lost it.
func (s *session) begin(ctx context.Context, can sdk.AgentCapabilities) error {
	servers, tree := []sdk.McpServer{}, s.job.Effect.Place.Tree
	if id := sdk.SessionId(s.job.Spec.Session); id != "" && can.LoadSession {
		s.replay(id, true)
		loaded, err := s.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: id, Cwd: tree, McpServers: servers})
		s.replay(id, false)
		if err == nil {
			return s.mode(ctx, loaded.Modes)
		}
		if s.gone() {
			return s.failed(err, false)
		}
		s.replay("", false)
	}
	begun, err := s.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: tree, McpServers: servers})
	if err != nil {
		return s.failed(err, false)
	}
	s.replay(begun.SessionId, false)
	return s.mode(ctx, begun.Modes)
}

func (s *session) replay(id sdk.SessionId, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.replaying = id, on
}

// mode puts the session into the mode in which the agent asks before it acts.
func (s *session) mode(ctx context.Context, modes *sdk.SessionModeState) error {
	want := sdk.SessionModeId(s.job.External.Program.Mode)
	if want == "" || modes == nil || modes.CurrentModeId == want {
		return nil
	}
	for _, m := range modes.AvailableModes {
		if m.Id == want {
			if _, err := s.conn.SetSessionMode(ctx,
				sdk.SetSessionModeRequest{SessionId: s.id, ModeId: want}); err != nil {
				return s.failed(err, false)
			}
		}
	}
	return nil
}

// cancel asks the agent to stop.
func (s *session) cancel(ctx context.Context) {
	if id := s.name(); id != "" {
		// it is killed if it does not hear it
		_ = s.conn.Cancel(ctx, sdk.CancelNotification{SessionId: sdk.SessionId(id)})
	}
}

// gone reports whether the connection is closed.
func (s *session) gone() bool {
	select {
	case <-s.conn.Done():
		return true
	default:
		return false
	}
}

// authRequired is the protocol's code of an agent that wants its user to log in.
const authRequired = -32000

// failed says why a request to the agent failed.
func (s *session) failed(err error, prompted bool) error {
	if s.gone() {
		s.mu.Lock()
		broken := s.broken
		s.mu.Unlock()
		switch {
		case errors.Is(broken, errTooMuch):
			return s.job.TooMuch(s.job.External.Output)
		case errors.Is(broken, errTooLong):
			return s.job.TooMuch(maxLine)
		}
		return s.job.Died(s.process, s.process.End(s.job.External.Grace))
	}
	var answer *sdk.RequestError
	switch {
	case errors.As(err, &answer) && answer.Code == authRequired:
		return s.job.ModelError("401 " + err.Error())
	case prompted && errors.As(err, &answer):
		return s.job.ModelError(fmt.Sprint(answer.Message, " ", answer.Data))
	}
	return pawl.Fail(pawl.CodeModel, "agent.protocol",
		s.job.External.Program.Name).Because(errors.New(agent.Line(err.Error()))).In("acp.Work")
}

// ended says what a turn's end means.
func (s *session) ended(result *effect.WorkResult, why sdk.StopReason) error {
	s.mu.Lock()
	refusal := s.refusal
	s.mu.Unlock()
	switch why {
	case sdk.StopReasonEndTurn:
		result.Control = effect.StepDone
	case sdk.StopReasonRefusal:
		result.Control, result.Reason = effect.GiveUp, string(why)
	case sdk.StopReasonCancelled:
		if refusal == nil {
			return pawl.Fail(pawl.CodeModel, "agent.stopped_short", s.job.External.Program.Name,
				string(why)).In("acp.Work")
		}
		// Some agents end their turn when they are refused something.
		result.Control, result.Reason = effect.GiveUp, refusal.Error()
	default:
		return pawl.Fail(pawl.CodeModel, "agent.stopped_short", s.job.External.Program.Name,
			agent.Line(string(why))).In("acp.Work")
	}
	return nil
}

// keptText is how much of what the agent says is kept: a whole plan, however long.
const keptText = 1 << 20

// update shows what the agent does.
func (s *session) update(params json.RawMessage) {
	var n sdk.SessionNotification
	if json.Unmarshal(params, &n) != nil {
		return
	}
	s.mu.Lock()
	mine := !s.replaying && (s.id == "" || n.SessionId == s.id)
	s.mu.Unlock()
	if !mine {
		return
	}
	switch u := n.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		s.say(u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		s.say("\n")
		if s.job.Question != nil { // the answer is what comes after the last look
			s.mu.Lock()
			s.text = s.text[:0]
			s.mu.Unlock()
		}
		c := u.ToolCall
		called(s.job.Transcript, &sdk.SessionToolCallUpdate{ToolCallId: c.ToolCallId, Kind: &c.Kind,
			RawInput: c.RawInput, RawOutput: c.RawOutput, Content: c.Content, Status: &c.Status}, c.Title)
	case u.ToolCallUpdate != nil:
		called(s.job.Transcript, u.ToolCallUpdate, "")
	case u.Plan != nil:
		done := 0
		for _, entry := range u.Plan.Entries {
			if entry.Status == sdk.PlanEntryStatusCompleted {
				done++
			}
		}
		s.job.Transcript.Say(strconv.Itoa(done) + "/" + strconv.Itoa(len(u.Plan.Entries)))
	}
}

// called shows what the agent reports of a call: that it starts, its command, and how it ended.
func called(t *agent.Transcript, c *sdk.SessionToolCallUpdate, title string) {
	r := agent.Call{ID: string(c.ToolCallId), What: title, Command: c.Kind != nil && *c.Kind == sdk.ToolKindExecute}
	if line := command(c.RawInput); line != "" {
		r.What, r.Command = "$ "+line, true
	}
	t.Begin(r)
	var raw struct{ Metadata struct{ Exit *int } }
	_ = json.Unmarshal(effect.Encode(c.RawOutput), &raw) // an output of another form says nothing more
	for _, part := range c.Content {
		if part.Content != nil && part.Content.Content.Text != nil {
			r.Output += part.Content.Content.Text.Text
		}
	}
	if at := c.Status; at != nil && (*at == sdk.ToolCallStatusCompleted || *at == sdk.ToolCallStatusFailed) {
		r.Exit, r.Failed = raw.Metadata.Exit, *at == sdk.ToolCallStatusFailed
		t.End(r)
	}
}

// say keeps a piece of the agent's text and shows it line by line.
func (s *session) say(piece string) {
	s.mu.Lock()
	s.text = append(s.text, piece...)
	if over := len(s.text) - keptText; over > 0 {
		s.text = append(s.text[:0], s.text[over:]...)
	}
	s.line = append(s.line, piece...)
	var show []string
	for {
		i := strings.IndexByte(string(s.line), '\n')
		if i < 0 && len(s.line) < 4096 {
			break
		}
		if i < 0 {
			i = len(s.line) - 1
		}
		show = append(show, string(s.line[:i+1]))
		s.line = s.line[i+1:]
	}
	s.mu.Unlock()
	for _, l := range show {
		s.job.Transcript.Say(l)
	}
}

func (s *session) flush() { s.say("\n") }
