package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pawl/agent"
)

// stream is what an agent's events have said so far.
type stream struct {
	session string
	bound   string // the session that was asked for
	text    string // the last thing it said
	ended   bool   // it said that it is finished
	acted   bool   // it used a tool
	failure string // it said that it failed
	short   bool   // the failure is a limit of the agent's own
	trouble string // an error that it may get over
	open    []byte // what was begun of an object over several lines

	shown *agent.Transcript
	bind  func(session string)
}

// parser reads one event. A line that is none is passed over.
type parser func(s *stream, line []byte)

// dialects maps each dialect to its parser.
var dialects = map[agent.Dialect]parser{
	agent.DialectCodex:    codex,
	agent.DialectClaude:   claude,
	agent.DialectOpencode: opencode,
	agent.DialectGemini:   gemini,
	agent.DialectPi:       pi,
	agent.DialectContinue: continued,
	agent.DialectCline:    cline,
}

func (s *stream) begin(session string) {
	if session != "" && s.session == "" {
		s.session = session
		s.bind(session)
	}
}

// maxText bounds what is kept of one message: a whole plan, however long, so that what is wrong with it can be told.
const maxText = 1 << 20

func (s *stream) say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	s.text = text
	s.shown.Say(text)
}

func (s *stream) use(id, tool string, input any) {
	s.acted = true
	s.shown.Begin(call(id, tool, input))
}

// call describes a call of a tool, by its command or its file. One that names a command runs it.
func call(id, tool string, input any) agent.Call {
	m, _ := input.(map[string]any)
	c := agent.Call{ID: id, What: tool + " ", Command: m["command"] != nil || m["cmd"] != nil}
	list, _ := m["commands"].([]any)
	for _, v := range append([]any{m["command"], m["cmd"], m["file_path"], m["filePath"], m["path"],
		m["absolute_path"], m["pattern"]}, list...) {
		if text, ok := v.(string); ok {
			c.What += text
			break
		}
	}
	return c
}

func (s *stream) fail(texts ...string) { s.failure = first(append(texts, "unknown")...) }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// block is a part of a message. A result names its call in Of.
type block struct {
	Type, ID, Text, Name string
	Input                any
	Of                   string `json:"tool_use_id"`
	Content              json.RawMessage
	IsError              bool `json:"is_error"`
}

// texts reads a text, or the texts of a list of blocks.
func texts(raw json.RawMessage) string {
	var text string
	var blocks []block
	if json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &blocks) != nil {
		return text
	}
	for _, b := range blocks {
		text += b.Text + "\n"
	}
	return strings.TrimSuffix(text, "\n")
}

// exitIn reads the exit code at the start of the text of a failure, nil if there is none.
func exitIn(failed bool, text, form string) *int {
	var n int
	if _, err := fmt.Sscanf(text, form, &n); err != nil || !failed {
		return nil
	}
	return &n
}

// event decodes a line, and reports whether it is an event.
func event(line []byte, into any) bool {
	return len(line) > 1 && json.Unmarshal(line, into) == nil
}

type fault struct {
	Message string `json:"message"`
}

func codex(s *stream, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Thread  string `json:"thread_id"`
		Message string `json:"message"`
		Error   fault  `json:"error"`
		Item    struct {
			ID, Type, Text, Command, Status, Message string

			Output  string `json:"aggregated_output"`
			Exit    *int   `json:"exit_code"`
			Changes []struct {
				Path string `json:"path"`
			} `json:"changes"`
		} `json:"item"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "thread.started":
		s.begin(e.Thread)
	case "item.started":
		if e.Item.Type == "command_execution" {
			s.use(e.Item.ID, "$", map[string]any{"command": e.Item.Command})
		}
	case "item.completed":
		switch e.Item.Type {
		case "agent_message":
			s.say(e.Item.Text)
		case "file_change":
			for _, c := range e.Item.Changes {
				s.use("", "✎", map[string]any{"path": c.Path})
			}
		case "command_execution":
			s.shown.End(agent.Call{ID: e.Item.ID, What: "$ " + e.Item.Command, Command: true, Output: e.Item.Output,
				Exit: e.Item.Exit, Failed: e.Item.Exit == nil && e.Item.Status != "completed"})
		}
	case "turn.completed":
		s.ended = true
	case "turn.failed":
		s.ended = true
		s.fail(e.Error.Message, s.trouble)
	case "error":
		// It tells of every reconnection like this; only the turn's end says whether it got over it.
		s.trouble = e.Message
	}
}

// claude reads what Claude Code writes, and Qwen Code, which took the form over. Qwen calls an error of its model a
// success and writes it where the answer belongs.
func claude(s *stream, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Parent  string `json:"parent_tool_use_id"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		IsError bool   `json:"is_error"`
		Status  int    `json:"error_status"`
		Result  string `json:"result"`
		// Structured is the answer where a form of it was asked for.
		Structured json.RawMessage `json:"structured_output"`
		Error      json.RawMessage `json:"error"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "system":
		switch e.Subtype {
		case "init":
			s.begin(e.Session)
		case "api_retry":
			s.trouble = "the model answered with status " + strconv.Itoa(e.Status)
			s.shown.Say(s.trouble)
			if e.Status == 401 || e.Status == 403 {
				// It would try for minutes what no repetition mends.
				s.ended = true
				s.fail(s.trouble)
			}
		}
	case "assistant", "user":
		s.claudeBlocks(e.Message.Content, e.Type == "assistant" && e.Parent == "")
	case "result":
		s.ended = true
		var f fault
		_ = json.Unmarshal(e.Error, &f) // there may be none
		switch {
		case strings.HasPrefix(e.Subtype, "error_max"):
			s.fail(e.Subtype)
			s.short = true
		case e.IsError || e.Subtype != "success":
			s.fail(f.Message, e.Result, s.trouble, e.Subtype)
		case strings.HasPrefix(e.Result, "[API Error"):
			s.fail(e.Result)
		case len(e.Structured) > 0 && string(e.Structured) != "null":
			s.text = string(e.Structured)
		case e.Result != "":
			s.text = e.Result
		}
	}
}

// claudeBlocks reads the blocks of a message: what it says, its calls, and in the answers to it their results. An exit
// code is only in the text of a failure, as its first line.
func (s *stream) claudeBlocks(content json.RawMessage, says bool) {
	var blocks []block
	_ = json.Unmarshal(content, &blocks) // a message of another form is passed over
	for _, b := range blocks {
		switch {
		case b.Type == "text" && says:
			s.say(b.Text)
		case b.Type == "tool_use":
			s.use(b.ID, b.Name, b.Input)
		case b.Type == "tool_result":
			text := texts(b.Content)
			s.shown.End(agent.Call{ID: b.Of, Output: text, Failed: b.IsError,
				Exit: exitIn(b.IsError, strings.TrimPrefix(text, "Error: "), "Exit code %d")})
		}
	}
}

func opencode(s *stream, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Session string `json:"sessionID"`
		Part    struct {
			Text   string `json:"text"`
			Tool   string `json:"tool"`
			ID     string `json:"callID"`
			Reason string `json:"reason"`
			State  struct {
				Status, Output, Error string
				Input                 any
				Metadata              struct{ Exit *int }
				Time                  struct{ Start, End int64 }
			} `json:"state"`
		} `json:"part"`
		Error struct {
			Name string `json:"name"`
			Data struct {
				Message string `json:"message"`
				Status  int    `json:"statusCode"`
			} `json:"data"`
		} `json:"error"`
	}
	if !event(line, &e) {
		return
	}
	s.begin(e.Session)
	switch e.Type {
	case "text":
		s.say(e.Part.Text)
	case "tool_use":
		s.acted = true
		at, c := e.Part.State, call(e.Part.ID, e.Part.Tool, e.Part.State.Input) // the call has ended by now
		c.Output, c.Exit, c.Failed = first(at.Output, at.Error), at.Metadata.Exit, at.Status == "error"
		c.Took = time.Duration(at.Time.End-at.Time.Start) * time.Millisecond
		s.shown.End(c)
	case "step_start":
		s.ended = false
	case "step_finish":
		switch e.Part.Reason {
		case "tool-calls", "tool_calls":
		case "stop", "end_turn":
			s.ended = true
		default:
			s.ended, s.short = true, true
			s.fail(e.Part.Reason)
		}
	case "error":
		s.ended = true
		s.fail(e.Error.Data.Message, e.Error.Name)
		if e.Error.Data.Status != 0 {
			s.failure += " (" + strconv.Itoa(e.Error.Data.Status) + ")"
		}
	}
}

func gemini(s *stream, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Session string `json:"session_id"`
		Role    string `json:"role"`
		Content string `json:"content"`
		Delta   bool   `json:"delta"`
		Tool    string `json:"tool_name"`
		ID      string `json:"tool_id"`
		Output  string `json:"output"`
		Input   any    `json:"parameters"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Error   fault  `json:"error"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "init":
		s.begin(e.Session)
	case "message":
		switch {
		case e.Role != "assistant":
		case e.Delta && s.text != "":
			s.text = s.text[max(0, len(s.text)-maxText):] + e.Content
			s.shown.Say(e.Content)
		default:
			s.say(e.Content)
		}
	case "tool_use":
		s.text = ""
		s.use(e.ID, e.Tool, e.Input)
	case "tool_result": // its status says success after a command that failed, too
		s.shown.End(agent.Call{ID: e.ID, Output: first(e.Output, e.Error.Message),
			Failed: e.Status == "error"})
	case "error":
		s.trouble = e.Message
	case "result":
		s.ended = true
		if e.Status != "success" {
			s.fail(e.Error.Message, s.trouble, e.Status)
		}
	}
}

func pi(s *stream, line []byte) {
	var e struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Tool    string `json:"toolName"`
		Args    any    `json:"args"`
		Call    string `json:"toolCallId"`
		IsError bool   `json:"isError"`
		Result  struct{ Content json.RawMessage }
		Final   string `json:"finalError"`
		Success *bool  `json:"success"`
		Message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Stop    string          `json:"stopReason"`
			Error   string          `json:"errorMessage"`
		} `json:"message"`
	}
	// Updates repeat the whole message; they are the bulk of the stream and say nothing that its end does not.
	if strings.HasPrefix(string(line[:min(len(line), 40)]), `{"type":"message_update"`) || !event(line, &e) {
		return
	}
	switch e.Type {
	case "session":
		s.begin(e.ID)
	case "tool_execution_start":
		s.use(e.Call, e.Tool, e.Args)
	case "tool_execution_end":
		text := texts(e.Result.Content)
		s.shown.End(agent.Call{ID: e.Call, Output: text, Failed: e.IsError,
			Exit: exitIn(e.IsError, text[strings.LastIndexByte(text, '\n')+1:], "Command exited with code %d")})
	case "auto_retry_start", "agent_start":
		s.ended, s.failure, s.short = false, "", false
	case "auto_retry_end":
		if e.Success != nil && !*e.Success {
			s.ended = true
			s.fail(e.Final)
		}
	case "message_end":
		if e.Message.Role == "assistant" {
			s.piSaid(e.Message.Content, e.Message.Stop, e.Message.Error)
		}
	case "agent_end":
		s.ended = true
	}
}

func (s *stream) piSaid(content json.RawMessage, stop, why string) {
	var blocks []block
	_ = json.Unmarshal(content, &blocks) // a message of another form is passed over
	for _, b := range blocks {
		if b.Type == "text" {
			s.say(b.Text)
		}
	}
	s.failure, s.short = "", false
	switch stop {
	case "error", "aborted":
		s.fail(why, stop)
	case "length":
		s.fail(stop)
		s.short = true
	}
}

// continued reads the one object that Continue writes at its end. An answer that is one itself is written as it is, on
// as many lines as the model took.
func continued(s *stream, line []byte) {
	if len(s.open) > 0 || bytes.HasPrefix(line, []byte("{")) {
		s.open = append(s.open, line...)
	}
	if len(s.open) > maxText || !json.Valid(s.open) {
		return
	}
	line, s.open = s.open, nil
	var e struct {
		Response string `json:"response"`
		Status   string `json:"status"`
		Message  string `json:"message"`
	}
	if !event(line, &e) || e.Status == "" {
		s.ended = true
		s.say(string(line))
		return
	}
	s.ended = true
	s.say(e.Response)
	if e.Status != "success" {
		s.fail(e.Message, e.Status)
	}
}

// errorObject returns the message of the last error that is written as an object to the standard error.
func errorObject(complaint string) string {
	text := ""
	for line := range strings.Lines(complaint) {
		var e struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}
		if event([]byte(line), &e) && e.Status == "error" {
			text = e.Message
		}
	}
	return text
}

func cline(s *stream, line []byte) {
	var e struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Finish string `json:"finishReason"`
		Event  struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Tool  string          `json:"toolName"`
			Input any             `json:"input"`
			Error json.RawMessage `json:"error"`
			Class string          `json:"errorClass"`
		} `json:"event"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "agent_event":
		switch e.Event.Type {
		case "content_start":
			if e.Event.Tool != "" {
				s.use("", e.Event.Tool, e.Event.Input) // it has no results that are read
			}
		case "done":
			s.say(e.Event.Text)
		case "error":
			s.trouble = strings.TrimSpace(faultText(e.Event.Error) + " " + e.Event.Class)
		}
	case "run_result":
		s.ended = true
		switch e.Finish {
		case "completed":
			s.text = first(e.Text, s.text)
		case "max_iterations", "timeout", "aborted":
			s.fail(e.Finish)
			s.short = true
		default:
			s.fail(s.trouble, e.Finish)
		}
	}
}

// faultText reads an error that is an object or a text.
func faultText(raw json.RawMessage) string {
	var f fault
	if json.Unmarshal(raw, &f) == nil {
		return f.Message
	}
	return texts(raw)
}
