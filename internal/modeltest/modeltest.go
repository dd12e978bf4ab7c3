// Package modeltest starts the scripted model of agent/scripted for tests, and ends it with them.
package modeltest

import (
	"strings"
	"testing"

	"pawl/agent/scripted"
	"pawl/agent/wire"
)

// The words of agent/scripted, under which tests speak of them.
type (
	Branch  = scripted.Branch
	Call    = scripted.Call
	Request = scripted.Request
	Script  = scripted.Script
	Server  = scripted.Server
	Step    = scripted.Step
)

// The headings of repairs, judgements and plans, and the signature of thoughts.
const (
	Repairing = scripted.Repairing
	Judging   = scripted.Judging
	Planning  = scripted.Planning
	Reviewing = scripted.Reviewing
	Thinks    = scripted.Thinks
)

// Go starts a server for a test.
func Go(t testing.TB, s Script) *Server {
	t.Helper()
	srv, err := scripted.Serve("127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// The ready-made scripts.

func FixBug(file, wrong, right string) Script { return scripted.FixBug(file, wrong, right) }

func Liar() Script { return scripted.Liar() }

// Endless asks for the same call for ever.
func Endless(file string) Script {
	return Script{Branches: []Branch{{Steps: []Step{{Calls: []Call{{Read: file}}}}}}}
}

// Failing answers every request with a status.
func Failing(status int) Script {
	return Script{Branches: []Branch{{Steps: []Step{{Status: status, Times: 1 << 30}}}}}
}

// Malformed asks for a tool with arguments that are no JSON, that repeat a key, that repeat one in another case, and
// that are no object, one after the other, and then says that it is done.
func Malformed(tool string) Script {
	var steps []Step
	for _, args := range []string{`{"path": "a`, `{"path":"a","path":"b"}`, `{"path":"a","Path":"b"}`, `["path"]`} {
		steps = append(steps, Step{Calls: []Call{{Name: tool, Args: args}}})
	}
	return Script{Branches: []Branch{{Steps: append(steps, Step{Text: "Done."})}}}
}

// Passing answers a status so many times before it says that it is done.
func Passing(status, times int, retryAfter string) Script {
	return Script{Branches: []Branch{{Steps: []Step{{Text: "Done.", Status: status, Times: times,
		RetryAfter: retryAfter}}}}}
}

// Huge says so many bytes.
func Huge(n int) Script {
	return Script{Branches: []Branch{{Steps: []Step{{Text: strings.Repeat("much ado ", 100), Flood: n}}}}}
}

func Recorded(form wire.Form, c Call, offered string) []byte {
	return scripted.Recorded(form, c, offered)
}
