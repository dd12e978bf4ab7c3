package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
)

// FormPath is where an agent that is asked finds an MCP server of pawl's, on its way to the models. That server has one
// tool, which takes the answer: it is judged at once, and its result says what is wrong with it.
const FormPath = "/pawl/mcp"

// maxForm bounds a request to that server, in bytes.
const maxForm = 1 << 20

// errAnswered is the cause of a context that pawl ended because the answer was taken.
var errAnswered = errors.New("the answer was taken")

// Tool is the name of the tool that takes the answer.
func (q Question) Tool() string { return "propose_" + q.Purpose }

// loopback is the address at which pawl answers the agent.
func (c External) loopback() string { return fmt.Sprintf("http://127.0.0.1:%d", c.Port) }

// desk takes the answers to a question, however they come. One that cannot be used may be corrected once.
type desk struct {
	question *Question
	program  string
	grace    time.Duration
	say      func(line string)
	stop     context.CancelCauseFunc // ends the work

	mu    sync.Mutex
	given bool  // there is an answer that can be used
	flaws int   // how many could not be used
	flaw  error // what is wrong with the last one
}

// take takes an answer. After the second that cannot be used the work ends, and after one that can the agent has a
// moment to come to its end.
func (d *desk) take(answer string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.given || d.flaws > 1 {
		return d.flaw
	}
	if d.flaw = d.question.Read(answer); d.flaw == nil {
		d.given = true
		time.AfterFunc(d.grace, func() { d.stop(errAnswered) })
		return nil
	}
	d.say("✗ " + d.flaw.Error())
	if d.flaws++; d.flaws > 1 {
		d.flaw = pawl.Fail(pawl.CodeModel, "agent.malformed_twice", d.program,
			d.question.Purpose).Because(d.flaw).In("agent.Ask")
		d.stop(d.flaw)
	}
	return d.flaw
}

// taken reports whether there is an answer that can be used, and whether there can be none any more.
func (d *desk) taken() (given, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.given, d.flaws > 1
}

// form is the server.
func (d *desk) form() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "pawl", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: d.question.Tool(), InputSchema: json.RawMessage(d.question.Schema),
		Description: "Takes your answer, the whole document, and says whether it can be used. It changes nothing.",
		// Agents in a mode for reading leave out what does not say that it changes nothing.
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		flaw := d.take(string(r.Params.Arguments))
		said := "Your answer was taken. End your turn now."
		if flaw != nil {
			said = Again(flaw)
		}
		return &mcp.CallToolResult{IsError: flaw != nil, Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
	})
	return http.MaxBytesHandler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), maxForm)
}
