package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"

	"pawl"
)

// maxLine bounds one line of a recording.
const maxLine = 256 << 20

// Replay answers requests from a recording, without network. It is the Transport of a Provider and safe for concurrent use.
// A request gets the first answer not yet given that belongs to the same request, so that what an agent asks at the same
// time may come in any order, and what it asks again gets what it got then.
type Replay struct {
	mu    sync.Mutex
	left  []Exchange
	found error
}

// NewReplay reads a recording. A line that is no exchange is CodeInvalid.
func NewReplay(r io.Reader) (*Replay, error) {
	p := &Replay{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var x Exchange
		err := json.Unmarshal(lines.Bytes(), &x)
		if err == nil && (x.Digest == "" || x.Method == "") {
			err = errors.New("no exchange")
		}
		if err != nil {
			return nil, pawl.Fail(pawl.CodeInvalid, "agent.recording_damaged", strconv.Itoa(n)).Because(err).In("gateway.Replay")
		}
		p.left = append(p.left, x)
	}
	if err := lines.Err(); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "agent.recording_unread").Because(err).In("gateway.Replay")
	}
	sort.SliceStable(p.left, func(i, j int) bool { return p.left[i].Number < p.left[j].Number })
	return p, nil
}

// Left returns what was recorded and not asked for.
func (p *Replay) Left() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Exchange(nil), p.left...)
}

// Err is the first request that the recording has no answer to (CodeConflict), or nil.
func (p *Replay) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// RoundTrip implements http.RoundTripper.
func (p *Replay) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := sent(r)
	if err != nil {
		return nil, err
	}
	x, err := p.next(r, body)
	if err != nil {
		return nil, err
	}
	if x.Status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	var reply io.Reader = bytes.NewReader(x.Reply)
	if x.Cut {
		reply = io.MultiReader(reply, broken{})
	}
	h := http.Header{}
	if x.Type != "" {
		h.Set("Content-Type", x.Type)
	}
	return &http.Response{
		Status: strconv.Itoa(x.Status) + " " + http.StatusText(x.Status), StatusCode: x.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(reply), ContentLength: -1, Request: r,
	}, nil
}

// broken is the end of an answer that broke off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// next takes the answer to a request out of the recording.
func (p *Replay) next(r *http.Request, body []byte) (Exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var nearest *Exchange
	digests := map[string]string{}
	for i := range p.left {
		x := &p.left[i]
		if x.Method != r.Method || !strings.HasSuffix(r.URL.Path, x.Path) {
			continue
		}
		if digests[x.Path] == "" {
			digests[x.Path] = Digest(x.Method, x.Path, body)
		}
		if x.Digest == digests[x.Path] {
			found := *x
			p.left = append(p.left[:i], p.left[i+1:]...)
			return found, nil
		}
		if nearest == nil {
			nearest = x
		}
	}
	err := pawl.Fail(pawl.CodeConflict, "agent.replay_ended", r.Method+" "+r.URL.Path).In("gateway.Replay")
	if nearest != nil {
		err = pawl.Fail(pawl.CodeConflict, "agent.replay_differs", strconv.FormatInt(nearest.Number, 10), difference(nearest.Request, body)).In("gateway.Replay")
	}
	if p.found == nil {
		p.found = err
	}
	return Exchange{}, err
}

// difference names the first place in which two requests differ.
func difference(recorded, asked []byte) string {
	var a, b any
	if json.Unmarshal(recorded, &a) != nil || json.Unmarshal(asked, &b) != nil {
		return "."
	}
	if at := differ("", a, b); at != "" {
		return at
	}
	return "."
}

// differ walks two documents in parallel.
func differ(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return at
		}
		names := make([]string, 0, len(a)+len(b))
		for n := range a {
			names = append(names, n)
		}
		for n := range b {
			if _, ok := a[n]; !ok {
				names = append(names, n)
			}
		}
		sort.Strings(names)
		for _, n := range names {
			if at == "" && isVolatile(n) {
				continue
			}
			if found := differ(at+"."+n, a[n], b[n]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok {
			return at
		}
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) {
				return at + "[" + strconv.Itoa(i) + "]"
			}
			if found := differ(at+"["+strconv.Itoa(i)+"]", a[i], b[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if a == b {
		return ""
	}
	return at
}
