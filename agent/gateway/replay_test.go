package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pawl"
	"pawl/agent/gateway"
	"pawl/internal/modeltest"
)

func replaying(p *gateway.Replay) map[string]gateway.Provider {
	ps := providers("http://model.test")
	for name, v := range ps {
		v.Transport, v.Key = p, nil
		ps[name] = v
	}
	return ps
}

func TestARecordingAnswersWithoutNetwork(t *testing.T) {
	script := modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "你好, I will look.", Calls: []modeltest.Call{{Run: "ls"}}}}}}}
	srv := modeltest.Go(t, script)
	var file bytes.Buffer
	rec := gateway.NewRecorder(&file)
	r := serve(t, gateway.Config{Providers: providers(srv.URL), Record: rec.Keep})
	answers := map[string]string{}
	for _, w := range wires() {
		_, answers[w.name], _ = r.do("POST", w.path, w.body)
	}
	r.stop()
	used := r.lane.Usage()
	if rec.Err() != nil || bytes.Count(file.Bytes(), []byte("\n")) != len(wires()) {
		t.Fatalf("%v: %s", rec.Err(), file.String())
	}
	srv.Close()

	replay, err := gateway.NewReplay(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	r = serve(t, gateway.Config{Providers: replaying(replay)})
	all := wires()
	for i := range all {
		w := all[len(all)-1-i] // in another order
		// What differs from run to run, and the order of members, does not matter.
		body := strings.Replace(w.body, "{", `{"metadata":{"user_id":"another"},`, 1)
		if status, got, err := r.do("POST", w.path, body); status != 200 || err != nil || got != answers[w.name] {
			t.Errorf("%s: %d %v\n%s\n%s", w.name, status, err, got, answers[w.name])
		}
	}
	r.stop()
	if left := replay.Left(); len(left) != 0 || replay.Err() != nil || r.lane.Usage() != used {
		t.Errorf("%d left, %v, %+v instead of %+v", len(left), replay.Err(), r.lane.Usage(), used)
	}
	// Nothing is answered twice.
	r = serve(t, gateway.Config{Providers: replaying(replay)})
	status, _, _ := r.do("POST", all[0].path, all[0].body)
	r.stop()
	if status != 502 || pawl.CodeOf(replay.Err()) != pawl.CodeConflict {
		t.Errorf("%d, %v", status, replay.Err())
	}
}

func TestAReplaySaysWhereARequestDiffers(t *testing.T) {
	var file bytes.Buffer
	rec := gateway.NewRecorder(&file)
	body := `{"model":"mock-model","messages":[{"role":"user","content":"one"},{"role":"user","content":"two"}]}`
	rec.Keep(gateway.Exchange{Number: 3, Method: "POST", Path: "/chat/completions", Digest: gateway.Digest("POST", "/chat/completions", []byte(body)), Request: gateway.Text(body), Status: 200})
	for changed, at := range map[string]string{
		strings.Replace(body, "two", "three", 1):                           ".messages[1].content",
		strings.Replace(body, `,{"role":"user","content":"two"}`, "", 1):   ".messages[1]",
		strings.Replace(body, `{"model"`, `{"temperature":1,"model"`, 1):   ".temperature",
		strings.Replace(body, `[{"role":"user","content":"one"},`, `[`, 1): ".messages[0].content",
	} {
		replay, err := gateway.NewReplay(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r := serve(t, gateway.Config{Providers: replaying(replay)})
		status, _, _ := r.do("POST", "/openai/v1/chat/completions", changed)
		r.stop()
		var e *pawl.Error
		if status != 502 || !errors.As(replay.Err(), &e) || e.Key != "agent.replay_differs" || fmt.Sprint(e.Args...) != fmt.Sprint("3", at) {
			t.Errorf("%d %v, want %s", status, replay.Err(), at)
		}
	}
}

func TestARecordedCutIsACutAgain(t *testing.T) {
	body := []byte(`{"model":"mock-model"}`)
	var file bytes.Buffer
	rec := gateway.NewRecorder(&file)
	digest := gateway.Digest("POST", "/chat/completions", body)
	rec.Keep(gateway.Exchange{Number: 2, Method: "POST", Path: "/chat/completions", Digest: digest, Status: 200, Type: "text/event-stream", Reply: []byte("data: \xff"), Cut: true})
	rec.Keep(gateway.Exchange{Number: 1, Method: "POST", Path: "/chat/completions", Digest: digest})
	replay, err := gateway.NewReplay(&file)
	if err != nil {
		t.Fatal(err)
	}
	r := serve(t, gateway.Config{Providers: replaying(replay)})
	if status, _, _ := r.do("POST", "/openai/v1/chat/completions", string(body)); status != 502 {
		t.Errorf("an exchange without an answer got %d", status)
	}
	status, got, err := r.do("POST", "/openai/v1/chat/completions", string(body))
	if status != 200 || got != "data: \xff" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d %q %v", status, got, err)
	}
}

func TestDamagedRecordings(t *testing.T) {
	for _, raw := range []string{"{", "{}", `{"method":"POST","digest":"x","reply":5}`, `{"method":"POST","digest":"x","reply":{}}`, "\n\nx"} {
		if _, err := gateway.NewReplay(strings.NewReader(raw)); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", raw, err)
		}
	}
	for _, text := range []gateway.Text{{}, gateway.Text("a\"<\u2028"), {0xff, 0}, nil} {
		raw, err := json.Marshal(text)
		var back gateway.Text
		if err != nil || json.Unmarshal(raw, &back) != nil || !reflect.DeepEqual(append([]byte{}, back...), append([]byte{}, text...)) {
			t.Errorf("%q became %s became %q", text, raw, back)
		}
	}
}
