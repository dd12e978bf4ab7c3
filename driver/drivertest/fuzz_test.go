package drivertest_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/shell"
	"pawl/driver/toolbox"
	"pawl/text/policy"
)

// FuzzArguments: whatever a model sends as the arguments of a tool, the tool says what the call asks of policy, or
// refuses it as malformed. What it takes its published schema allows, it takes the same way a second time, and policy
// judges it.
func FuzzArguments(f *testing.F) {
	tools := toolbox.All(shell.Config{})
	schemas := make([]*validator.Schema, len(tools))
	for i, tool := range tools {
		schemas[i] = drivertest.Schema(f, tool.Info().ArgsSchema)
		for _, args := range []string{`{}`, "", "null", "[]", `{"path":"a.txt"}`, `{"path":"../../etc/x","content":"y"}`,
			`{"command":"go test ./... | tee out","timeout_ms":1000,"network":true}`, `{"path":"a","path":"b"}`,
			`{"PATH":"a"}`, `{"pattern":"(","glob":"**/*.go","path":"."}`, `{"path":"a\u0000b"}`, `{"path":"\ud800"}`,
			`{"path":"a","start_line":1e2}`, `{"path":"a","start_line":-1}`, `{"path":1}`, `{"path":null}`,
			`{"patch":"*** Begin Patch\n*** Delete File: .git/config\n*** End Patch\n"}`,
			`{"patch":"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}`} {
			f.Add(uint(i), []byte(args))
		}
	}
	f.Fuzz(func(t *testing.T, which uint, args []byte) {
		i := int(which % uint(len(tools)))
		tool := tools[i]
		request, err := tool.Request(args)
		if err != nil {
			if code := pawl.CodeOf(err); code != pawl.CodeInvalid && code != pawl.CodeDenied {
				t.Fatalf("%s refuses %q with %v", tool.Info().Name, args, err)
			}
			return
		}
		if again, err := tool.Request(args); err != nil || !reflect.DeepEqual(again, request) {
			t.Fatalf("%s takes %q as %+v and as %+v, %v", tool.Info().Name, args, request, again, err)
		}
		if len(bytes.TrimSpace(args)) > 0 {
			value, err := validator.UnmarshalJSON(bytes.NewReader(args))
			if err == nil {
				err = schemas[i].Validate(value)
			}
			// The schema bounds lengths in characters, as far as these are text.
			if err != nil && json.Valid(args) && !strings.Contains(err.Error(), "Length") {
				t.Fatalf("%s takes %q, which its schema forbids: %v", tool.Info().Name, args, err)
			}
		}
		if request.Tool != tool.Info().Name || len(request.Permissions) == 0 {
			t.Fatalf("%s asks for %+v", tool.Info().Name, request)
		}
		if v := policy.Judge(request, policy.Profile{}); !v.Risk.Valid() || len(v.Reasons) == 0 {
			t.Fatalf("judged %+v", v)
		}
	})
}
