// Package modeltest starts the scripted model of agent/scripted for tests, and ends it with them.
package modeltest

import (
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

func Endless(file string) Script { return scripted.Endless(file) }

func Failing(status int) Script { return scripted.Failing(status) }

func Malformed(tool string) Script { return scripted.Malformed(tool) }

func Passing(status, times int, retryAfter string) Script {
	return scripted.Passing(status, times, retryAfter)
}

func Huge(n int) Script { return scripted.Huge(n) }

func Recorded(form wire.Form, c Call, offered string) []byte {
	return scripted.Recorded(form, c, offered)
}
