package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// Exchange is a request with its answer, as pawl recorded them. Path is what stood behind the endpoint's base.
type Exchange struct {
	Path, Request           string
	Status                  int
	Type, RetryAfter, Reply string
}

// Replay is a transport that answers from recorded exchanges, without network: each answers one request, the first
// one of those left that same takes for the same request. A request that none is left for fails. Left counts those
// that nobody asked for. A transport may be used by many goroutines.
func Replay(
	t testing.TB, recorded []Exchange, same func(x Exchange, asked string) bool,
) (tape http.RoundTripper, left func() int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "exchanges")
	kept := cassette.New(name)
	kept.MarshalFunc = yaml.Marshal
	for _, x := range recorded {
		h := http.Header{"Content-Type": {x.Type}}
		if x.RetryAfter != "" {
			h.Set("Retry-After", x.RetryAfter)
		}
		kept.AddInteraction(&cassette.Interaction{
			Request:  cassette.Request{URL: x.Path, Body: x.Request},
			Response: cassette.Response{Code: x.Status, Headers: h, Body: x.Reply, ContentLength: -1},
		})
	}
	if err := kept.Save(); err != nil {
		t.Fatal(err)
	}
	var rest atomic.Int64
	rest.Store(int64(len(recorded)))
	used := func(*cassette.Interaction) error { rest.Add(-1); return nil }
	rec, err := recorder.New(name, recorder.WithMode(recorder.ModeReplayOnly), recorder.WithSkipRequestLatency(true),
		recorder.WithMatcher(func(r *http.Request, i cassette.Request) bool {
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			x := Exchange{Path: i.URL, Request: i.Body}
			return err == nil && strings.HasSuffix(r.URL.RequestURI(), i.URL) && same(x, string(body))
		}),
		recorder.WithHook(used, recorder.BeforeResponseReplayHook))
	if err != nil {
		t.Fatal(err)
	}
	return rec, func() int { return int(rest.Load()) }
}
