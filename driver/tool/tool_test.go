package tool_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

type args struct {
	Name string `json:"name" min:"1" max:"10"`
	Same bool   `json:"same,omitempty"`
	Sort string `json:"sort,omitempty"`
}

type said struct {
	Name string `json:"name"`
	Sort string `json:"sort"`
}

// greet is a tool that answers with what it was given, and beside that fails for the name "fail".
func greet() tool.Declaration[args, said] {
	return tool.Declaration[args, said]{
		Info:     effect.ToolInfo{Name: "greet", Permissions: []policy.Permission{policy.FSRead}},
		Defaults: args{Sort: "warm"},
		Normalize: func(a *args) error {
			if a.Name == "nobody" {
				return pawl.Fail(pawl.CodeInvalid, "file.args_json")
			}
			return nil
		},
		Request: func(a args) policy.Request {
			r := policy.Request{Paths: []policy.Path{{Rel: a.Name, Op: policy.OpRead}}}
			if a.Sort == "deep" {
				r.Permissions = []policy.Permission{policy.FSWrite}
			}
			return r
		},
		Do: func(_ context.Context, c *tool.Call, a args) (*said, error) {
			if c.Progress != nil {
				c.Progress(a.Name)
			}
			switch a.Name {
			case "fail":
				return &said{a.Name, a.Sort}, pawl.Fail(pawl.CodeConflict, "file.changed", "x")
			case "none":
				return nil, pawl.Fail(pawl.CodeConflict, "file.changed", "x")
			}
			return &said{a.Name, a.Sort}, nil
		},
	}
}

func call(args string) effect.Effect {
	return effect.Effect{Kind: effect.KindTool,
		Spec: effect.Encode(effect.ToolCall{CallID: "c", Name: "greet", Args: json.RawMessage(args)})}
}

func TestRequest(t *testing.T) {
	for args, want := range map[string][]policy.Permission{
		`{"name":"a"}`: {policy.FSRead}, `{"name":"a","sort":"deep"}`: {policy.FSWrite},
		`{"name":""}`: nil, `{}`: nil, `{"name":"nobody"}`: nil, `{"name":"a","SORT":"x"}`: nil,
	} {
		r, err := tool.New(greet()).Request(json.RawMessage(args))
		if (err == nil) != (want != nil) || err != nil && pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Fatalf("%s: %v", args, err)
		}
		if err == nil && (r.Tool != "greet" || !slices.Equal(r.Permissions, want) || r.Paths[0].Rel != "a") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// TestReceipts: an answer beside an error is kept with the failure, and one alone is an error.
func TestReceipts(t *testing.T) {
	for args, want := range map[string]struct {
		code    pawl.Code
		payload string
	}{
		`{"name":"a"}`: {"", `{"name":"a","sort":"warm"}`}, `{"name":"fail","sort":"b"}`: {pawl.CodeConflict,
			`{"name":"fail","sort":"b"}`},
		`{"name":"none"}`: {pawl.CodeConflict, ""}, `{"name":"nobody"}`: {pawl.CodeInvalid, ""},
	} {
		told := ""
		r := tool.New(greet()).Do(t.Context(), call(args), func(line string) { told = line })
		if r.OK != (want.code == "") || r.Code != want.code {
			t.Errorf("%s: %+v", args, r)
		}
		if (want.payload == "") != (len(r.Result) == 0) {
			t.Fatalf("%s: %s", args, r.Result)
		}
		if want.payload == "" {
			continue
		}
		res, err := effect.Decode[effect.ToolResult](r.Result)
		if err != nil || res.CallID != "c" || string(res.Payload) != want.payload || told == "" ||
			res.Artifacts.FilesChanged == nil || res.Artifacts.CommandsRun == nil {
			t.Errorf("%s: %v %+v", args, err, res)
		}
	}
}

// TestDoneUnlessDeclared: without a word of the tool, a call may be made again only where somebody says so.
func TestDoneUnlessDeclared(t *testing.T) {
	repeatable := greet()
	repeatable.Repeatable = func(a args) bool { return a.Same }
	idempotent := greet()
	idempotent.Info.Idempotent = true
	kept := call(`{"name":"a"}`)
	kept.Idempotent = true
	for name, c := range map[string]struct {
		of   tool.Declaration[args, said]
		e    effect.Effect
		want effect.Answer
	}{
		"nobody":                       {greet(), call(`{"name":"a"}`), effect.DoneUnknown},
		"the tool":                     {idempotent, call(`{"name":"a"}`), effect.DoneNo},
		"the effect":                   {greet(), kept, effect.DoneNo},
		"the call":                     {repeatable, call(`{"name":"a","same":true}`), effect.DoneNo},
		"the call, otherwise":          {repeatable, call(`{"name":"a"}`), effect.DoneUnknown},
		"the call, which is malformed": {repeatable, call(`{"name":7,"same":true}`), effect.DoneUnknown},
		"the call, which is lost":      {repeatable, effect.Effect{Kind: effect.KindTool}, effect.DoneUnknown},
	} {
		if got, r := tool.New(c.of).Done(t.Context(), c.e); got != c.want || r.OK {
			t.Errorf("%s: %s %+v", name, got, r)
		}
	}
}

// TestDone: a receipt goes along with a yes only.
func TestDone(t *testing.T) {
	for _, want := range []effect.Answer{effect.DoneYes, effect.DoneNo, effect.DoneUnknown} {
		d := greet()
		d.Done = func(context.Context, *tool.Call) (effect.Answer, *said) { return want, &said{"a", "b"} }
		got, r := tool.New(d).Done(t.Context(), call(`{"name":"a"}`))
		if got != want || r.OK != (want == effect.DoneYes) || (len(r.Result) > 0) != r.OK {
			t.Errorf("%s: %s %+v", want, got, r)
		}
	}
}
