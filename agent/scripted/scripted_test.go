package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pawl/agent/wire"
)

const offer = `{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"},"sure":{"type":"boolean"}},"required":["file_path","content","sure"]}`

// forms are the wire forms: where requests go, what they look like after some calls were answered, and where the first
// call's id and arguments stand in a plain answer.
var forms = map[wire.Form]struct {
	path, body, answered, plain string
}{
	wire.Chat: {"/v1/chat/completions", `{"model":"m","stream":%v,"tools":[{"type":"function","function":{"name":"Write","parameters":` + offer + `}}],"messages":[%s]}`,
		`{"role":"tool","tool_call_id":"%s"}`, "choices.0.message.tool_calls.0.function.arguments"},
	wire.Responses: {"/v1/responses", `{"model":"m","stream":%v,"tools":[{"type":"function","name":"Write","parameters":` + offer + `}],"input":[%s]}`,
		`{"type":"function_call_output","call_id":"%s"}`, "output.1.arguments"},
	wire.Messages: {"/v1/messages", `{"model":"m","stream":%v,"tools":[{"name":"Write","input_schema":` + offer +
		`}],"messages":[%s]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s"}]}`, "content.1.input"},
	wire.Gemini: {"/v1beta/models/m:generateContent",
		`{"x":%v,"tools":[{"functionDeclarations":[{"name":"Write","parametersJsonSchema":` + offer +
			`}]}],"contents":[%s]}`,
		`{"role":"user","parts":[{"functionResponse":{"id":"%s"}}]}`, "candidates.0.content.parts.1.functionCall.args"},
}

func serve(t *testing.T, s Script) *Server {
	t.Helper()
	srv, err := Serve("127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body) // a cut body is an error that some tests want
	return resp, string(raw)
}

// dig follows a path of fields and indexes.
func dig(v any, path string) any {
	for p := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i := int(p[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// events reads a stream and returns the pieces of its JSON that stand in one of the given fields, joined.
func events(stream string, fields ...string) string {
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(stream))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var v any
		if !ok || json.Unmarshal([]byte(data), &v) != nil {
			continue
		}
		for _, f := range fields {
			switch x := dig(v, f).(type) {
			case string:
				out.WriteString(x)
			case map[string]any:
				out.WriteString(encode(x))
			}
		}
	}
	return out.String()
}

func TestForms(t *testing.T) {
	pieces := map[wire.Form][2][]string{
		wire.Chat:      {{"choices.0.delta.content"}, {"choices.0.delta.tool_calls.0.function.arguments"}},
		wire.Responses: {{"delta"}, {"item.arguments"}},
		wire.Messages:  {{"delta.text"}, {"delta.partial_json"}},
		wire.Gemini:    {{"candidates.0.content.parts.0.text"}, {"candidates.0.content.parts.0.functionCall.args"}},
	}
	const text = "I will do it, 好的."
	for form, f := range forms {
		srv := serve(t, Script{Branches: []Branch{{Steps: []Step{{Text: text,
			Calls: []Call{{Write: "a.go", Content: "x\n"}}}, {Text: "Done."}}}}})
		_, plain := post(t, srv.URL+f.path, fmt.Sprintf(f.body, false, ""))
		var v any
		if err := json.Unmarshal([]byte(plain), &v); err != nil {
			t.Fatalf("%s: %v: %s", form, err, plain)
		}
		args := dig(v, f.plain)
		if s, ok := args.(string); ok && json.Unmarshal([]byte(s), &args) != nil {
			t.Fatalf("%s: %s", form, s)
		}
		if got, want := fmt.Sprint(args), fmt.Sprint(map[string]any{"file_path": "a.go", "content": "x\n",
			"sure": false}); got != want {
			t.Errorf("%s: %s in %s", form, got, plain)
		}

		path := strings.Replace(f.path, ":generateContent", ":streamGenerateContent", 1)
		resp, stream := post(t, srv.URL+path, fmt.Sprintf(f.body, true, ""))
		said, asked := events(stream, pieces[form][0]...), events(stream, pieces[form][1]...)
		if resp.Header.Get("Content-Type") != "text/event-stream" || !strings.Contains(said, text) ||
			!strings.Contains(asked, `"file_path":"a.go"`) {
			t.Errorf("%s: %q %q in %s", form, said, asked, stream)
		}

		// The next step follows from the request alone.
		id := callID(0, 0, 0)
		_, next := post(t, srv.URL+f.path, fmt.Sprintf(f.body, false, fmt.Sprintf(f.answered, id)))
		if !strings.Contains(next, "Done.") {
			t.Errorf("%s: %s", form, next)
		}
		seen := srv.Requests()
		if len(seen) != 3 || !slices.Equal(seen[2].Results, []string{id}) || seen[0].Form != form ||
			seen[1].Stream != true || seen[2].Step != 1 || seen[0].Model != "m" {
			t.Errorf("%s: %+v", form, seen)
		}
	}
}

func TestFaults(t *testing.T) {
	f := forms[wire.Chat]
	body := fmt.Sprintf(f.body, true, "")
	srv := serve(t, Script{Branches: []Branch{{Steps: []Step{{Text: "Done.", Status: 503, Times: 2, RetryAfter: "7"}}}}})
	for i, want := range []int{503, 503, 200} {
		resp, _ := post(t, srv.URL+f.path, body)
		if resp.StatusCode != want || i < 2 && resp.Header.Get("Retry-After") != "7" {
			t.Errorf("%d: %d %v", i, resp.StatusCode, resp.Header)
		}
	}
	whole := Recorded(wire.Chat, Call{Args: "{}"}, "Write")
	for _, n := range []int{1, 100, len(whole) - 200} {
		srv.Play(Script{Branches: []Branch{{Steps: []Step{{Text: "I will do it.",
			Calls: []Call{{Name: "Write", Args: "{}"}}, Cut: n}}}}})
		resp, err := http.Post(srv.URL+f.path, "", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if len(got) != n || err == nil {
			t.Errorf("cut at %d: %d bytes, %v", n, len(got), err)
		}
	}
	for form := range forms {
		s := serve(t, Script{Branches: []Branch{{Steps: []Step{{Text: "much ado ", Flood: 1 << 20}}}}})
		path := strings.Replace(forms[form].path, ":generateContent", ":streamGenerateContent", 1)
		if _, out := post(t, s.URL+path, fmt.Sprintf(forms[form].body, true, "")); len(out) < 1<<20 ||
			strings.Count(out, "much ado") < 1000 {
			t.Errorf("%s: %d bytes", form, len(out))
		}
	}
}

func TestStructured(t *testing.T) {
	srv := serve(t, Script{Branches: []Branch{{Steps: []Step{{}}}},
		JSON: map[string]json.RawMessage{"plan": json.RawMessage(`no JSON`), "plan#2": json.RawMessage(`{"b":2}`),
			"": json.RawMessage(`{"c":3}`)}})
	ask := func(name string) string {
		_, out := post(t, srv.URL+"/v1/chat/completions",
			`{"model":"m","stream":true,"response_format":{"type":"json_schema","json_schema":{"name":"`+name+`"}}}`)
		return events(out, "choices.0.delta.content")
	}
	for i, want := range []string{`no JSON`, `{"b":2}`, `{"b":2}`} {
		if got := ask("plan"); got != want {
			t.Errorf("%d: %q", i, got)
		}
	}
	if got := ask("other"); got != `{"c":3}` {
		t.Errorf("%q", got)
	}
}

func TestBranches(t *testing.T) {
	srv := serve(t, FixBug("a.go", "wrong", "right"))
	f := forms[wire.Chat]
	for add, want := range map[string]string{
		`{"role":"user","content":"call_b0s0n0"}`:                   "wrong",
		`{"role":"user","content":"` + Repairing + ` call_b1s0n0"}`: "right",
	} {
		_, out := post(t, srv.URL+f.path, fmt.Sprintf(f.body, false, add))
		if !strings.Contains(out, want) {
			t.Errorf("%q: %s", add, out)
		}
	}
	if !bytes.Contains(Recorded(wire.Gemini, Call{Args: `{"a":1}`}, "f"), []byte(`"finishReason":"STOP"`)) {
		t.Error("a recorded stream has no end")
	}
}
