package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// post sends a message with one request.
func (d *Driver) post(ctx context.Context, c Channel, id string, s *effect.NoticeSpec) (effect.NoticeResult, error) {
	secret, err := d.secret(ctx, c)
	if err != nil {
		return effect.NoticeResult{}, err
	}
	switch c.Kind {
	case notices.Slack:
		return effect.NoticeResult{}, d.slack(ctx, c, secret, s)
	case notices.Ntfy:
		return effect.NoticeResult{Handle: id}, d.ntfy(ctx, c, secret, id, s)
	}
	return effect.NoticeResult{}, d.webhook(ctx, c, secret, id, s)
}

// webhook sends a message as Standard Webhooks says (https://www.standardwebhooks.com): webhook-id is the same for each
// attempt, and webhook-signature proves who sent it, and when.
func (d *Driver) webhook(ctx context.Context, c Channel, secret, id string, s *effect.NoticeSpec) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return pawl.Fail(pawl.CodeLogin, "notify.webhook_key", c.Name, c.Secret)
	}
	body := encode(map[string]any{"type": "pawl." + string(s.Topic), "timestamp": s.At.Format(time.RFC3339),
		"data": map[string]string{"topic": string(s.Topic), "risk": s.Risk, "name": s.Name, "title": s.Title,
			"body": s.Body, "link": s.Link, "command": s.Command}})
	now, id := strconv.FormatInt(d.Now().Unix(), 10), "msg_"+id
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + now + "."))
	mac.Write(body)
	return d.send(ctx, c, http.MethodPost, c.URL, body, map[string]string{"webhook-id": id, "webhook-timestamp": now,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))})
}

// slack sends a message to an incoming webhook. Its text is shown as it is: nothing in it names people or is a link of
// another text.
func (d *Driver) slack(ctx context.Context, c Channel, secret string, s *effect.NoticeSpec) error {
	u, err := url.Parse(secret)
	if err != nil || u.Host == "" {
		return pawl.Fail(pawl.CodeLogin, "notify.slack_url", c.Name, c.Secret)
	}
	blocks := []map[string]any{{"type": "section", "text": map[string]any{"type": "plain_text", "emoji": false,
		"text": s.Title}}}
	if rest := text(s); rest != "" {
		blocks = append(blocks, map[string]any{"type": "section", "text": map[string]any{"type": "plain_text",
			"emoji": false, "text": rest}})
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return d.send(ctx, c, http.MethodPost, secret, encode(map[string]any{"text": escape.Replace(s.Title),
		"blocks": blocks, "unfurl_links": false, "unfurl_media": false}), nil)
}

// topic takes the address of a topic of ntfy apart.
func topic(c Channel) (*url.URL, string) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return &url.URL{}, "" // Check has looked at it
	}
	name := path.Base(u.Path)
	root := *u
	root.Path = path.Dir(strings.TrimSuffix(u.Path, "/"))
	return &root, name
}

func bearer(token string) map[string]string {
	if token == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + token}
}

// ntfy publishes a message under an id of its own, so that one that is published twice is one.
func (d *Driver) ntfy(ctx context.Context, c Channel, token, id string, s *effect.NoticeSpec) error {
	root, name := topic(c)
	priority := map[string]int{string(pawl.RiskMedium): 4, string(pawl.RiskHigh): 5}[s.Risk]
	message := map[string]any{"topic": name, "title": s.Title, "message": text(s), "priority": max(priority, 3),
		"sequence_id": id}
	if s.Link != "" {
		message["click"] = s.Link
	}
	return d.send(ctx, c, http.MethodPost, root.String(), encode(message), bearer(token))
}

// remove takes a message of ntfy back. A server that knows no such thing leaves it where it is.
func (d *Driver) remove(ctx context.Context, c Channel, id string) error {
	token, err := d.secret(ctx, c)
	if err != nil {
		return err
	}
	root, name := topic(c)
	return d.send(ctx, c, http.MethodDelete, root.JoinPath(name, id).String(), nil, bearer(token))
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return raw
}

// send makes one request, and judges the answer.
func (d *Driver) send(ctx context.Context, c Channel, method, to string, body []byte, fields map[string]string) error {
	_, rule, err := c.place()
	if err != nil {
		return err
	}
	w := open(ctx, rule)
	defer w.close()
	var gone atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { gone.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return pawl.Fail(pawl.CodeLogin, "notify.slack_url", c.Name, c.Secret) // the only address that is a secret
	}
	r.Header.Set("User-Agent", "pawl")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, v := range fields {
		r.Header.Set(name, v)
	}
	answer, err := w.client().Do(r)
	switch {
	case err != nil && gone.Load():
		return pawl.Fail(pawl.CodeOutcomeUnknown, "notify.unknown", rule.String()).Because(bare(err))
	case err != nil:
		return w.unreached(bare(err))
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxReply)
	_ = answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return refused(rule.String(), answer)
}

// bare is an error of a request without its address, which may be a secret.
func bare(err error) error {
	if u, ok := err.(*url.Error); ok {
		return u.Err
	}
	return err
}

// refused judges an answer that is none of success.
func refused(place string, answer *http.Response) error {
	code := pawl.CodeEnvironment
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		code = pawl.CodeLogin
	case http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		code = pawl.CodeInvalid
	}
	err := pawl.Fail(code, "notify.refused", place, answer.StatusCode)
	if after, wrong := strconv.Atoi(answer.Header.Get("Retry-After")); wrong == nil && after > 0 {
		return slow{err, time.Duration(min(after, 3600)) * time.Second}
	}
	return err
}
