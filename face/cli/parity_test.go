package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"pawl/face/api"
	"pawl/face/cli/settings"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/message"
)

// TestParity goes through the states that work can be in, and asks of each on the command line and over HTTP: the two
// say the same.
func TestParity(t *testing.T) {
	c := newConsole(t, "C")
	c.must(0, "init", "--bare")
	said := map[string]bool{}
	same := func() {
		t.Helper()
		for command, path := range map[string]string{
			"status": "/status", "show": "/runs/-", "task show": "/tasks/-", "plan show": "/plan",
			"issue show ISS-1": "/issues/ISS-1", "inbox": "/inbox",
		} {
			status, out, _ := c.run(append(strings.Fields(command), "--json")...)
			var theirs, ours map[string]any
			if status == 0 && json.Unmarshal([]byte(out), &theirs) != nil {
				t.Fatalf("%s: %s", command, out)
			}
			// The command line finds what is meant where nothing is named; a program names it.
			named := map[string]string{"show": "run", "task show": "task_id"}[command]
			if id, ok := theirs[named].(string); ok {
				path = strings.Replace(path, "-", id, 1)
			}
			if strings.HasSuffix(path, "/-") {
				continue // there is none
			}
			answered, raw := c.answered(path)
			if (answered == http.StatusOK) != (status == 0) {
				t.Errorf("%s ends with %d, and %s is answered with %d: %s", command, status, path, answered, raw)
				continue
			}
			if status != 0 {
				continue
			}
			if err := json.Unmarshal(raw, &ours); err != nil {
				t.Fatal(err)
			}
			if command == "issue show ISS-1" {
				delete(theirs, "error") // in words, for a person
			} // in words, for a person
			if !reflect.DeepEqual(ours, theirs) {
				t.Errorf("%s says\n%s\nand %s\n%s", command, out, path, raw)
			}
			if command == "status" {
				said[theirs["state"].(string)] = true
			}
		}
	}
	step := func(want int, args ...string) {
		t.Helper()
		c.must(want, args...)
		same()
	}
	same()
	step(0, "issue", "add", "one")
	step(9, "run", "do the work")
	step(0, "revise", "-m", "another way", "--no-wait")
	step(0, "resume", "--no-wait")
	step(0, "cancel")
	step(9, "run", "do the work")
	step(0, "approve", c.hash(), "--yes", "--no-wait")
	step(0, "pause")
	step(0, "resume")
	step(0, "undo")
	step(0, "redo")
	c.host.world.failGates = 100
	step(8, "run", "again", "--yes")
	step(0, "skip")
	c.host.owner = &host.Owner{PID: 7, Host: "here", Command: "pawl run"}
	same()
	for _, state := range []string{"IDLE", "CONFIRMING", "PLANNING", "EXECUTING", "BLOCKED"} {
		if !said[state] {
			t.Errorf("nothing was asked while the session was %s", state)
		}
	}
}

// answered asks over HTTP.
func (c *console) answered(path string) (int, []byte) {
	c.t.Helper()
	place, err := c.host.Find("")
	if err != nil {
		c.t.Fatal(err)
	}
	w, err := c.host.Open(context.Background(), place, host.Open{Config: settings.Default()})
	if err != nil {
		c.t.Fatal(err)
	}
	s := api.New(api.Config{Kernel: w.Kernel, Feed: w.Feed, Lang: message.English,
		To: func(k *kernel.Kernel) give.To { return give.To{Kernel: k} },
		Working: query.Working{Owner: func() *view.Owner {
			o, ok := w.Owner()
			if !ok {
				return nil
			}
			return &view.Owner{PID: o.PID, Host: o.Host, Started: o.Started, Command: o.Command, State: o.State}
		}},
		Who: func(*http.Request) *api.Caller {
			return &api.Caller{Name: "x", Scopes: []api.Scope{api.Read, api.Act, api.Approve}}
		}})
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, api.Root+path, http.NoBody)
	got := httptest.NewRecorder()
	s.ServeHTTP(got, r)
	return got.Code, bytes.TrimSpace(got.Body.Bytes())
}
