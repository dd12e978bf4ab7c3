package llm

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pawl"
	"pawl/agent/agenttest"
	"pawl/agent/wire"
	"pawl/kernel/effect"
	"pawl/text/message"
)

// forms are those in which models are asked.
var forms = []wire.Form{wire.Chat, wire.Responses, wire.Messages, wire.Gemini}

// offered are the tools that agents of the tests may ask for.
func offered() []effect.ToolInfo {
	object := func(fields string) json.RawMessage {
		return json.RawMessage(`{"type":"object","additionalProperties":false,` + fields + `}`)
	}
	return []effect.ToolInfo{
		{Name: "read_file", Description: "Read.",
			ArgsSchema: object(`"required":["path"],"properties":{"path":{"type":"string"}}`)},
		{Name: "write_file", Description: "Write.",
			ArgsSchema: object(`"required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}`)},
		{Name: "run_terminal_cmd", Description: "Run.",
			ArgsSchema: object(`"required":["command"],"properties":{"command":{"type":"string"}}`)},
	}
}

const secret = "sk-secret/key+1"

// at are settings for a server of the tests. Waits between tries take no time.
func at(form wire.Form, url string) Settings {
	if form == wire.Chat {
		url += "/v1"
	}
	return Settings{Kind: form.Provider(), API: string(form), BaseURL: url, Name: "mock-model", Tools: offered(),
		KeyEnv: "MODEL_KEY",
		Env:    func(name string) string { return map[string]string{"MODEL_KEY": secret}[name] },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func TestSuite(t *testing.T) {
	for _, form := range forms {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			agenttest.Run(t, func(_ *testing.T, w agenttest.Workspace) agenttest.Agent {
				return Open(at(form, w.Model.URL))
			}, agenttest.Traits{Works: true, Intakes: true, Judges: true, Plans: true, Form: form, Explain: explain})
		})
	}
}

// explain is an error in both languages, or "" when a language lacks it.
func explain(err error) string {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return ""
	}
	if _, ok := message.Lookup(e.Key); !ok {
		return ""
	}
	text, hint := message.English.Error(err)
	zh, zhHint := message.Chinese.Error(err)
	if text == zh || hint == zhHint {
		return ""
	}
	return text + "\n" + hint
}
