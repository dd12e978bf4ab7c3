package llm

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"pawl/agent/agenttest"
	"pawl/agent/wire"
)

// BenchmarkStreams reads 32 streams at once, each of 200 tokens in a second, one event for each token. It reports the
// share of one core that the process used and the memory that was in use at most, the senders included: once with
// pipes, which cost little, and once with a server on loopback, whose part is about as large as the reader's.
func BenchmarkStreams(b *testing.B) {
	const streams, rate = 32, 200
	for _, kind := range forms {
		bench(b, string(kind)+"/pipe", streams, func() Settings {
			s := at(kind, "http://model.test")
			s.HTTP = transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: paced(kind, rate)}, nil
			})
			return s
		})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			from, piece := paced(kind, rate), make([]byte, 4096)
			for {
				n, err := from.Read(piece)
				if _, failed := w.Write(piece[:n]); err != nil || failed != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}))
		b.Cleanup(srv.Close)
		bench(b, string(kind)+"/loopback", streams, func() Settings { return at(kind, srv.URL) })
	}
}

func bench(b *testing.B, name string, streams int, settings func() Settings) {
	b.Run(name, func(b *testing.B) {
		var used time.Duration
		var peak uint64
		for b.Loop() {
			start := cpu()
			done := make(chan struct{})
			go func() {
				var m runtime.MemStats
				for {
					select {
					case <-done:
						return
					case <-time.After(100 * time.Millisecond):
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse+m.StackInuse)
					}
				}
			}()
			var all sync.WaitGroup
			for range streams {
				all.Go(func() {
					if result, r := worked(b, Open(settings()), &agenttest.Host{}, step()); !r.OK || result.Text == "" {
						b.Errorf("%+v", r)
					}
				})
			}
			all.Wait()
			close(done)
			used += cpu() - start
		}
		b.ReportMetric(100*used.Seconds()/b.Elapsed().Seconds(), "%core")
		b.ReportMetric(float64(peak)/1e6, "MB")
	})
}

// paced is an answer of one second. It comes through a pipe: the other end is no part of what is measured, but its
// share is small and counted all the same.
func paced(kind wire.Form, rate int) io.ReadCloser {
	first, each, last := map[wire.Form]string{
		wire.Messages: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	}[kind], map[wire.Form]string{
		wire.Chat:     `{"id":"chat-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`,
		wire.Messages: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}`,
		wire.Gemini:   `{"candidates":[{"content":{"parts":[{"text":"word "}],"role":"model"},"index":0}],"modelVersion":"m"}`,
	}[kind], map[wire.Form][]string{
		wire.Chat: {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"},
		wire.Messages: {`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`},
		wire.Gemini: {`{"candidates":[{"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}]}`},
	}[kind]
	r, w := io.Pipe()
	go func() {
		if first != "" {
			fmt.Fprintf(w, "data: %s\n\n", first)
		}
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for range rate {
			<-tick.C
			if _, err := io.WriteString(w, "data: "+each+"\n\n"); err != nil {
				return
			}
		}
		for _, l := range last {
			_, _ = io.WriteString(w, "data: "+l+"\n\n")
		}
		_ = w.Close()
	}()
	return r
}
