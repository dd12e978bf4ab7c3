package llm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pawl/agent"
	"pawl/agent/agenttest"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

// recorded reads a recording.
func recorded(t *testing.T, lines []byte) (out []modeltest.Exchange) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var e Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Digest != digest(e.Path, e.Request) {
			t.Errorf("the digest is of another request: %s", line)
		}
		x := modeltest.Exchange{Path: e.Path, Request: string(e.Request), Status: e.Status, Type: "text/event-stream",
			RetryAfter: e.RetryAfter, Reply: e.Response}
		out = append(out, x)
	}
	return out
}

// TestARecordingIsEnough records a conversation with failures, closes the server, and has it again from the recording
// alone.
func TestARecordingIsEnough(t *testing.T) {
	for _, kind := range forms {
		t.Run(string(kind), func(t *testing.T) {
			srv := modeltest.Go(t, modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
				{Text: "I look — 看看.", Calls: []modeltest.Call{{Read: "a.go"}}, Status: 429, Times: 1, RetryAfter: "3"},
				{Text: "Done.", Cut: 60, Times: 1},
			}}}})
			var kept bytes.Buffer
			rec := agent.NewRecorder[Exchange](&kept)
			s := at(kind, srv.URL)
			s.Record = rec.Record
			first := converse(t, Open(s))
			srv.Close()
			all := recorded(t, kept.Bytes())
			if len(all) != 4 || strings.Contains(kept.String(), "secret") {
				t.Fatalf("%d lines: %s", len(all), kept.String())
			}

			tape, left := modeltest.Replay(t, all,
				func(x modeltest.Exchange, asked string) bool { return x.Request == asked })
			s.Record, s.HTTP, s.Env = nil, tape, nil
			if second := converse(t, Open(s)); second != first || left() != 0 {
				t.Errorf("%s\n%s\n%d left", first, second, left())
			}
			if _, r := worked(t, Open(s), &agenttest.Host{}, step()); r.OK {
				t.Errorf("behind the end: %+v", r)
			}
		})
	}
}

// converse has a step carried out and returns all results in one text.
func converse(t *testing.T, a *Agent) string {
	t.Helper()
	var out strings.Builder
	e := step()
	for range 5 {
		result, r := worked(t, a, &agenttest.Host{}, e)
		if !r.OK {
			t.Fatalf("%+v", r)
		}
		out.Write(r.Result)
		if result.Control != effect.Calls {
			return out.String()
		}
		spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
		spec.Messages = append(spec.Messages, result.Messages...)
		for _, c := range result.Asks {
			spec.Messages = append(spec.Messages, effect.Message{Role: effect.RoleTool, Call: c.ID, Text: "result"})
		}
		e.Spec = effect.Encode(spec)
	}
	t.Fatal("no end")
	return ""
}
