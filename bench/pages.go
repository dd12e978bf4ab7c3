package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl/kernel/issues"
	"pawl/kernel/query"
	"pawl/store/sqlite"
)

// What the server of the pages is measured with.
const (
	pageTasks   = 100_000
	pageIssues  = 40 // on the board whose cards change
	pageClients = 20
	pageReads   = 40
	// pageMost is how long the first page of a list may take to be painted, filterMost how long one that picks.
	paintMost  = 50 * time.Millisecond
	filterMost = 30 * time.Millisecond
)

// offered says where a server is, and entry by what a person enters its pages.
type (
	offered struct {
		URL    string `json:"url"`
		Pages  string `json:"pages"`
		Socket string `json:"socket"`
		PID    int    `json:"pid"`
	}
	entry struct {
		URL  string `json:"url"`
		Code string `json:"code"`
	}
)

// served is a workspace that a program of its own serves.
type served struct {
	*shelf
	at     offered
	enter  func(context.Context) (entry, error)
	server *exec.Cmd
	socket *http.Client
	page   *http.Client
	cookie string

	changes sync.Mutex
	changed int // how often cards were changed
}

// benchPages measures the dashboard and the API: a server in a process of its own over 100,000 tasks, commits of this
// one, and the page in Chromium.
func benchPages(ctx context.Context, s *settings, emit func(Result)) error {
	if runtime.GOOS != "linux" {
		s.say("left out: a person is played, and a process measured, on Linux alone")
		return nil
	}
	p, err := buildPawl(ctx, s)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "pages")
	s.say("a workspace with %s tasks", grouped(pageTasks))
	if err := p.workspace(ctx, dir, pageTasks); err != nil {
		return err
	}
	w, err := serveBench(ctx, p, dir)
	if err != nil {
		return err
	}
	defer w.close()
	for _, m := range []struct {
		name string
		do   func(context.Context, *settings, *served, func(Result)) error
	}{
		{"an idle server", benchServerIdle}, {"reading", benchReading}, {"catching up", benchCatchUp},
		{"pages", benchLists}, {"live", benchLive},
	} {
		s.say("%s", m.name)
		if err := m.do(ctx, s, w, emit); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// serveBench opens a workspace, and has it served.
func serveBench(ctx context.Context, p *program, dir string) (*served, error) {
	b, err := openBoard(p.state(dir), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	var list []issues.NewIssue
	for n := range pageIssues {
		list = append(list, issues.NewIssue{Title: fmt.Sprintf("Issue #%d#0#", n)})
	}
	if _, err := b.add(ctx, list); err != nil {
		return nil, errors.Join(err, b.store.Close())
	}
	w := &served{shelf: b, server: p.command(ctx, dir, "serve", "--json"), page: &http.Client{}}
	out, err := w.server.StdoutPipe()
	if err == nil {
		err = w.server.Start()
	}
	if err != nil {
		return nil, errors.Join(err, b.store.Close())
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w.at)
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("pawl serve: %w: %s", err, line)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	w.socket = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.at.Socket)
	}}}
	w.enter = func(ctx context.Context) (e entry, err error) {
		return e, atTerminal(ctx, p, dir, &e, "open", "--json")
	}
	if err := w.visit(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// close ends the server.
func (w *served) close() {
	_ = w.server.Process.Signal(os.Interrupt)
	_ = w.server.Wait() // it was interrupted
	_ = w.store.Close()
}

// visit enters the pages as a person does.
func (w *served) visit(ctx context.Context) error {
	in, err := w.enter(ctx)
	if err != nil {
		return err
	}
	w.page.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := w.ask(ctx, http.MethodPost, "/enter", strings.NewReader(url.Values{"code": {in.Code}}.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := w.page.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for _, c := range answer.Cookies() {
		w.cookie = c.Name + "=" + c.Value
	}
	if w.cookie == "" {
		return fmt.Errorf("entering: %s", answer.Status)
	}
	return nil
}

// ask is a request for a page, which has a name that no resolver knows.
func (w *served) ask(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.at.URL+path, body)
	if err != nil {
		return nil, err
	}
	pages, err := url.Parse(w.at.Pages)
	r.Host = pages.Host
	r.Header.Set("Cookie", w.cookie)
	return r, err
}

// get fetches something whole, and returns how long that took.
func get(client *http.Client, r *http.Request) (took time.Duration, body []byte, err error) {
	begun := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.URL, answer.Status)
	}
	return time.Since(begun), body, err
}

// benchServerIdle measures what a server takes of the machine while many look and nothing happens.
func benchServerIdle(ctx context.Context, s *settings, w *served, emit func(Result)) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for n := range pageClients {
		r, err := w.ask(ctx, http.MethodGet, "/live?"+url.Values{"of": {[]string{"/board", "/tasks", "/"}[n%3]}}.Encode(), nil)
		if err != nil {
			return err
		}
		answer, err := new(http.Client).Do(r)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		all.Go(func() {
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body) // until it is over
		})
	}
	if err := rest(ctx, 12*time.Second); err != nil { // until it is looked less often
		return err
	}
	before, _ := processOf(w.at.PID)
	span := max(s.span, 10*time.Second)
	if err := rest(ctx, span); err != nil {
		return err
	}
	after, size := processOf(w.at.PID)
	share := 100 * (after - before).Seconds() / span.Seconds()
	emit(Result{Case: fmt.Sprintf("an idle server, %d streams", pageClients), Pawl: count(share, "%"), Score: share, Unit: "%",
		Goal: 0.5, AtMost: true, Note: "of one processor"})
	emit(Result{Case: "its memory", Pawl: count(float64(size)/1e6, "MB"), Score: float64(size) / 1e6, Unit: "MB", Goal: 60,
		AtMost: true})
	return nil
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// processOf is the time that a process was at work, and how much memory it has to itself.
func processOf(pid int) (worked time.Duration, size int64) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if err != nil || !found || len(fields) < 13 {
		return 0, 0
	}
	for _, f := range fields[11:13] { // in hundredths of a second, on every Linux
		n, _ := strconv.ParseInt(f, 10, 64)
		worked += time.Duration(n) * 10 * time.Millisecond
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(line, ":"); name == "RssAnon" {
			n, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			size = n << 10
		}
	}
	return worked, size
}

// benchReading measures a list over the API beside the question that it answers.
func benchReading(ctx context.Context, s *settings, w *served, emit func(Result)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/api/v1/tasks?limit=50", nil)
	if err != nil {
		return err
	}
	costs, err := compare(ctx, []candidate{
		{"API", func(int) error { _, _, err := get(w.socket, r); return err }},
		{"query", func(int) error {
			for _, err := range query.Of(w.kernel).Tasks(ctx, query.Page{Limit: 50}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	}, 20, s.span/10)
	if err != nil {
		return err
	}
	over := costs[0].nanos - costs[1].nanos
	emit(Result{Case: "a list of 50 over the API", Pawl: tookNanos(costs[0].nanos), Beside: tookNanos(costs[1].nanos),
		Yardstick: "the query", Score: over / 1e6, Unit: "ms", Goal: 2, AtMost: true, Note: "what the API adds"})
	return nil
}

// benchCatchUp measures how long a client that was away takes to read what it missed.
func benchCatchUp(ctx context.Context, _ *settings, w *served, emit func(Result)) error {
	const missed = 100_000
	var times []float64
	for range 3 {
		ctx, cancel := context.WithCancel(ctx)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/api/v1/events?from=0", nil)
		if err != nil {
			cancel()
			return err
		}
		begun := time.Now()
		answer, err := w.socket.Do(r)
		if err != nil {
			cancel()
			return err
		}
		lines, seen := bufio.NewScanner(answer.Body), 0
		lines.Buffer(nil, 1<<20)
		for seen < missed && lines.Scan() {
			if strings.HasPrefix(lines.Text(), "id: ") {
				seen++
			}
		}
		times = append(times, float64(time.Since(begun)))
		cancel()
		_ = answer.Body.Close()
		if seen < missed {
			return fmt.Errorf("%d records: %w", seen, lines.Err())
		}
	}
	emit(Result{Case: "catching up with " + grouped(missed) + " records", Pawl: tookNanos(median(times)),
		Score: median(times) / 1e9, Unit: "s", Goal: 1, AtMost: true})
	return nil
}

// pagePaths are the pages that are measured, with the most that each may take.
var pagePaths = []struct {
	path string
	most time.Duration
}{
	{"/tasks", paintMost}, {"/tasks?state=done", filterMost}, {"/tasks?q=nothing", filterMost},
	{"/tasks?agent=none", filterMost}, {"/tasks?age=week&state=queued", filterMost}, {"/board", paintMost},
	{"/board?q=39", filterMost}, {"/runs", paintMost}, {"/audit", paintMost}, {"/", paintMost},
}

// benchLists measures how long the server takes for the first page of each list.
func benchLists(ctx context.Context, _ *settings, w *served, emit func(Result)) error {
	for _, p := range pagePaths {
		var times []float64
		rows := 0
		for n := range pageReads + 1 {
			r, err := w.ask(ctx, http.MethodGet, p.path, nil)
			if err != nil {
				return err
			}
			took, body, err := get(w.page, r)
			if err != nil {
				return err
			}
			rows = strings.Count(string(body), " data-row")
			if n > 0 { // the first one warms the caches
				times = append(times, float64(took))
			}
		}
		emit(Result{Case: "GET " + p.path, Pawl: tookNanos(median(times)), Score: median(times) / 1e6, Unit: "ms",
			Goal: float64(p.most.Milliseconds()), AtMost: true,
			Note: fmt.Sprintf("p95 %s; %d rows of %s tasks", short(quantile(times, 0.95)), rows, grouped(pageTasks))})
	}
	return nil
}
