package acp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/text/shell"

	sdk "github.com/coder/acp-go-sdk"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
)

// The tools that serve the agent's requests.
const (
	toolRead   = "read_file"
	toolWrite  = "write_file"
	toolDelete = "delete_file"
	toolRun    = "run_terminal_cmd"
)

// client is the side of a session that the agent calls.
type client struct{ session *session }

var _ sdk.Client = client{}

// ask makes a call of the agent's into one of pawl's.
func (s *session) ask(tool string, args any) effect.Ask {
	s.mu.Lock()
	s.asked++
	n := s.asked
	s.mu.Unlock()
	return effect.Ask{ID: s.job.Effect.ID + "-" + strconv.Itoa(n), Name: tool, Args: effect.Encode(args)}
}

// call has pawl make a call. The agent is told of a refusal and goes on; what no later call can mend ends the work.
func (s *session) call(ctx context.Context, tool string, args any) (effect.Receipt, error) {
	if s.job.Question != nil {
		return effect.Receipt{}, s.refused(onlyAsked(s.job))
	}
	done := s.watch.Busy()
	defer done()
	r, err := s.job.Host.Call(ctx, s.ask(tool, args))
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil && s.ctx.Err() == nil:
		return r, err // the agent itself ended the command
	}
	return r, s.refused(err)
}

// onlyAsked refuses what an agent wants to do that is only asked.
func onlyAsked(j *agent.Job) error {
	return pawl.Fail(pawl.CodeDenied, "agent.only_asked", j.External.Program.Name).In("acp.Permission")
}

// refused remembers a refusal and ends the work where it is final: a person has to approve, a budget is used up, or the
// work is no longer this runner's.
func (s *session) refused(err error) error {
	s.mu.Lock()
	s.refusal = err
	s.mu.Unlock()
	switch pawl.CodeOf(err) {
	case pawl.CodeDenied, pawl.CodeUserDenied, pawl.CodeInvalid, pawl.CodeNotFound, pawl.CodeConflict:
	default:
		s.stop(err)
	}
	return &sdk.RequestError{Code: -32603, Message: "refused by pawl: " + agent.Line(err.Error())}
}

// begun starts something that the end of the work waits for, and reports whether the work goes on.
func (s *session) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.calls.Add(1)
	return true
}

// settle waits for what was begun. The work is over by then, so that nothing more begins.
func (s *session) settle() {
	s.mu.Lock()
	//lint:ignore SA2001 whoever found the work going on has been counted when the lock is free
	s.mu.Unlock()
	s.calls.Wait()
}

func (s *session) over() error { return &sdk.RequestError{Code: -32800, Message: "the work is over"} }

// rel makes an absolute path of the agent's into one relative to the tree. Links are resolved by the tools, not here.
func (s *session) rel(path string) (string, error) {
	for _, tree := range []string{s.job.Effect.Place.Tree, s.tree} {
		rel, err := filepath.Rel(tree, path)
		if err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", &sdk.RequestError{Code: -32602, Message: "outside the working directory: " + agent.Line(path)}
}

// notFound is the protocol's code of what is not there. Agents that write a new file look for an older one first, and
// take any other answer for a reason not to write.
const notFound = -32002

// failure is the answer to a request whose call was made and failed.
func failure(r effect.Receipt) error {
	if r.Code == pawl.CodeNotFound {
		return &sdk.RequestError{Code: notFound, Message: agent.Line("Resource not found: " + strings.Join(r.Args, " "))}
	}
	text := string(r.Code) + " " + r.Key + " " + strings.Join(r.Args, " ")
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return &sdk.RequestError{Code: -32603, Message: agent.Line(text)}
}

// payload reads what a tool answered.
func payload(r effect.Receipt, into any) error {
	result, err := effect.Decode[effect.ToolResult](r.Result)
	if err != nil {
		return err
	}
	return json.Unmarshal(result.Payload, into)
}

// ReadTextFile reads a file with read_file. It answers a whole file exactly or not at all, because agents write back
// what they read.
func (s client) ReadTextFile(_ context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	if !s.session.begun() {
		return sdk.ReadTextFileResponse{}, s.session.over()
	}
	defer s.session.calls.Done()
	rel, err := s.session.rel(p.Path)
	if err != nil {
		return sdk.ReadTextFileResponse{}, err
	}
	from, left := 1, 0
	if p.Line != nil && *p.Line > 1 {
		from = *p.Line
	}
	if p.Limit != nil && *p.Limit > 0 {
		left = *p.Limit
	}
	content, err := s.read(rel, from, left)
	return sdk.ReadTextFileResponse{Content: content}, err
}

// page is how many lines one call of read_file is asked for, and maxRead how much is read at most for one request.
const (
	page    = 20_000
	maxRead = 4 << 20
)

func (s client) read(rel string, from, left int) (string, error) {
	var b strings.Builder
	digest := ""
	for limited := left > 0; ; {
		n := page
		if limited {
			n = min(n, left)
		}
		r, err := s.session.call(s.session.ctx, toolRead, map[string]any{"path": rel, "offset": from, "limit": n})
		if err != nil {
			return "", err
		}
		if !r.OK {
			return "", failure(r)
		}
		var w struct {
			Content   string `json:"content"`
			Encoding  string `json:"encoding"`
			EndLine   int    `json:"end_line"`
			StartLine int    `json:"start_line"`
			Truncated bool   `json:"truncated"`
			CutLines  int    `json:"cut_lines"`
			SHA256    string `json:"sha256"`
		}
		if err := payload(r, &w); err != nil {
			return "", err
		}
		switch {
		case w.Encoding != "utf-8":
			return "", &sdk.RequestError{Code: -32603, Message: "not a text file in UTF-8"}
		case w.CutLines > 0:
			return "", &sdk.RequestError{Code: -32603, Message: "a line is too long; read the file from the disk"}
		case digest != "" && w.SHA256 != digest:
			return "", &sdk.RequestError{Code: -32603, Message: "the file changed while it was read"}
		}
		b.WriteString(w.Content)
		got := w.EndLine - w.StartLine + 1
		left -= got
		if b.Len() > maxRead {
			return "", &sdk.RequestError{Code: -32603, Message: "the file is too large; read it from the disk"}
		}
		if !w.Truncated || got <= 0 || limited && left <= 0 {
			return b.String(), nil
		}
		digest, from = w.SHA256, w.EndLine+1
	}
}

// WriteTextFile writes a file with write_file.
func (s client) WriteTextFile(_ context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	if !s.session.begun() {
		return sdk.WriteTextFileResponse{}, s.session.over()
	}
	defer s.session.calls.Done()
	rel, err := s.session.rel(p.Path)
	if err != nil {
		return sdk.WriteTextFileResponse{}, err
	}
	r, err := s.session.call(s.session.ctx, toolWrite, map[string]any{"path": rel, "content": p.Content})
	if err == nil && !r.OK {
		err = failure(r)
	}
	return sdk.WriteTextFileResponse{}, err
}

// SessionUpdate shows an update that came as a request. All others are seen before the library gets them.
func (s client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	raw, err := json.Marshal(n)
	if err == nil {
		s.session.update(raw)
	}
	return err
}

// RequestPermission answers whether the agent may do something itself, behind its walls. Options are chosen by their
// kind. Only this one time is ever allowed, so that the next time is judged as well.
func (s client) RequestPermission(_ context.Context,
	p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	if !s.session.begun() {
		return answerWith(p.Options), nil
	}
	defer s.session.calls.Done()
	s.session.say("\n")
	err := s.permit(p.ToolCall)
	switch {
	case err == nil:
		return answerWith(p.Options, sdk.PermissionOptionKindAllowOnce), nil
	case s.session.ctx.Err() != nil:
		return answerWith(p.Options), nil
	}
	if p.ToolCall.Title != nil {
		s.session.job.Transcript.Say("✗ " + *p.ToolCall.Title)
	}
	return answerWith(p.Options, sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways), nil
}

// answerWith selects the first option of the first kind that is offered; none of them cancels.
func answerWith(options []sdk.PermissionOption, kinds ...sdk.PermissionOptionKind) sdk.RequestPermissionResponse {
	for _, k := range kinds {
		for _, o := range options {
			if o.Kind == k {
				return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}
			}
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
}

// permit judges what an agent wants to do itself.
func (s client) permit(t sdk.ToolCallUpdate) error {
	asks, harmless, err := s.reduce(t)
	if s.session.job.Question != nil {
		// What a command could do is held by the walls, in which everything of the tree is read-only.
		if harmless || err == nil && len(asks) == 1 && asks[0].Name == toolRun {
			return nil
		}
		return s.session.refused(onlyAsked(s.session.job))
	}
	if err != nil {
		s.session.mu.Lock()
		s.session.refusal = err
		s.session.mu.Unlock()
		return err
	}
	judge, able := s.session.job.Host.(agent.Judge)
	for _, a := range asks {
		switch {
		case able:
			err = judge.Judge(s.session.ctx, a)
		case a.Name == toolRun:
			err = pawl.Fail(pawl.CodeDenied, "agent.not_judged",
				s.session.job.External.Program.Name).In("acp.Permission")
		}
		if err != nil {
			return s.session.refused(err)
		}
	}
	if len(asks) == 0 && !harmless {
		return s.session.refused(pawl.Fail(pawl.CodeDenied, "agent.not_understood",
			s.session.job.External.Program.Name).In("acp.Permission"))
	}
	return nil
}

// reduce says which calls of pawl's stand for what an agent wants to do. Reading is harmless: the walls decide what can
// be read.
func (s client) reduce(t sdk.ToolCallUpdate) (asks []effect.Ask, harmless bool, err error) {
	if command := command(t.RawInput); command != "" {
		return []effect.Ask{s.session.ask(toolRun, map[string]any{"command": command})}, false, nil
	}
	kind := sdk.ToolKindOther
	if t.Kind != nil {
		kind = *t.Kind
	}
	switch kind {
	case sdk.ToolKindRead, sdk.ToolKindSearch, sdk.ToolKindThink:
		return nil, true, nil
	case sdk.ToolKindExecute, sdk.ToolKindFetch, sdk.ToolKindSwitchMode:
		return nil, false, nil // a command that is not named cannot be judged
	}
	for _, p := range touched(t) {
		if !filepath.IsAbs(p) {
			p = filepath.Join(s.session.tree, p) // as the agent's model wrote it
		}
		rel, err := s.session.rel(p)
		if err != nil {
			return nil, false, err
		}
		if kind == sdk.ToolKindDelete {
			asks = append(asks, s.session.ask(toolDelete, map[string]any{"path": rel}))
			continue
		}
		asks = append(asks, s.session.ask(toolWrite, map[string]any{"path": rel, "content": ""}))
	}
	return asks, false, nil
}

// touched lists the files that a call names.
func touched(t sdk.ToolCallUpdate) []string {
	var out []string
	for _, c := range t.Content {
		if c.Diff != nil {
			out = append(out, c.Diff.Path)
		}
	}
	for _, l := range t.Locations {
		if !slices.Contains(out, l.Path) {
			out = append(out, l.Path)
		}
	}
	if m, ok := t.RawInput.(map[string]any); ok && len(out) == 0 {
		for _, k := range []string{"path", "file_path", "filePath", "abs_path"} {
			if p, ok := m[k].(string); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// command finds the command that an agent wants to run, "" when its call is something else.
func command(raw any) string {
	m, ok := raw.(map[string]any)
	if !ok {
		return ""
	}
	for _, k := range []string{"command", "cmd"} {
		switch c := m[k].(type) {
		case string:
			return c
		case []any:
			var words []string
			for _, w := range c {
				text, ok := w.(string)
				if !ok {
					return ""
				}
				words = append(words, text)
			}
			return join(words)
		}
	}
	return ""
}

// join writes words as a command of the shell. What is handed to a shell is written as it is, so that it is judged for
// what it does.
func join(words []string) string {
	if len(words) == 3 && (filepath.Base(words[0]) == "bash" || filepath.Base(words[0]) == "sh") &&
		(words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return shell.QuoteAll(words)
}

// errNoTerminal is the answer to a request about a terminal that is not there.
var errNoTerminal = errors.New("no such terminal")
