package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pawl/agent/wire"
)

// target is where a request goes.
type target struct {
	*provider
	wire.Route
}

// asksModel says that a model answers, which costs.
func (t target) asksModel() bool { return t.Form != wire.Free }

// route finds the target of a request. Without one the provider is still told, so that the refusal takes its shape; it
// is nil for a provider that is not set up.
func (g *Gateway) route(r *http.Request) (target, bool) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	t := target{provider: g.providers[name]}
	if t.provider == nil {
		return t, false
	}
	found := false
	t.Route, found = t.Kind.Route(r.Method, "/"+rest)
	return t, found
}

// The parts of a request and of an answer that are passed on. Everything else stays behind: what names the caller, what
// belongs to one connection, cookies, and whatever somebody invents.
var (
	passedQuery = []string{"alt", "beta", "limit", "after_id", "before_id", "pageSize", "pageToken", "client_version"}

	passedRequest = []string{"Accept", "Content-Type", "User-Agent", "Anthropic-Version", "Anthropic-Beta",
		"Anthropic-Dangerous-Direct-Browser-Access",
		"Openai-Beta", "Idempotency-Key", "Originator", "Session-Id", "Session_id", "Conversation_id", "Thread-Id",
		"X-App", "X-Goog-Api-Client",
		"X-Client-Request-Id", "X-Title", "Http-Referer"}
	passedRequestPrefixes = []string{"X-Stainless-", "X-Codex-", "X-Session-"}

	// What goes on besides where the agent shows a token of its own.
	passedWithToken         = []string{"Authorization", "Chatgpt-Account-Id", "Version"}
	passedWithTokenPrefixes = []string{"X-Openai-", "X-Claude-"}

	passedReply = []string{"Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "Request-Id",
		"X-Request-Id", "X-Should-Retry", "Openai-Processing-Ms", "Openai-Version", "Openai-Model"}
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

// Betas of the providers' interfaces, without their dates. betas change neither what a token costs nor what is reached;
// larger contexts, faster answers and other models do. reachingBetas are for whom reaching is granted (Hosted).
var (
	betas = list("claude-code oauth interleaved-thinking thinking-token-count thinking-display-updates redact-thinking" +
		" thinking-resumption context-management prompt-caching prompt-caching-scope extended-cache-ttl effort" +
		" cache-diagnosis mid-conversation-system mid-conversation-tool-changes per-turn-control task-budgets" +
		" structured-outputs advanced-tool-use tool-search-tool tool-examples fine-grained-tool-streaming" +
		" token-efficient-tools token-counting pdfs computer-use responses=experimental")
	reachingBetas = list("web-search web-fetch code-execution mcp-client files-api skills advisor-tool")
)

// passedBetas leaves the betas that are known in a header, by its name. A provider refuses a request that needs
// another one, and says so.
func (t target) passedBetas(h http.Header, name string) {
	all := strings.Split(strings.ReplaceAll(strings.Join(h[name], ","), " ", ""), ",")
	h.Del(name)
	all = slices.DeleteFunc(all, func(beta string) bool {
		beta = plain(strings.TrimSuffix(dated().ReplaceAllString(beta, ""), "-"))
		return !betas[beta] && !(t.Hosted && reachingBetas[beta])
	})
	if len(all) > 0 {
		h.Set(name, strings.Join(all, ","))
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
