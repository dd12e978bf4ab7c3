package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/store/feed"
	"pawl/store/logs"
	"pawl/store/sqlite"
	"pawl/text/message"
)

// event is what a client receives.
type event struct{ id, name, data string }

// stream reads events until it breaks off, and hands on those that came whole.
func stream(r io.Reader, use func(event) bool) {
	in, e := bufio.NewReader(r), event{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			if e.data != "" && !use(e) {
				return
			}
			e = event{}
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "event: "):
			e.name = line[7:]
		case strings.HasPrefix(line, "data: "):
			e.data = line[6:]
		}
	}
}

// opened is a server over a file that others may write.
func opened(t *testing.T, path string) (server *httptest.Server, stop func()) {
	t.Helper()
	store, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), cryptorand.Reader)
	follow := feed.New(store, sqlite.Watching(store))
	s := New(Config{Kernel: k, Feed: follow, Lang: message.English, Logs: logs.Of(t.TempDir()),
		Who: func(*http.Request) *Caller { return &Caller{Name: reads, Scopes: []Scope{Read}} }})
	ctx, cancel := context.WithCancel(context.Background())
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		both, end := context.WithCancel(r.Context())
		defer end()
		defer context.AfterFunc(ctx, end)()
		s.ServeHTTP(w, r.WithContext(both))
	}))
	return server, func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestResume: a client whose connection is cut after so many bytes of chance, and whose server is ended and begun again
// meanwhile, reads every record once and in order, while another process writes.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.db")
	writes, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.New(joined.Table(), writes, kernel.Defaults(), pawl.ClockFunc(time.Now), cryptorand.Reader)
	do := func(c kernel.Command) {
		if _, err := k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
			t.Error(err)
		}
	}
	do(&planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	const most = 120
	written := make(chan bool)
	go func() {
		defer close(written)
		for n := range most {
			do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: fmt.Sprint("number ", n)}}})
		}
	}()
	server, stop := opened(t, path)
	var seen []int64
	cuts, restarts := 0, 0
	deadline := time.Now().Add(time.Minute)
	for {
		select {
		case <-written:
			if head, err := writes.Head(t.Context()); err != nil || int64(len(seen)) == head.Size {
				stop()
				if err := writes.Close(); err != nil {
					t.Error(err)
				}
				for n, i := range seen {
					if int64(n) != i {
						t.Fatalf("record %d is read behind %d others", i, n)
					}
				}
				if cuts < 10 || restarts < 3 {
					t.Errorf("%d connections were cut, the server begun anew %d times", cuts, restarts)
				}
				return
			}
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d records after a minute", len(seen))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+Root+"/events?from=0", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(seen); n > 0 {
			r.Header.Set("Last-Event-ID", strconv.FormatInt(seen[n-1], 10))
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		stream(io.LimitReader(res.Body, 200+rand.Int64N(4_000)), func(e event) bool {
			var got record
			if err := json.Unmarshal([]byte(e.data), &got); err != nil || e.id != strconv.FormatInt(got.Index, 10) ||
				e.name != "record" || len(got.Record) == 0 {
				t.Errorf("%+v %v", e, err)
			}
			seen = append(seen, got.Index)
			return true
		})
		_ = res.Body.Close()
		cancel()
		if cuts++; cuts%5 == 0 {
			stop()
			server, stop = opened(t, path)
			restarts++
		}
	}
}

// TestCursor: a cursor that the log does not have is answered with where it goes on, and one that is no number at all.
func TestCursor(t *testing.T) {
	l := newLab(t)
	head, err := l.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query string
		last  string
		want  int
	}{
		{fmt.Sprint("?from=", head.Size+1), "", 410}, {"", fmt.Sprint(head.Size), 410}, {"?from=-1", "", 422},
		{"?from=x", "", 422}, {"", "-1", 422}, {"?from=99999999999999999999", "", 422},
	} {
		var p Problem
		l.want(c.want, "GET", "/events"+c.query, reads, "", &p, "Last-Event-ID", c.last)
		if c.want == 410 && (p.Code != pawl.CodeGone || !strings.Contains(p.Detail, fmt.Sprint(head.Size))) {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

// TestTheLogIsSentByteForByte: what a client missed, in several pieces, is each record as it was sealed, once and in
// order.
func TestTheLogIsSentByteForByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.db")
	writes, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer writes.Close()
	k := kernel.New(joined.Table(), writes, kernel.Defaults(), pawl.ClockFunc(time.Now), cryptorand.Reader)
	var list []issues.NewIssue
	for n := range 400 {
		list = append(list, issues.NewIssue{Title: fmt.Sprintf("a < b && \"%d\"\u2028 > \u4efb", n)})
	}
	for _, c := range []kernel.Command{&planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}},
		&issues.AddIssues{Issues: list}} {
		if _, err := k.Do(t.Context(), kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	size := 0
	for rec, err := range writes.Records(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf(`{"index":%d,"record":%s}`, rec.Index, rec.Bytes))
		size += len(rec.Bytes)
	}
	if size < 2*together {
		t.Fatalf("a log of %d bytes is sent in one piece", size)
	}
	server, stop := opened(t, path)
	defer stop()
	answer, err := server.Client().Get(server.URL + "/api/v1/events?from=0")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	n := 0
	stream(answer.Body, func(e event) bool {
		if e.name != "record" || e.id != strconv.Itoa(n) || e.data != want[n] {
			t.Errorf("event %d: %s %s\n%s\n%s", n, e.name, e.id, e.data, want[n])
			return false
		}
		n++
		return n < len(want)
	})
	if n != len(want) {
		t.Errorf("%d of %d records came", n, len(want))
	}
}
