package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pawl/agent/gateway"
)

// The load of BenchmarkStreams, and the variable that makes the test program the process that brings it: the endpoint
// and the agents, so that what the gateway itself takes up can be told apart.
const (
	loadEnv     = "PAWL_GATEWAY_LOAD"
	loadStreams = 32
	loadRate    = 200 // tokens a second
	loadTime    = 8 * time.Second
)

// runLoad is the other process: it prints the endpoint's URL, reads the gateway's, and prints how many tokens came
// through.
func runLoad(string) {
	event := []byte(`data: {"id":"chat-1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}` + "\n\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(time.Second / loadRate)
		defer tick.Stop()
		for range int(loadTime.Seconds()) * loadRate {
			<-tick.C
			if _, err := w.Write(event); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	fmt.Println(srv.URL)
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	body := `{"model":"mock-model","stream":true,"messages":[{"role":"user","content":"` +
		strings.Repeat("word ", 20_000) + `"}]}`
	var agents sync.WaitGroup
	counts := make([]int, loadStreams)
	for i := range loadStreams {
		agents.Go(func() {
			resp, err := http.Post(strings.TrimSpace(line)+"/openai/v1/chat/completions", "application/json",
				strings.NewReader(body))
			if err != nil {
				return
			}
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if strings.Contains(lines.Text(), " token") {
					counts[i]++
				}
			}
		})
	}
	agents.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	fmt.Println(sum)
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the process's memory in MB.
func resident() float64 {
	raw, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return float64(n) * float64(os.Getpagesize()) / (1 << 20)
}

// BenchmarkStreams measures what 32 streams of 200 tokens a second each take of a core and of memory in the process
// that carries them (goal: at most 25 % and 100 MB). One round takes eight seconds: go test -bench Streams -benchtime
// 1x.
func BenchmarkStreams(b *testing.B) {
	for range b.N {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), loadEnv+"=1")
		in, _ := child.StdinPipe()
		out, _ := child.StdoutPipe()
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewReader(out)
		at, _ := lines.ReadString('\n')
		g := gateway.New(gateway.Config{Providers: providers(strings.TrimSpace(at)), Price: price,
			Limits: gateway.Limits{Calls: loadStreams}})
		h := &host{}
		lane, err := g.Route(context.Background(), h, "load")
		if err != nil {
			b.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- lane.Serve(ctx, l) }()
		before, start := cpu(), time.Now()
		_, _ = fmt.Fprintf(in, "http://%s\n", l.Addr())
		count, _ := lines.ReadString('\n')
		used, took := cpu()-before, time.Since(start)
		mem := resident()
		cancel()
		<-ended
		_ = in.Close()
		_ = child.Wait()
		n, _ := strconv.Atoi(strings.TrimSpace(count))
		if want := loadStreams * loadRate * int(loadTime.Seconds()); n != want {
			b.Fatalf("%d of %d tokens came through", n, want)
		}
		b.ReportMetric(100*float64(used)/float64(took), "%core")
		b.ReportMetric(mem, "MB")
		b.ReportMetric(float64(n)/took.Seconds(), "tokens/s")
	}
}

// BenchmarkCall measures what the gateway adds to a call with 100 kB of request (goal: at most 2 ms), beside the same
// call made directly.
func BenchmarkCall(b *testing.B) {
	answer := `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, answer)
	}))
	defer srv.Close()
	lane, err := gateway.New(gateway.Config{Providers: providers(srv.URL), Price: price}).Route(context.Background(),
		&host{}, "load")
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lane.Serve(ctx, l) }()
	defer func() { cancel(); <-ended }()
	body := `{"model":"mock-model","messages":[{"role":"user","content":"` + strings.Repeat("word ", 20_000) + `"}]}`
	call := func(at string) float64 {
		start := time.Now()
		resp, err := http.Post(at+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return float64(time.Since(start).Microseconds())
	}
	var direct, through []float64
	for range b.N {
		direct = append(direct, call(srv.URL+"/v1"))
		through = append(through, call("http://"+l.Addr().String()+"/openai/v1"))
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	b.ReportMetric(median(direct), "direct_us")
	b.ReportMetric(median(through)-median(direct), "added_us")
}
