package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"pawl"
	"pawl/kernel/query"
	"pawl/store/logs"
)

// beat is how often a stream says that it is alive while nothing happens, and writing how long a client may take to
// receive a piece before it is cut off; it goes on from where it was when it comes back.
const (
	beat    = 15 * time.Second
	writing = 10 * time.Second
	// heard is how often it is looked what commands and agents wrote, while somebody listens to that.
	heard = 50 * time.Millisecond
	// together is how much of the log is sent at once, in bytes.
	together = 64 << 10
)

// piece is a part of what a command or an agent wrote.
type piece struct {
	Effect string `json:"effect" doc:"The effect that it was written in."`
	Part   string `json:"part" doc:"The part of it, such as a check."`
	From   int64  `json:"from" doc:"Where in the log of the part it begins, in bytes."`
	Text   string `json:"text"`
}

// following picks what a stream tells of.
type following struct {
	Last    string   `header:"Last-Event-ID" pattern:"^[0-9]{1,16}$" doc:"The index of the last record that the client has: the stream goes on behind it."`
	From    string   `query:"from" pattern:"^[0-9]{1,16}$" doc:"The index of the first record, for a client that has none. Left out: the end of the log."`
	Kind    []string `query:"kind" doc:"Only records about rows of these kinds, such as task."`
	Outputs bool     `query:"outputs" doc:"Tells as well what commands and agents write, which is not durable: it has no id, and is not told again."`
}

// events registers the stream.
func (s *Server) events() {
	schema := func(event string, v *huma.Schema, id bool) *huma.Schema {
		o := &huma.Schema{Type: huma.TypeObject, Title: event, Required: []string{"event", "data"},
			Properties: map[string]*huma.Schema{"event": {Type: huma.TypeString, Enum: []any{event}}, "data": v}}
		if id {
			o.Properties["id"] = &huma.Schema{Type: huma.TypeInteger}
		}
		return o
	}
	types := s.api.OpenAPI().Components.Schemas
	huma.Register(s.api, huma.Operation{
		Method: http.MethodGet, Path: "/events", OperationID: "followLog", Summary: s.Lang.Text("api.events"),
		Tags: []string{"read"}, Security: []map[string][]string{{"token": {string(Read)}}},
		Errors: append(slices.Clone(readErrors), http.StatusGone),
		Responses: map[string]*huma.Response{"200": {
			Description: s.Lang.Text("api.stream"),
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{OneOf: []*huma.Schema{
				schema("record", types.Schema(reflect.TypeFor[record](), true, ""), true),
				schema("output", types.Schema(reflect.TypeFor[piece](), true, ""), false),
				schema("problem", types.Schema(reflect.TypeFor[Problem](), true, ""), false),
			}}}},
		}},
	}, s.follow)
}

// follow tells of the log, and then of what is committed, until the client goes or the server ends.
func (s *Server) follow(ctx context.Context, in *following) (*huma.StreamResponse, error) {
	if _, err := callerOf(ctx, Read); err != nil {
		return nil, s.problem(err)
	}
	cursor, err := s.cursor(ctx, in)
	if err == nil {
		for _, wrong := range s.Feed.Since(ctx, cursor) { // a cursor that is good for nothing is told before all else
			err = wrong
			break
		}
	}
	if err != nil {
		return nil, s.problem(err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		r, w := humago.Unwrap(c)
		t := &telling{of: s, w: w, control: http.NewResponseController(w), kinds: in.Kind, next: cursor}
		if in.Outputs {
			t.outputs = map[string]int64{}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		// Whoever went comes back, and says what it has.
		_ = t.tell(r.Context())
	}}, nil
}

// cursor is where a client begins.
func (s *Server) cursor(ctx context.Context, in *following) (int64, error) {
	switch {
	case in.Last != "":
		last, err := strconv.ParseInt(in.Last, 10, 64)
		return last + 1, err
	case in.From != "":
		return strconv.ParseInt(in.From, 10, 64)
	}
	head, err := s.ask.Log().Head(ctx)
	return head.Size, err
}

// telling is one stream.
type telling struct {
	of      *Server
	w       http.ResponseWriter
	control *http.ResponseController
	kinds   []string
	next    int64
	// outputs are how much of each log was told, nil where nobody wants to hear of them. running are the effects that
	// may be written in.
	outputs map[string]int64
	running []string
}

// tell writes until the client goes or ctx ends.
func (t *telling) tell(ctx context.Context) error {
	commits := t.of.Feed.Listen()
	defer commits.Close()
	alive := time.NewTicker(beat)
	defer alive.Stop()
	var listen <-chan time.Time
	if t.outputs != nil {
		tick := time.NewTicker(heard)
		defer tick.Stop()
		listen = tick.C
	}
	if _, err := io.WriteString(t.w, "retry: 1000\n\n"); err != nil {
		return err
	}
	for looks := true; ; {
		if looks {
			if err := t.records(ctx); err != nil {
				return err
			}
		}
		if err := t.hear(ctx, looks); err != nil {
			return err
		}
		if err := t.flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-commits.C:
			looks = true
		case <-listen:
			looks = false
		case <-alive.C:
			looks = false
			if _, err := io.WriteString(t.w, ": alive\n\n"); err != nil {
				return err
			}
		}
	}
}

// flush sends what was written. A client that does not take it is cut off.
func (t *telling) flush() error {
	// Where nothing can be set there is no network, as in tests.
	_ = t.control.SetWriteDeadline(time.Now().Add(writing))
	return t.control.Flush()
}

// records tells what was committed since it was told last.
func (t *telling) records(ctx context.Context) error {
	// What is missed is written in large pieces, and as it stands in the log, which holds each record on one line.
	var out []byte
	for rec, err := range t.of.Feed.Since(ctx, t.next) {
		if err != nil {
			return t.fail(err)
		}
		t.next = rec.Index + 1
		if len(t.kinds) > 0 && !slices.Contains(t.kinds, rec.Subject.Kind) {
			continue
		}
		if bytes.ContainsAny(rec.Bytes, "\r\n") || !json.Valid(rec.Bytes) {
			return t.fail(pawl.Fail(pawl.CodeStoreDamaged, "store.record", rec.Index).In("api.answer"))
		}
		out = fmt.Appendf(out, "event: record\nid: %d\ndata: {\"index\":%d,\"record\":", rec.Index, rec.Index)
		out = append(append(out, rec.Bytes...), "}\n\n"...)
		if len(out) < together {
			continue
		}
		if _, err := t.w.Write(out); err != nil {
			return err
		}
		if err := t.flush(); err != nil {
			return err
		}
		out = out[:0]
	}
	_, err := t.w.Write(out)
	return err
}

// fail tells what ends the stream.
func (t *telling) fail(err error) error {
	raw, _ := json.Marshal(t.of.problem(err)) // it consists of texts
	_, _ = fmt.Fprintf(t.w, "event: problem\ndata: %s\n\n", raw)
	return err
}

// hear tells what was written by commands and agents since it was told last. With looks it is asked anew which of them
// are at work; those that have ended since are heard to their end.
func (t *telling) hear(ctx context.Context, looks bool) error {
	if t.outputs == nil {
		return nil
	}
	before := t.running
	if looks {
		found, err := query.AtWork(ctx, t.of.ask)
		if err != nil {
			return t.fail(err)
		}
		t.running = nil
		for _, o := range found {
			t.running = append(t.running, o.Effect)
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, t.running)))) {
		over := !slices.Contains(t.running, id)
		for _, p := range t.of.Logs.Parts(id) {
			if err := t.add(id, p, over); err != nil {
				return err
			}
		}
	}
	return nil
}

// add tells what was added to a log.
func (t *telling) add(id string, p logs.Part, over bool) error {
	from := t.outputs[p.File]
	if p.Size <= from {
		return nil
	}
	_, err := p.Read(from, over, func(b []byte) error {
		raw, err := json.Marshal(piece{Effect: id, Part: p.Name, From: from, Text: logs.Plain(b)})
		if err == nil {
			_, err = fmt.Fprintf(t.w, "event: output\ndata: %s\n\n", raw)
		}
		from += int64(len(b))
		return err
	})
	t.outputs[p.File] = from
	if pawl.CodeOf(err) == pawl.CodeIO {
		return nil // it is gone, which changes nothing about the work
	}
	return err
}
