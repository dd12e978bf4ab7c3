package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// key is a key for signatures as receivers name it.
const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// driver is one with a channel, whose secret is the one that is given.
func driver(c Channel, secret string) *Driver {
	c.Name, c.Secret = "c", "pawl/c"
	return &Driver{Channels: map[string]Channel{"c": c}, Now: time.Now,
		Secret: func(context.Context, string) (string, error) { return secret, nil }}
}

// message is one to send.
func message(change ...func(*effect.NoticeSpec)) effect.Effect {
	s := effect.NoticeSpec{Channel: "c", Topic: effect.TopicApproval, Risk: "high", Name: "RUN-3",
		Title: "shop: a plan waits <for> *you* 计划", Body: "First\n.\nthird <!channel> & @here",
		Link: "http://p.localhost:1/decide", Command: "pawl approve", At: time.Now()}
	for _, f := range change {
		f(&s)
	}
	return effect.Effect{ID: "01HZX", Kind: effect.KindNotice, Spec: effect.Encode(s)}
}

// got are the requests that a server got.
type got struct {
	mu   sync.Mutex
	all  []*http.Request
	body [][]byte
}

// server answers each request with a status.
func server(t *testing.T, status int, fields ...string) (*httptest.Server, *got) {
	t.Helper()
	g := &got{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		g.mu.Lock()
		g.all, g.body = append(g.all, r), append(g.body, raw)
		g.mu.Unlock()
		for i := 0; i+1 < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s, g
}

// TestWebhook: the signature is verified by another library, and a second attempt has the id of the first.
func TestWebhook(t *testing.T) {
	s, g := server(t, 204)
	d := driver(Channel{Kind: notices.Webhook, URL: s.URL + "/hook?x=1"}, key)
	for range 2 {
		if sent := d.Do(t.Context(), message()); !sent.OK {
			t.Fatal(sent.Err())
		}
	}
	check, err := standardwebhooks.NewWebhook(key)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range g.all {
		if err := check.Verify(g.body[i], r.Header); err != nil {
			t.Error(err)
		}
		if check.Verify(append(g.body[i], ' '), r.Header) == nil {
			t.Error("anything is verified")
		}
		if r.Header.Get("webhook-id") != "msg_01HZX" || r.URL.String() != "/hook?x=1" || r.Method != "POST" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
	}
	var body struct {
		Type      string
		Timestamp time.Time
		Data      map[string]string
	}
	if err := json.Unmarshal(g.body[0], &body); err != nil || body.Type != "pawl.approval" ||
		body.Data["risk"] != "high" || body.Data["link"] != "http://p.localhost:1/decide" || body.Timestamp.IsZero() {
		t.Errorf("%+v %v", body, err)
	}
	for _, bad := range []string{"", "whsec_", "whsec_c2hvcnQ=", "no base64"} {
		if sent := driver(Channel{Kind: notices.Webhook, URL: s.URL}, bad).Do(t.Context(), message()); sent.Code != pawl.CodeLogin {
			t.Errorf("%q: %+v", bad, sent.Receipt)
		}
	}
}

// TestSlack: what agents say is text, which names nobody and is no markup.
func TestSlack(t *testing.T) {
	s, g := server(t, 200)
	d := driver(Channel{Kind: notices.Slack, URL: s.URL}, s.URL+"/services/T0/B0/secret")
	if sent := d.Do(t.Context(), message()); !sent.OK {
		t.Fatal(sent.Err())
	}
	var body struct {
		Text   string
		Blocks []struct {
			Type string
			Text struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(g.body[0], &body); err != nil || len(body.Blocks) != 2 || strings.Contains(body.Text, "<for>") {
		t.Fatalf("%s %v", g.body[0], err)
	}
	for _, b := range body.Blocks {
		if b.Type != "section" || b.Text.Type != "plain_text" || len(b.Text.Text) > 3000 {
			t.Errorf("%+v", b)
		}
	}
	// The address is the secret: no error shows it, and it leads nowhere but to the place of the channel.
	for _, secret := range []string{"http://127.0.0.1:1/services/T0/B0/secret", "https://evil.example/secret", "secret"} {
		sent := driver(Channel{Kind: notices.Slack, URL: s.URL}, secret).Do(t.Context(), message())
		if raw := fmt.Sprintf("%+v", sent); sent.OK || strings.Contains(raw, "secret ") || strings.Contains(raw, "/secret") {
			t.Errorf("%s: %s", secret, raw)
		}
	}
	if len(g.all) != 1 {
		t.Errorf("%d requests", len(g.all))
	}
}

// TestNtfy: a message has an id of its own, by which it is taken back.
func TestNtfy(t *testing.T) {
	s, g := server(t, 200)
	d := driver(Channel{Kind: notices.Ntfy, URL: s.URL + "/pawl-topic"}, "tk_x")
	sent := d.Do(t.Context(), message())
	if !sent.OK {
		t.Fatal(sent.Err())
	}
	did, err := effect.Decode[effect.NoticeResult](sent.Result)
	if err != nil {
		t.Fatal(err)
	}
	if back := d.Withdraw(t.Context(), message(), did.Handle); !back.OK {
		t.Fatal(back.Err())
	}
	var body map[string]any
	if err := json.Unmarshal(g.body[0], &body); err != nil || body["topic"] != "pawl-topic" || body["priority"] != 5.0 ||
		body["sequence_id"] != "01HZX" || body["click"] != "http://p.localhost:1/decide" {
		t.Errorf("%v %v", body, err)
	}
	for i, want := range []string{"POST /", "DELETE /pawl-topic/01HZX"} {
		if r := g.all[i]; r.Method+" "+r.URL.Path != want || r.Header.Get("Authorization") != "Bearer tk_x" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
	}
}

// TestRefused: an answer that is none of success, and no answer, is told apart: what was not sent, what perhaps was, and
// what never will be.
func TestRefused(t *testing.T) {
	for status, want := range map[int]pawl.Code{301: pawl.CodeEnvironment, 400: pawl.CodeInvalid, 401: pawl.CodeLogin,
		404: pawl.CodeEnvironment, 410: pawl.CodeInvalid, 429: pawl.CodeEnvironment, 500: pawl.CodeEnvironment} {
		s, g := server(t, status, "Location", "http://127.0.0.1:1/", "Retry-After", "7")
		sent := driver(Channel{Kind: notices.Webhook, URL: s.URL}, key).Do(t.Context(), message())
		if sent.Code != want || sent.After != 7*time.Second || len(g.all) != 1 {
			t.Errorf("%d: %+v, %d requests", status, sent, len(g.all))
		}
	}
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		_ = c.Close()
	}))
	defer cut.Close()
	if sent := driver(Channel{Kind: notices.Webhook, URL: cut.URL}, key).Do(t.Context(), message()); sent.Code != pawl.CodeOutcomeUnknown {
		t.Errorf("cut off: %+v", sent.Receipt)
	}
	if sent := driver(Channel{Kind: notices.Webhook, URL: "http://127.0.0.1:1"}, key).Do(t.Context(), message()); sent.Code != pawl.CodeEnvironment ||
		sent.Key != "notify.unreached" {
		t.Errorf("nobody there: %+v", sent.Receipt)
	}
	if sent := driver(Channel{Kind: notices.Webhook}, key).Do(t.Context(),
		message(func(s *effect.NoticeSpec) { s.Channel = "gone" })); sent.Code != pawl.CodeNotFound {
		t.Errorf("a channel that was taken away: %+v", sent.Receipt)
	}
}

// letters is a mail server that keeps what it is given, and answers to a command as it is told.
type letters struct {
	at     string
	answer map[string]string
	mu     sync.Mutex
	got    []string
}

func newLetters(t *testing.T, answer map[string]string) *letters {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &letters{at: l.Addr().String(), answer: answer}
	var served sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { s.serve(c) })
		}
	})
	return s
}

func (s *letters) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	say := func(line string) { _, _ = io.WriteString(c, line+"\r\n") }
	say("220 ready")
	for in.Scan() {
		word := strings.ToUpper(strings.Fields(in.Text() + " ")[0])
		switch said := s.answer[word]; {
		case said != "":
			say(said)
			continue
		case word == "DATA":
			say("354 go on")
			var text []string
			for in.Scan() && in.Text() != "." {
				text = append(text, strings.TrimPrefix(in.Text(), "."))
			}
			if s.answer["."] == "cut" {
				return
			}
			s.mu.Lock()
			s.got = append(s.got, strings.Join(text, "\r\n"))
			s.mu.Unlock()
		}
		say("250 ok")
	}
}

// TestMail: a letter has the same Message-ID at each attempt, its text is whole, and what a server says is understood.
func TestMail(t *testing.T) {
	s := newLetters(t, nil)
	d := driver(Channel{Kind: notices.Email, URL: "smtp://" + s.at, From: "pawl <p@x.example>", To: "a@x.example, b@x.example"}, "")
	for range 2 {
		if sent := d.Do(t.Context(), message()); !sent.OK {
			t.Fatal(sent.Err())
		}
	}
	for _, raw := range s.got {
		m, err := mail.ReadMessage(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		to, err := m.Header.AddressList("To")
		if err != nil || len(to) != 2 || m.Header.Get("Message-Id") != "<01HZX@pawl.invalid>" ||
			m.Header.Get("Auto-Submitted") != "auto-generated" || !strings.Contains(raw, "third") ||
			!strings.Contains(m.Header.Get("Subject"), "=?utf-8?q?") {
			t.Errorf("%v %v", err, m.Header)
		}
	}
	for word, want := range map[string]pawl.Code{"MAIL": pawl.CodeEnvironment, "RCPT": pawl.CodeInvalid,
		".": pawl.CodeOutcomeUnknown} {
		s := newLetters(t, map[string]string{"MAIL": map[bool]string{true: "451 later"}[word == "MAIL"],
			"RCPT": map[bool]string{true: "554 never"}[word == "RCPT"], ".": map[bool]string{true: "cut"}[word == "."]})
		d := driver(Channel{Kind: notices.Email, URL: "smtp://" + s.at, From: "p@x.example", To: "a@x.example"}, "")
		if sent := d.Do(t.Context(), message()); sent.Code != want {
			t.Errorf("%s: %+v", word, sent.Receipt)
		}
	}
	injected := driver(Channel{Kind: notices.Email, URL: "smtp://" + s.at, From: "p@x.example", To: "a@x.example"}, "")
	before := len(s.got)
	if sent := injected.Do(t.Context(), message(func(s *effect.NoticeSpec) { s.Title = "x\r\nBcc: evil@x.example" })); !sent.OK ||
		strings.Contains(s.got[before], "\r\nBcc:") {
		t.Errorf("%+v\n%s", sent.Receipt, s.got[before])
	}
}

// TestCheck: settings that cannot work are told from those that can.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		Channel
		ok bool
	}{
		{Channel{Kind: "desktop"}, true}, {Channel{Kind: ""}, false}, {Channel{Kind: "pager"}, false},
		{Channel{Kind: "webhook", URL: "https://x.example/h", Secret: "a/b"}, true},
		{Channel{Kind: "webhook", URL: "https://x.example/h"}, false},
		{Channel{Kind: "webhook", URL: "http://x.example/h", Secret: "a/b"}, false},
		{Channel{Kind: "webhook", URL: "http://127.0.0.1:80/h", Secret: "a/b"}, true},
		{Channel{Kind: "webhook", URL: "https://10.0.0.1/h", Secret: "a/b"}, false},
		{Channel{Kind: "webhook", URL: "https://u:p@x.example/h", Secret: "a/b"}, false},
		{Channel{Kind: "webhook", URL: "file:///etc/passwd", Secret: "a/b"}, false},
		{Channel{Kind: "slack", Secret: "a/b"}, true}, {Channel{Kind: "slack"}, false},
		{Channel{Kind: "ntfy", URL: "https://ntfy.sh/x"}, true}, {Channel{Kind: "ntfy", URL: "https://ntfy.sh"}, false},
		{Channel{Kind: "email", URL: "smtps://x.example", From: "a@b.c", To: "a@b.c"}, true},
		{Channel{Kind: "email", URL: "smtps://x.example", From: "a@b.c"}, false},
		{Channel{Kind: "email", URL: "smtps://x.example", From: "a@b.c", To: "a@b.c", User: "u"}, false},
		{Channel{Kind: "email", URL: "https://x.example", From: "a@b.c", To: "a@b.c"}, false},
	} {
		if err := c.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.Channel, err)
		}
	}
}
