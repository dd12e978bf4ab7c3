package llm

import (
	"bytes"
	"strings"
	"testing"

	"pawl"
	"pawl/agent/agenttest"
	"pawl/effect"
	"pawl/internal/modeltest"
)

// TestReplay records a conversation with failures, closes the server, and has it again.
func TestReplay(t *testing.T) {
	for kind := range forms {
		t.Run(string(kind), func(t *testing.T) {
			srv := modeltest.Go(t, modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
				{Text: "I look — 看看.", Calls: []modeltest.Call{{Read: "a.go"}}, Status: 429, Times: 1, RetryAfter: "3"}, {Text: "Done.", Cut: 60, Times: 1},
			}}}})
			var kept bytes.Buffer
			rec := NewRecorder(&kept)
			s := at(kind, srv.URL)
			s.Record = rec.Record
			first := converse(t, Open(s))
			srv.Close()
			if n := strings.Count(kept.String(), "\n"); n != 4 || rec.Err() != nil || strings.Contains(kept.String(), "secret") {
				t.Fatalf("%d lines, %v: %s", n, rec.Err(), kept.String())
			}

			replay, err := NewReplay(bytes.NewReader(kept.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			s.Record, s.HTTP, s.Env = nil, replay, nil
			if second := converse(t, Open(s)); second != first || replay.Left() != 0 {
				t.Errorf("%s\n%s\n%d left", first, second, replay.Left())
			}
			if _, r := worked(t, Open(s), &agenttest.Host{}, step()); r.Key != "llm.replay_end" || r.Code != pawl.CodeInvalid {
				t.Errorf("behind the end: %+v", r)
			}

			replay, _ = NewReplay(bytes.NewReader(kept.Bytes()))
			s.HTTP = replay
			e := step()
			spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
			spec.Goal = "something else"
			e.Spec = effect.Encode(spec)
			_, r := worked(t, Open(s), &agenttest.Host{}, e)
			if r.Key != "llm.replay_differs" || !strings.Contains(r.Args[1], "$.") || !strings.Contains(r.Args[1], "something else") || replay.Left() != 4 || explain(r.Err()) == "" {
				t.Errorf("%+v", r)
			}
		})
	}
	if _, err := NewReplay(strings.NewReader("{}\nnonsense\n")); pawl.CodeOf(err) != pawl.CodeInvalid || !strings.Contains(err.Error(), "2") {
		t.Errorf("%v", err)
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
