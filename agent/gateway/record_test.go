package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pawl/agent"
	"pawl/agent/gateway"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
)

func TestARecordingIsEnough(t *testing.T) {
	script := modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "你好, I will look.",
		Calls: []modeltest.Call{{Run: "ls"}}}}}}}
	srv := modeltest.Go(t, script)
	var file bytes.Buffer
	rec := agent.NewRecorder[gateway.Exchange](&file)
	r := serve(t, gateway.Config{Providers: providers(srv.URL), Record: rec.Record})
	answers := map[string]string{}
	for _, w := range wires() {
		_, answers[w.name], _ = r.do("POST", w.path, w.body)
	}
	r.stop()
	used := r.lane.Usage()
	srv.Close()
	digests := map[string]string{}
	var recorded []modeltest.Exchange
	for line := range bytes.Lines(file.Bytes()) {
		var x struct {
			Path, Digest, Request, Type, Reply string
			Status                             int
		}
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		digests[x.Path+x.Request] = x.Digest
		recorded = append(recorded, modeltest.Exchange{Path: x.Path, Request: x.Request, Status: x.Status, Type: x.Type,
			Reply: x.Reply})
	}
	if len(recorded) != len(wires()) {
		t.Fatal(file.String())
	}

	tape, left := modeltest.Replay(t, recorded, func(x modeltest.Exchange, asked string) bool {
		return digests[x.Path+x.Request] == gateway.Digest("POST", x.Path, []byte(asked))
	})
	ps := providers("http://model.test")
	for name, p := range ps {
		p.Transport, p.Key = withoutQuery{tape}, nil
		ps[name] = p
	}
	r = serve(t, gateway.Config{Providers: ps})
	all := wires()
	for i := range all {
		w := all[len(all)-1-i] // in another order
		// What differs from run to run, and the order of members, does not matter.
		body := w.body
		if w.form != wire.Gemini { // which knows no such member
			body = strings.Replace(body, "{", `{"metadata":{"user_id":"another"},`, 1)
		}
		if status, got, err := r.do("POST", w.path, body); status != 200 || err != nil || got != answers[w.name] {
			t.Errorf("%s: %d %v\n%s\n%s", w.name, status, err, got, answers[w.name])
		}
	}
	r.stop()
	if left() != 0 || r.lane.Usage() != used {
		t.Errorf("%d left, %+v instead of %+v", left(), r.lane.Usage(), used)
	}
}

// withoutQuery asks without the query, which is no part of a recording.
type withoutQuery struct{ http.RoundTripper }

func (w withoutQuery) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.RawQuery = ""
	return w.RoundTripper.RoundTrip(r)
}

func TestBytesThatAreNoTextAreRecorded(t *testing.T) {
	for want, text := range map[string]gateway.Text{`""`: nil, `"a\"\u003c"`: gateway.Text(`a"<`),
		`{"base64":"/wA="}`: {0xff, 0}} {
		if raw, err := json.Marshal(text); err != nil || string(raw) != want {
			t.Errorf("%q became %s, not %s: %v", text, raw, want, err)
		}
	}
}
