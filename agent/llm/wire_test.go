package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/agent/agenttest"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (w transport) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// says answers with a body that ends in the given error.
func says(body []byte, end error) transport {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{},
			Body: io.NopCloser(&broken{bytes.NewReader(body), end})}, nil
	}
}

type broken struct {
	r   io.Reader
	end error
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == io.EOF {
		err = b.end
	}
	return n, err
}

func provider(kind wire.Form, w http.RoundTripper) Provider {
	return Speak(kind, &Client{URL: "http://model.test", HTTP: w})
}

// step is work for a model.
func step() effect.Effect {
	return effect.Effect{ID: "01J", Kind: effect.KindWork,
		Spec: effect.Encode(effect.WorkSpec{Goal: "mend it", Step: "s1", Plan: plan.Plan{
			PlanID: "P-1", Goal: "mend it", Steps: []plan.Step{{StepID: "s1", Title: "Mend", Intent: "Mend it",
				Status: plan.InProgress}},
		}})}
}

// worked has an effect done and returns what became of it.
func worked(t testing.TB, a *Agent, host effect.Host, e effect.Effect) (effect.WorkResult, effect.Receipt) {
	t.Helper()
	r := a.Do(t.Context(), e, host, nil)
	if !r.OK {
		return effect.WorkResult{}, r
	}
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return result, r
}

func TestForms(t *testing.T) {
	for _, kind := range forms {
		t.Run(string(kind), func(t *testing.T) {
			srv := modeltest.Go(t, modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
				{Thought: "let me think", Text: "I read “both”.", In: 120, Out: 34,
					Calls: []modeltest.Call{{Read: "a.go"}, {Read: "b <&>.go"}}},
				{Text: "Done."},
			}}}})
			host := &agenttest.Host{}
			a := Open(at(kind, srv.URL))
			var told []string
			e := step()
			r := a.Do(t.Context(), e, host, func(l string) { told = append(told, l) })
			result, err := effect.Decode[effect.WorkResult](r.Result)
			if err != nil || !r.OK {
				t.Fatalf("%+v %v", r, err)
			}
			if result.Control != effect.Calls || result.Text != "I read “both”." || len(result.Asks) != 2 ||
				string(result.Asks[1].Args) == "" {
				t.Fatalf("%+v", result)
			}
			for i, want := range []string{`{"path":"a.go"}`, `{"path":"b <&>.go"}`} {
				var got, wanted any
				if json.Unmarshal(result.Asks[i].Args, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil ||
					fmt.Sprint(got) != fmt.Sprint(wanted) {
					t.Errorf("call %d: %s", i, result.Asks[i].Args)
				}
			}
			if strings.Join(told, "|") != "I read “both”." {
				t.Errorf("told %q", told)
			}
			u := result.Usage
			if u.InTokens != 120 || u.OutTokens != 34 || u.Requests != 1 || host.Spent() != u || !u.Unpriced {
				t.Errorf("%+v, spent %+v", u, host.Spent())
			}
			if result.Model != "mock-model" || result.Prompt == "" {
				t.Errorf("%+v", result.Said)
			}

			spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
			spec.Messages = result.Messages
			for _, c := range result.Asks {
				spec.Messages = append(spec.Messages,
					effect.Message{Role: effect.RoleTool, Call: c.ID, Text: "content of it"})
			}
			e.Spec = effect.Encode(spec)
			if result, r := worked(t, a, host, e); result.Control != effect.StepDone {
				t.Fatalf("%+v %+v", r, result)
			}
			asked := srv.Requests()
			if len(asked) != 2 || len(asked[1].Results) != 2 || asked[1].Key != secret {
				t.Fatalf("%d requests, results %v", len(asked), asked[len(asked)-1].Results)
			}
			for _, want := range []string{modeltest.Thinks, "content of it", "let me think"} {
				if !strings.Contains(asked[1].Body, want) {
					t.Errorf("%q was not brought back: %s", want, asked[1].Body)
				}
			}
		})
	}
}

// TestEveryCut cuts a stream that asks for a call at every byte. Without its last event nothing is asked for, the
// exchange is had again three times at most, and what was set aside is settled each time.
func TestEveryCut(t *testing.T) {
	for _, form := range forms {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			whole := modeltest.Recorded(form, modeltest.Call{Args: `{"path":"a.go","content":"x"}`}, "write_file")
			for n := 0; n <= len(whole); n++ {
				for _, end := range []error{io.EOF,
					[]error{io.ErrUnexpectedEOF, errors.New("read: connection reset by peer")}[n%2]} {
					requests := 0
					answer := says(whole[:n], end)
					s := at(form, "http://model.test")
					s.HTTP = transport(func(r *http.Request) (*http.Response, error) { requests++; return answer(r) })
					host := &agenttest.Host{}
					result, r := worked(t, Open(s), host, step())
					if host.Open() != 0 || host.Reserved() != requests {
						t.Fatalf("cut at %d: %d reservations for %d requests, %d open", n, host.Reserved(), requests,
							host.Open())
					}
					if n == len(whole) {
						if !r.OK || len(result.Asks) != 1 || requests != 1 {
							t.Fatalf("the whole stream: %+v", r)
						}
						continue
					}
					if r.OK || r.Code != pawl.CodeEnvironment || len(result.Asks) != 0 || requests != 4 ||
						host.Spent().InTokens == 0 {
						t.Fatalf("cut at %d of %d by %v: %+v after %d requests", n, len(whole), end, r, requests)
					}
					if key := r.Key; key != "llm.cut" && key != "llm.unreachable" {
						t.Fatalf("cut at %d: %s", n, key)
					}
				}
			}
		})
	}
}

// stream is an answer in the events of a wire form.
func stream(events ...string) []byte {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return []byte(b.String())
}

// Events of Responses, and an item that asks for a call.
func added(at int) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{}}`, at)
}

func finished(at int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, at, item)
}

func completed(items string) string {
	return `{"type":"response.completed","response":{"output":[` + items + `]}}`
}

func calling(name, args string) string {
	return `{"type":"function_call","call_id":"c1","name":"` + name + `","arguments":"` + args + `"}`
}

func TestOddStreams(t *testing.T) {
	const done = "[DONE]"
	chat := func(delta, finish string) string {
		return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
	}
	call := func(index, id, name, args string) string {
		return chat(`{"tool_calls":[{`+index+`"id":`+id+`,"function":{"name":`+name+`,"arguments":`+args+`}}]}`, "null")
	}
	stop := chat(`{}`, `"stop"`)
	open := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}`
	ending := []string{`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`}
	gem := func(parts, finish string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `]}` + finish + `}]}`
	}
	for name, c := range map[string]struct {
		kind wire.Form
		body []byte
		want string // names and arguments of calls, or the key of the error
	}{
		"no index and no id": {wire.Chat, stream(call("", `""`, `"f"`, `"{}"`),
			call("", `""`, `"g"`, `"{\"a\""`), call("", `""`, `""`, `":1}"`), stop, done), `f{} g{"a":1}`},
		"several calls of one index": {wire.Chat,
			stream(call(`"index":0,`, `"a"`, `"f"`, `"{}"`), call(`"index":0,`, `"b"`, `"g"`, `"{}"`), stop, done),
			`f{} g{}`},
		"the name in each piece": {wire.Chat,
			stream(call(`"index":0,`, `"a"`, `"f"`, `"{"`), call(`"index":0,`, `"a"`, `"f"`, `"}"`), stop, done),
			`f{}`},
		"an index far away": {wire.Chat, stream(call(`"index":900000000,`, `"a"`, `"f"`, `""`), stop, done),
			`f{}`},
		"a negative index": {wire.Chat, stream(call(`"index":-1,`, `"a"`, `"f"`, `"null"`), stop, done),
			`f{}`},
		"a call without a name": {wire.Chat, stream(call(`"index":0,`, `"a"`, `""`, `"{}"`), stop, done),
			"llm.malformed"},
		"no reason for the end": {wire.Chat, stream(call(`"index":0,`, `"a"`, `"f"`, `"{}"`), done), "llm.cut"},
		"a reason that nobody knows": {wire.Chat,
			stream(call(`"index":0,`, `"a"`, `"f"`, `"{}"`), chat(`{}`, `"error"`), done), "llm.malformed"},
		"truncated": {wire.Chat,
			stream(call(`"index":0,`, `"a"`, `"f"`, `"{}"`), chat(`{}`, `"length"`), done), "llm.truncated"},
		"filtered": {wire.Chat, stream(chat(`{}`, `"content_filter"`), done), "llm.filtered"},
		"an error in the stream": {wire.Chat, stream(call(`"index":0,`, `"a"`, `"f"`, `"{}"`),
			`{"error":{"message":"overloaded"}}`, stop, done), "llm.server_error"},
		"no JSON": {wire.Chat, stream(`{"choices":`, stop, done), "llm.malformed"},
		"too many calls": {wire.Chat,
			stream(append(many(65, func(i int) string {
				return call(fmt.Sprintf(`"index":%d,`, i), `"a"`, `"f"`,
					`"{}"`)
			}), stop, done)...), "llm.malformed"},
		"comments and carriage return": {wire.Chat,
			[]byte(": hello\r\n\r\n" + strings.ReplaceAll(string(stream(chat(`{"content":"x"}`, `"stop"`), done)), "\n",
				"\r\n")), ""},

		"a whole input": {wire.Messages,
			stream(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}}`, `{"type":"content_block_stop","index":0}`, ending[0], ending[1]), `f{"a":1}`},
		"a block that stays open": {wire.Messages, stream(open, ending[0], ending[1]), "llm.malformed"},
		"a block without content": {wire.Messages, stream(`{"type":"content_block_start","index":0}`,
			`{"type":"content_block_delta","index":0,"delta":{"text":"x"}}`, ending[1]), "llm.malformed"},
		"a piece of another block": {wire.Messages,
			stream(open, `{"type":"content_block_delta","index":1,"delta":{"partial_json":"{}"}}`, ending[1]),
			"llm.malformed"},
		"a piece without a block": {wire.Messages,
			stream(`{"type":"content_block_delta","index":0,"delta":{"text":"x"}}`, ending[1]), "llm.malformed"},
		"a block twice": {wire.Messages, stream(open, open, ending[0], ending[1]), "llm.malformed"},
		"overloaded": {wire.Messages,
			stream(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "llm.server_error"},
		"an end without a reason": {wire.Messages, stream(ending[1]), "llm.cut"},
		"refused": {wire.Messages,
			stream(`{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, ending[1]), "llm.filtered"},
		"items with the end alone": {wire.Responses,
			stream(completed(calling("f", "{}") + "," + calling("g", `{\"a\":1}`))), `f{} g{"a":1}`},
		"the end decides": {wire.Responses,
			stream(added(0), `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1"}`,
				finished(0, calling("f", `{\"a\":2}`)), completed("")), `f{"a":2}`},
		"an item that is never finished": {wire.Responses, stream(added(0), completed(calling("f", "{}"))),
			"llm.malformed"},
		"an item finished twice": {wire.Responses, stream(added(0), finished(0, calling("f", "{}")),
			finished(0, calling("g", "{}")), completed("")), "llm.malformed"},
		"an item that never began": {wire.Responses, stream(finished(0, calling("f", "{}")), completed("")),
			"llm.malformed"},
		"an item far away": {wire.Responses,
			stream(`{"type":"response.output_item.added","output_index":900000000,"item":{}}`, completed("")),
			"llm.malformed"},
		"an item below zero": {wire.Responses, stream(finished(-1, calling("f", "{}")), completed("")),
			"llm.malformed"},
		"an item without a name": {wire.Responses, stream(completed(calling("", "{}"))), "llm.malformed"},
		"an item that is none":   {wire.Responses, stream(completed(`7`)), "llm.malformed"},
		"too many items": {wire.Responses,
			stream(completed(strings.Join(many(65, func(int) string { return calling("f", "{}") }), ","))),
			"llm.malformed"},
		"items and no end": {wire.Responses, stream(added(0), finished(0, calling("f", "{}"))),
			"llm.cut"},
		"an end that is not completed": {wire.Responses, stream(added(0), finished(0, calling("f", "{}")),
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`),
			"llm.truncated"},
		"an end that is held back": {wire.Responses,
			stream(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`),
			"llm.filtered"},
		"an end that sounds good": {wire.Responses, stream(added(0), finished(0, calling("f", "{}")),
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"stop"}}}`), "llm.malformed"},
		"an end without a cause": {wire.Responses, stream(`{"type":"response.incomplete","response":{}}`),
			"llm.cut"},
		"a failure": {wire.Responses, stream(added(0), finished(0, calling("f", "{}")),
			`{"type":"response.failed","response":{"error":{"code":"server_error","message":"sorry"}}}`, completed("")),
			"llm.server_error"},
		"an error event": {wire.Responses,
			stream(`{"type":"error","code":"server_error","message":"sorry"}`, completed("")), "llm.server_error"},

		"calls without ids": {wire.Gemini,
			stream(gem(`{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g"}}`,
				`,"finishReason":"STOP"`)), `f{} g{}`},
		"a call without an end": {wire.Gemini, stream(gem(`{"functionCall":{"name":"f","args":{}}}`, ``)),
			"llm.cut"},
		"a malformed call": {wire.Gemini, stream(gem(``, `,"finishReason":"MALFORMED_FUNCTION_CALL"`)),
			"llm.malformed"},
		"a prompt that is held back": {wire.Gemini, stream(`{"promptFeedback":{"blockReason":"SAFETY"}}`),
			"llm.filtered"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := provider(c.kind, says(c.body, io.EOF)).Stream(t.Context(), Request{Model: "m"}, nil)
			got := []string{}
			for _, a := range reply.Calls {
				got = append(got, a.Name+string(a.Args))
			}
			var e *pawl.Error
			if errors.As(err, &e) {
				got = append(got, e.Key)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q, want %q (%v)", s, c.want, err)
			}
		})
	}
}

func many(n int, f func(int) string) (out []string) {
	for i := range n {
		out = append(out, f(i))
	}
	return out
}

// TestResponses: nothing is stored at the provider, thoughts are asked for where a model has some, and they come back
// in the provider's own words.
func TestResponses(t *testing.T) {
	thought := json.RawMessage(`[{"type":"reasoning","id":"rs_1","encrypted_content":"sealed","summary":[]},{"type":"function_call","call_id":"c1","name":"read_file","arguments":"{}"}]`)
	r := Request{System: "be brief", MaxOut: 77, Name: "plan", Schema: json.RawMessage(`{"type":"object"}`),
		Messages: []effect.Message{
			{Role: effect.RoleUser, Text: "go"}, {Role: effect.RoleAssistant, Opaque: own(wire.Responses, thought)},
			{Role: effect.RoleTool, Call: "c1", Text: "x"},
		}}
	for model, asks := range map[string]bool{"gpt-5.1": true, "o3": true, "router/gpt-5-mini": true, "local": true,
		"gpt-4.1-mini": false, "router/gpt-4o": false} {
		r.Model = model
		raw, err := json.Marshal(responsesRequest(r))
		if err != nil {
			t.Fatal(err)
		}
		body := string(raw)
		for _, want := range []string{
			`"store":false`, `"stream":true`, `"instructions":"be brief"`, `"max_output_tokens":77`, `"name":"plan"`,
			`"encrypted_content":"sealed"`,
			`{"call_id":"c1","output":"x","type":"function_call_output"}`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", model, want, body)
			}
		}
		if strings.Contains(body, "reasoning.encrypted_content") != asks {
			t.Errorf("%s: %s", model, body)
		}
	}
	for _, c := range []struct {
		kind wire.Provider
		api  string
		want wire.Form
	}{
		{wire.OpenAI, "responses", wire.Responses}, {"", "responses", wire.Responses}, {wire.OpenAI, "chat",
			wire.Chat}, {wire.OpenAI, "", wire.Chat},
		{wire.Anthropic, "responses", wire.Messages},
	} {
		p, err := Open(Settings{Kind: c.kind, API: c.api, Name: "m"}).provider()
		if err != nil || p.(speaker).form != c.want {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
}

// TestOtherWords goes on with a conversation whose answers another provider gave: its own words mean nothing here.
func TestOtherWords(t *testing.T) {
	messages := []effect.Message{
		{Role: effect.RoleUser, Text: "go"},
		{Role: effect.RoleAssistant, Text: "I read",
			Calls:  []effect.Ask{{ID: "c1", Name: "read_file", Args: json.RawMessage(`{"path":"a"}`)}},
			Opaque: own(wire.Messages, json.RawMessage(`[{"type":"thinking","signature":"theirs"}]`))},
		{Role: effect.RoleTool, Call: "c1", Text: "x"},
	}
	for _, kind := range forms {
		var body []byte
		_, _ = provider(kind, transport(func(r *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(r.Body)
			return nil, errors.New("enough")
		})).Stream(t.Context(), Request{Model: "m", Messages: messages}, nil)
		if has := bytes.Contains(body, []byte("theirs")); has != (kind == wire.Messages) {
			t.Errorf("%s: %s", kind, body)
		}
		if kind != wire.Messages && !bytes.Contains(body, []byte("read_file")) {
			t.Errorf("%s: the call is missing: %s", kind, body)
		}
	}
}

func TestStrict(t *testing.T) {
	for text, fine := range map[string]bool{
		`{}`: true, ` {"a":[1,{"b":null}],"c":"x"} `: true, `{"a":{"x":1},"b":{"x":1}}`: true,
		``: false, `null`: false, `[]`: false, `"x"`: false, `{`: false, `{"a":1}{"b":2}`: false, `{"a":1} x`: false,
		`{"a":1,}`: false, `{"a" 1}`: false, `{'a':1}`: false,
		`{"a":1,"a":2}`: false, `{"path":1,"Path":2}`: false, `{"a":{"b":1,"B":2}}`: false,
		`{"a":[{"k":1,"\u006b":2}]}`: false,
		"{\"k\":1,\"\u212a\":2}":     false, "{\"s\":1,\"\u017f\":2}": false,
		`{"a":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`:   false,
		`{"a":` + strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6) + `}`:   false,
		`{"a":` + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat("}", 51): true,
	} {
		if err := agent.Strict([]byte(text)); (err == nil) != fine {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, form := range forms {
		f.Add(string(form), modeltest.Recorded(form, modeltest.Call{Args: `{"path":"a"}`}, "read_file"))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		client := &Client{URL: "http://model.test"}
		got, take := speaker{client, wire.Form(kind)}.answer(nil)
		err := client.read(t.Context(), t.Context(), bytes.NewReader(body), take)
		reply := got.reply("m")
		if err != nil && len(reply.Calls) > 0 {
			t.Fatalf("calls beside an error: %+v", reply)
		}
		for _, c := range reply.Calls {
			if c.Name == "" || c.ID == "" {
				t.Fatalf("%+v", c)
			}
		}
		// Whatever came has to fit into a result that can be kept.
		h := hear(effect.WorkSpec{}, nil, reply)
		if _, err := json.Marshal(h.messages); err != nil {
			t.Fatal(err)
		}
		for _, a := range h.asks {
			if agent.Strict(a.Args) != nil {
				t.Fatalf("asked for with %s", a.Args)
			}
		}
	})
}
