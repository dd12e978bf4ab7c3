package gateway

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// form is how a request and its answer are written.
type form string

const (
	formChat      form = "chat"
	formResponses form = "responses"
	formMessages  form = "messages"
	formGemini    form = "gemini"
	// formFree is what no model answers: lists of models and counts of tokens.
	formFree form = "free"
)

// route is one thing that may be asked of a kind of provider. Its pattern matches the path behind the provider's name, and
// group 1 of it is what is added to the provider's base URL. A group named model is the model.
type route struct {
	kind    Kind
	method  string
	form    form
	pattern *regexp.Regexp
}

const modelPath = `(?P<model>[A-Za-z0-9][A-Za-z0-9._@+-]*)`

// routes is everything that is let through. It is made when it is first asked for: most starts of pawl never are.
var routes = sync.OnceValue(func() []route {
	return []route{
		{OpenAI, http.MethodPost, formChat, regexp.MustCompile(`^(?:/v1)?(/chat/completions)$`)},
		{OpenAI, http.MethodPost, formResponses, regexp.MustCompile(`^(?:/v1)?(/responses)$`)},
		{OpenAI, http.MethodGet, formFree, regexp.MustCompile(`^(?:/v1)?(/models(?:/[A-Za-z0-9][A-Za-z0-9._:@+-]*){0,2})$`)},
		{Anthropic, http.MethodPost, formMessages, regexp.MustCompile(`^(/v1/messages)$`)},
		{Anthropic, http.MethodPost, formFree, regexp.MustCompile(`^(/v1/messages/count_tokens)$`)},
		{Anthropic, http.MethodGet, formFree, regexp.MustCompile(`^(/v1/models(?:/[A-Za-z0-9][A-Za-z0-9._:@+-]*)?)$`)},
		{Gemini, http.MethodPost, formGemini, regexp.MustCompile(`^(/v1(?:beta|alpha)?/models/` + modelPath + `:(?:g|streamG)enerateContent)$`)},
		{Gemini, http.MethodPost, formFree, regexp.MustCompile(`^(/v1(?:beta|alpha)?/models/` + modelPath + `:countTokens)$`)},
		{Gemini, http.MethodGet, formFree, regexp.MustCompile(`^(/v1(?:beta|alpha)?/models(?:/` + modelPath + `)?)$`)},
	}
})

// target is where a request goes.
type target struct {
	*provider
	form  form
	path  string
	model string // where the path names it
}

// asksModel says that a model answers, which costs.
func (t target) asksModel() bool { return t.form != formFree }

// route finds the target of a request. Without one the provider is still told, so that the refusal takes its shape; it is
// nil for a provider that is not set up.
func (g *Gateway) route(r *http.Request) (target, bool) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	t := target{provider: g.providers[name], form: formFree}
	if t.provider == nil {
		return t, false
	}
	for _, rt := range routes() {
		if rt.kind != t.Kind || rt.method != r.Method {
			continue
		}
		m := rt.pattern.FindStringSubmatch("/" + rest)
		if m == nil {
			continue
		}
		t.form, t.path = rt.form, m[1]
		if i := rt.pattern.SubexpIndex("model"); i > 0 {
			t.model = m[i]
		}
		return t, true
	}
	return t, false
}

// The parts of a request and of an answer that are passed on. Everything else stays behind: what names the caller, what
// belongs to one connection, cookies, and whatever somebody invents.
var (
	passedQuery = []string{"alt", "beta", "limit", "after_id", "before_id", "pageSize", "pageToken", "client_version"}

	passedRequest = []string{"Accept", "Content-Type", "User-Agent", "Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access",
		"Openai-Beta", "Idempotency-Key", "Originator", "Session-Id", "Session_id", "Conversation_id", "Thread-Id", "X-App", "X-Goog-Api-Client",
		"X-Client-Request-Id", "X-Title", "Http-Referer"}
	passedRequestPrefixes = []string{"X-Stainless-", "X-Codex-", "X-Session-"}

	// What goes on besides where the agent shows a token of its own.
	passedWithToken         = []string{"Authorization", "Chatgpt-Account-Id", "Version"}
	passedWithTokenPrefixes = []string{"X-Openai-", "X-Claude-"}

	passedReply         = []string{"Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "Request-Id", "X-Request-Id", "X-Should-Retry", "Openai-Processing-Ms", "Openai-Version", "Openai-Model"}
	passedReplyPrefixes = []string{"X-Ratelimit-", "Anthropic-Ratelimit-", "X-Codex-"}
)

func passed(from, to http.Header, names, prefixes []string) {
	for _, n := range names {
		if v, ok := from[n]; ok {
			to[n] = v
		}
	}
	for n, v := range from {
		for _, p := range prefixes {
			if strings.HasPrefix(n, p) {
				to[n] = v
			}
		}
	}
}

// query returns what is passed on of a query.
func query(from url.Values) string {
	to := url.Values{}
	for _, n := range passedQuery {
		if v, ok := from[n]; ok {
			to[n] = v
		}
	}
	return to.Encode()
}

// authorize puts the provider's key on a request.
func (k Kind) authorize(h http.Header, key string) {
	if k == Anthropic && h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	switch {
	case key == "":
	case k == Anthropic:
		h.Set("X-Api-Key", key)
	case k == Gemini:
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}
