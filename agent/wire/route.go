package wire

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// StreamPath is where a model is asked for a stream, behind the base of an endpoint.
func (f Form) StreamPath(model string) string {
	switch f {
	case Responses:
		return "/responses"
	case Messages:
		return "/v1/messages"
	case Gemini:
		return "/v1beta/models/" + url.PathEscape(BareModel(model)) + ":streamGenerateContent?alt=sse"
	}
	return "/chat/completions"
}

// ModelsPath is where an endpoint tells which models it has.
func (p Provider) ModelsPath() string {
	switch p {
	case Anthropic:
		return "/v1/models?limit=1000"
	case Google:
		return "/v1beta/models?pageSize=1000"
	}
	return "/models"
}

// BareModel is a model's name without the folder that some listings put before it.
func BareModel(name string) string { return strings.TrimPrefix(name, "models/") }

// FormAt is the form that is asked for at a path, whatever stands before it, or "".
func FormAt(path string) Form {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat
	case strings.HasSuffix(path, "/responses"):
		return Responses
	case strings.HasSuffix(path, "/messages"):
		return Messages
	case strings.Contains(path, "enerateContent"):
		return Gemini
	}
	return ""
}

// Route is something that may be asked of a provider. Path is what stands behind the endpoint's base, and Model is
// named where the path names one.
type Route struct {
	Form  Form
	Path  string
	Model string
}

// pattern is a kind of route. Group 1 of the expression is the path, a group named model the model.
type pattern struct {
	provider Provider
	method   string
	form     Form
	path     *regexp.Regexp
}

const modelName = `(?P<model>[A-Za-z0-9][A-Za-z0-9._@+-]*)`

// patterns is everything that a model can be asked without leaving something behind at its provider. It is made when
// it is first asked for: most starts of pawl never are.
var patterns = sync.OnceValue(func() []pattern {
	re := regexp.MustCompile
	return []pattern{
		{OpenAI, "POST", Chat, re(`^(?:/v1)?(/chat/completions)$`)},
		{OpenAI, "POST", Responses, re(`^(?:/v1)?(/responses)$`)},
		{OpenAI, "GET", Free, re(`^(?:/v1)?(/models(?:/[A-Za-z0-9][A-Za-z0-9._:@+-]*){0,2})$`)},
		{Anthropic, "POST", Messages, re(`^(/v1/messages)$`)},
		{Anthropic, "POST", Free, re(`^(/v1/messages/count_tokens)$`)},
		{Anthropic, "GET", Free, re(`^(/v1/models(?:/[A-Za-z0-9][A-Za-z0-9._:@+-]*)?)$`)},
		{Google, "POST", Gemini, re(`^(/v1(?:beta|alpha)?/models/` + modelName + `:(?:g|streamG)enerateContent)$`)},
		{Google, "POST", Free, re(`^(/v1(?:beta|alpha)?/models/` + modelName + `:countTokens)$`)},
		{Google, "GET", Free, re(`^(/v1(?:beta|alpha)?/models(?:/` + modelName + `)?)$`)},
	}
})

// Route finds what a request asks for, by its method and the path behind the provider's address. What is none of what
// a model can be asked without leaving something behind, such as stored files and work in the background, has no
// route.
func (p Provider) Route(method, path string) (Route, bool) {
	for _, k := range patterns() {
		if k.provider != p || k.method != method {
			continue
		}
		m := k.path.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		out := Route{Form: k.form, Path: m[1]}
		if i := k.path.SubexpIndex("model"); i > 0 {
			out.Model = m[i]
		}
		return out, true
	}
	return Route{}, false
}
