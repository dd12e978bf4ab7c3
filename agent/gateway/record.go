package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"pawl/kernel/effect"
)

// maxKept bounds what is recorded of one answer.
const maxKept = 16 << 20

// Exchange is a request and its answer as they went over the wire, without headers that name anybody and without keys.
// A recording is a file of them, one JSON document a line, in the order in which they ended.
type Exchange struct {
	Agent    string `json:"agent,omitempty"`
	Number   int64  `json:"number"` // on its lane, from 1, in the order of the requests
	Provider string `json:"provider"`
	Form     string `json:"form"`
	Method   string `json:"method"`
	Path     string `json:"path"` // behind the provider's base URL
	// Digest is that of the request (see Digest).
	Digest  string `json:"digest"`
	Request Text   `json:"request"`
	// Status is 0 where no answer came.
	Status int    `json:"status"`
	Type   string `json:"type,omitempty"` // the answer's content type
	Reply  Text   `json:"reply"`
	Cut    bool   `json:"cut,omitempty"` // the answer broke off
	Bytes  int64  `json:"bytes"`         // of the answer
	// First is when the answer began, in milliseconds after the request, and Took when it was over.
	First int64        `json:"first_ms"`
	Took  int64        `json:"took_ms"`
	Usage effect.Usage `json:"usage,omitzero"`
}

// Text is bytes that are written as text where they are text.
type Text []byte

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(t)})
}

// volatile are members of requests that say which run, machine or session it is, and nothing of what is asked for.
var volatile = []string{"metadata", "clientmetadata", "user", "safetyidentifier", "promptcachekey"}

// Digest names a request by what it asks for: its form and path, and its body whatever the order of members is, without
// those that differ from run to run.
func Digest(method, path string, body []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, method+" "+path+"\n")
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		_, _ = h.Write(body)
		return hex.EncodeToString(h.Sum(nil))
	}
	for name := range members {
		if slices.Contains(volatile, plain(name)) {
			delete(members, name)
		}
	}
	canonical, _ := json.Marshal(members) // what was read from JSON encodes
	var v any
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.UseNumber()
	if d.Decode(&v) == nil {
		canonical, _ = json.Marshal(v)
	}
	_, _ = h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// record begins to keep the exchange.
func (c *call) record() {
	n := c.l.number()
	if c.l.g.config.Record == nil {
		return
	}
	c.kept = &Exchange{
		Agent: c.l.agent, Number: n, Provider: c.name, Form: string(c.Form), Method: c.r.Method, Path: c.Path,
		Request: c.body,
	}
}

// keep adds a piece of the answer.
func (c *call) keep(p []byte) {
	if c.kept == nil {
		return
	}
	if c.kept.Bytes == 0 {
		c.kept.First = time.Since(c.began).Milliseconds()
	}
	c.kept.Bytes += int64(len(p))
	if room := maxKept - len(c.kept.Reply); room > 0 {
		c.kept.Reply = append(c.kept.Reply, p[:min(room, len(p))]...)
	}
}

// finish tells of the exchange; only the first time counts.
func (c *call) finish(cut bool) {
	x := c.kept
	if x == nil {
		return
	}
	c.kept = nil
	x.Status, x.Cut, x.Took = c.status, cut || x.Bytes > int64(len(x.Reply)), time.Since(c.began).Milliseconds()
	x.Digest = Digest(x.Method, x.Path, x.Request)
	if c.asksModel() {
		x.Usage = c.cost()
	}
	x.Request, x.Reply = Text(redact(string(x.Request), c.key)), Text(redact(string(x.Reply), c.key))
	c.l.g.config.Record(*x)
}
