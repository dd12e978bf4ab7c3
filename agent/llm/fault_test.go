package llm

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/agenttest"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		header   string
		body     string
		code     pawl.Code
		key      string
		requests int
		waits    []time.Duration
	}{
		"wrong key": {401, "", `{"error":{"message":"bad key ` + secret + `"}}`, pawl.CodeLogin,
			"llm.key_refused", 1, nil},
		"forbidden": {403, "", ``, pawl.CodeLogin, "llm.key_refused", 1, nil},
		"no credit": {402, "", ``, pawl.CodeLogin, "llm.no_credit", 1, nil},
		"quota": {429, "1",
			`{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, pawl.CodeLogin,
			"llm.no_credit", 1, nil},
		"too long": {400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`,
			pawl.CodeModel, "llm.prompt_too_long", 1, nil},
		"too large":   {413, "", ``, pawl.CodeModel, "llm.prompt_too_long", 1, nil},
		"bad request": {400, "", `{"error":"nonsense"}`, pawl.CodeModel, "llm.refused", 1, nil},
		"redirected":  {307, "", ``, pawl.CodeModel, "llm.refused", 1, nil},
		"slow down": {429, "2", ``, pawl.CodeEnvironment, "llm.rate_limited", 4,
			[]time.Duration{2e9, 2e9, 2e9}},
		"slow down a fraction": {429, "0.1", ``, pawl.CodeEnvironment, "llm.rate_limited", 4,
			[]time.Duration{2e8, 5e8, 1e9}},
		"slow down for hours": {429, "7200", ``, pawl.CodeEnvironment, "llm.rate_limited", 1, nil},
		"slow down for ever":  {429, "99999999999999999999", ``, pawl.CodeEnvironment, "llm.rate_limited", 1, nil},
		"slow down nonsense": {429, "-5", ``, pawl.CodeEnvironment, "llm.rate_limited", 4,
			[]time.Duration{2e8, 5e8, 1e9}},
		"overloaded": {529, "", ``, pawl.CodeEnvironment, "llm.server_error", 4,
			[]time.Duration{2e8, 5e8, 1e9}},
		"broken": {500, "", strings.Repeat("<html>", 1e6), pawl.CodeEnvironment, "llm.server_error", 4,
			[]time.Duration{2e8, 5e8, 1e9}},
	} {
		for _, kind := range forms {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				var requests int
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests++
					w.Header().Set("Location", "http://other.test/")
					if c.header != "" {
						w.Header().Set("Retry-After", c.header)
					}
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				}))
				defer srv.Close()
				s := at(kind, srv.URL)
				var waits []time.Duration
				s.Pause = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
				host := &agenttest.Host{}
				_, r := worked(t, Open(s), host, step())
				if r.OK || r.Code != c.code || r.Key != c.key || requests != c.requests ||
					!slices.Equal(waits, c.waits) {
					t.Errorf("%s %s after %d requests and %v: %s", r.Code, r.Key, requests, waits, r.Detail)
				}
				if host.Open() != 0 || host.Reserved() != c.requests || host.Spent().Requests != int64(c.requests) ||
					host.Spent().InTokens != 0 {
					t.Errorf("%d reservations, %d open, spent %+v", host.Reserved(), host.Open(), host.Spent())
				}
				if text := fmt.Sprintf("%+v", r); strings.Contains(text, secret) || len(text) > 10_000 {
					t.Errorf("%.2000s", text)
				}
				if explain(r.Err()) == "" {
					t.Errorf("%s explains nothing", r.Key)
				}
			})
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "3": 3 * time.Second, " 3 ": 3 * time.Second, "Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0,
		"NaN":                           0, "Inf": 1e6 * time.Second, "1e300": 1e6 * time.Second,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestUnknownModel(t *testing.T) {
	for _, kind := range forms {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"data":[{"id":"other"},{"id":"mock-modem"}]}`)
				return
			}
			http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		}))
		_, r := worked(t, Open(at(kind, srv.URL)), &agenttest.Host{}, step())
		srv.Close()
		if r.Key != "llm.not_found_near" || r.Code != pawl.CodeEnvironment ||
			!strings.HasPrefix(r.Args[2], "mock-modem") {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

func TestConnections(t *testing.T) {
	// A server sees that its caller left only once it has read the request.
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer hang.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer silent.Close()
	trickle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ": still here\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	defer trickle.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	private := httptest.NewTLSServer(nil)
	defer private.Close()
	plain := strings.Replace(hang.URL, "http:", "https:", 1)
	for name, c := range map[string]struct {
		url      string
		key      string
		requests int
	}{
		"nobody listens": {gone.URL, "llm.unreachable", 4}, "silence": {silent.URL, "llm.silent",
			4}, "trickling for ever": {trickle.URL, "llm.too_slow", 1},
		"nobody answers": {hang.URL, "llm.too_slow", 1}, "an unknown authority": {private.URL, "llm.certificate",
			1}, "no TLS at all": {plain, "llm.certificate", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := at(wire.Chat, c.url)
			s.Idle, s.Limit = 50*time.Millisecond, 5*time.Second
			if c.key == "llm.too_slow" {
				// Only the limit of the whole exchange may end it, however long a busy machine lets it pause.
				s.Idle, s.Limit = 5*time.Second, 200*time.Millisecond
			}
			host := &agenttest.Host{}
			_, r := worked(t, Open(s), host, step())
			want := pawl.CodeEnvironment
			if c.key == "llm.too_slow" {
				want = pawl.CodeModel
			}
			if r.OK || r.Code != want || r.Key != c.key || host.Reserved() != c.requests || host.Open() != 0 {
				t.Errorf("%s %s %s after %d", r.Code, r.Key, r.Detail, host.Reserved())
			}
		})
	}
	t.Run("out of time", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		host := &agenttest.Host{}
		if r := Open(at(wire.Chat, hang.URL)).Do(ctx, step(), host, nil); r.Code != pawl.CodeTimeout ||
			host.Open() != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an authority of one's own", func(t *testing.T) {
		srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(modeltest.Recorded(wire.Chat, modeltest.Call{Args: `{"path":"a"}`}, "read_file"))
		}))
		defer srv.Close()
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
			0o644); err != nil {
			t.Fatal(err)
		}
		s := at(wire.Chat, srv.URL)
		s.CAFile = file
		if result, r := worked(t, Open(s), &agenttest.Host{}, step()); len(result.Asks) != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestHugeAnswers(t *testing.T) {
	for _, kind := range forms {
		srv := modeltest.Go(t, modeltest.Huge(100<<20))
		host := &agenttest.Host{}
		_, r := worked(t, Open(at(kind, srv.URL)), host, step())
		if r.OK || r.Key != "llm.too_much" || len(srv.Requests()) != 1 || host.Spent().OutTokens < 100_000 ||
			host.Open() != 0 {
			t.Errorf("%s: %+v, %d requests, spent %+v", kind, r, len(srv.Requests()), host.Spent())
		}
	}
}

// TestKeyStaysHere lets everything that can go wrong repeat the key, and looks for it in what is kept.
func TestKeyStaysHere(t *testing.T) {
	for _, kind := range forms {
		for name, answer := range map[string]func(http.ResponseWriter){
			"an error": func(w http.ResponseWriter) {
				http.Error(w, `{"error":{"message":"key `+secret+`"}}`,
					400)
			},
			"an error cut within": func(w http.ResponseWriter) {
				http.Error(w,
					strings.Repeat(" ", maxProblem-len(secret)+2)+secret, 404)
			},
			"an error within the stream": func(w http.ResponseWriter) {
				_, _ = w.Write(stream(`{"type":"error","error":{"message":"key ` + secret + `"}}`))
			},
			"an end": func(w http.ResponseWriter) {
				_, _ = w.Write(stream(`{"choices":[{"index":0,"finish_reason":"`+secret+`"}]}`, "[DONE]"))
			},
			"no JSON": func(w http.ResponseWriter) { _, _ = w.Write(stream(secret)) },
			"an answer": func(w http.ResponseWriter) {
				_, _ = w.Write(stream(`{"choices":[{"index":0,"delta":{"content":"` + secret + `"}}]}`))
			},
		} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				answer(w)
			}))
			var kept bytes.Buffer
			rec := agent.NewRecorder[Exchange](&kept)
			s := at(kind, srv.URL)
			s.Record = rec.Record
			e := step()
			spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
			spec.Goal = "use " + secret // a file of the project may hold it, too
			e.Spec = effect.Encode(spec)
			_, r := worked(t, Open(s), &agenttest.Host{}, e)
			srv.Close()
			if r.OK {
				t.Errorf("%s: %+v", name, r)
			}
			half := secret[:len(secret)/2]
			if text := fmt.Sprintf("%+v %s", r, r.Err()); strings.Contains(text, half) ||
				strings.Contains(kept.String(), half) || kept.Len() == 0 {
				t.Errorf("%s/%s: %s\n%s", kind, name, text, kept.String())
			}
		}
	}
}

func TestNoKeyForOthers(t *testing.T) {
	for _, to := range []string{"http://other.test/", "/elsewhere"} {
		var got []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.URL.Path)
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}))
		_, r := worked(t, Open(at(wire.Messages, srv.URL)), &agenttest.Host{}, step())
		srv.Close()
		if r.OK || len(got) != 1 {
			t.Errorf("%+v: %v", r, got)
		}
	}
}

func TestFallbacks(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	var srv *modeltest.Server
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		model := "?"
		for _, m := range []string{"mock-model", "second", "third"} {
			if bytes.Contains(body, []byte(`"model":"`+m+`"`)) {
				model = m
			}
		}
		mu.Lock()
		asked = append(asked, model)
		mu.Unlock()
		if model != "third" {
			http.Error(w, `{"error":"no such model"}`, http.StatusNotFound)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		srv.ServeHTTP(w, r)
	}))
	defer front.Close()
	srv = modeltest.Go(t, modeltest.Liar())
	s := at(wire.Chat, front.URL)
	s.Fallbacks = []string{"second", "third"}
	host := &agenttest.Host{}
	result, r := worked(t, Open(s), host, step())
	var posts []string
	for _, m := range asked {
		if m != "?" { // the listings that explain a failure
			posts = append(posts, m)
		}
	}
	if !r.OK || result.Model != "third" || strings.Join(posts, " ") != "mock-model second third" ||
		result.Usage.Requests != 3 || host.Reserved() != 3 {
		t.Errorf("%+v %v %+v", r, posts, result.Said)
	}

	// A key that is refused is refused for every model, and a budget that is used up is used up.
	denied := modeltest.Go(t, modeltest.Failing(401))
	s = at(wire.Chat, denied.URL)
	s.Fallbacks = []string{"second"}
	if _, r := worked(t, Open(s), &agenttest.Host{}, step()); r.Code != pawl.CodeLogin || len(denied.Requests()) != 1 {
		t.Errorf("%+v after %d", r, len(denied.Requests()))
	}
}

// TestBudget holds each request to its reservation: none is sent that does not fit, the tries after a failure included.
func TestBudget(t *testing.T) {
	srv := modeltest.Go(t, modeltest.Failing(500))
	for budget, want := range map[int64]pawl.Code{1: pawl.CodeBudget, 3: pawl.CodeBudget, 4: pawl.CodeEnvironment} {
		before := len(srv.Requests())
		_, r := worked(t, Open(at(wire.Chat, srv.URL)), &agenttest.Host{Budget: budget}, step())
		if r.Code != want || int64(len(srv.Requests())-before) != budget {
			t.Errorf("%d: %+v after %d", budget, r, len(srv.Requests())-before)
		}
	}
	if r := Open(at(wire.Chat, srv.URL)).Do(t.Context(), step(), nil, nil); r.OK || r.Key != "llm.no_host" {
		t.Errorf("without anybody to count: %+v", r)
	}
}

// TestCharged holds what is settled to what came, also where the provider says nothing, or nonsense.
func TestCharged(t *testing.T) {
	for name, c := range map[string]struct {
		reply Reply
		whole bool
		want  effect.Usage
	}{
		"as told": {Reply{Begun: true, Usage: effect.Usage{InTokens: 10, OutTokens: 5, CachedTokens: 4},
			Seen: 50}, true, effect.Usage{Requests: 1, InTokens: 10, OutTokens: 5, CachedTokens: 4}},
		"nothing told": {Reply{Begun: true, Seen: 50}, true,
			effect.Usage{Requests: 1, InTokens: 100, OutTokens: 50}},
		"never begun": {Reply{}, false, effect.Usage{Requests: 1}},
		"cut after a little": {Reply{Begun: true, Usage: effect.Usage{InTokens: 10, OutTokens: 1}, Seen: 700}, false,
			effect.Usage{Requests: 1, InTokens: 10, OutTokens: 700}},
		"nonsense": {Reply{Begun: true, Usage: effect.Usage{InTokens: -5, OutTokens: 1 << 62,
			CachedTokens: 9e18}}, true, effect.Usage{Requests: 1, InTokens: 100, OutTokens: 1e9, CachedTokens: 100}},
	} {
		if got := charged(c.reply, 100, c.whole); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTellsLines(t *testing.T) {
	var got []string
	l := lines{log: io.Discard, out: func(s string) { got = append(got, s) }}
	for _, piece := range []string{"one", " \x1b[31mred\x1b[0m\n\n", "two\u202e\nth", "ree", "\r\b"} {
		l.add(piece)
	}
	l.end()
	if want := []string{"one [31mred[0m", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
