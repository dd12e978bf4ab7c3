package gateway

import (
	"encoding/json"
	"net/http"
)

// overspent is the status of a call that is not paid for. Clients of every form take it for final; that of Responses tries
// everything but 400 again.
func (f form) overspent() int {
	if f == formResponses {
		return http.StatusBadRequest
	}
	return http.StatusPaymentRequired
}

// The names that the kinds give to a status, for refusals of pawl's own.
var (
	openAINames    = map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "insufficient_quota", 403: "permission_error", 413: "invalid_request_error"}
	anthropicNames = map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 413: "request_too_large"}
	geminiNames    = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED", 413: "INVALID_ARGUMENT"}
)

func named(names map[int]string, status int, otherwise string) string {
	if n, ok := names[status]; ok {
		return n
	}
	return otherwise
}

// refuse answers with an error in the shape of the kind. The text is for the agent's log: a person is told by the lane.
func refuse(w http.ResponseWriter, k Kind, status int, text string) {
	text = "pawl: " + text
	var body any
	switch k {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": named(anthropicNames, status, "api_error"), "message": text}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": text, "status": named(geminiNames, status, "UNAVAILABLE")}}
	default:
		body = map[string]any{"error": map[string]any{"message": text, "type": named(openAINames, status, "server_error"), "param": nil, "code": nil}}
	}
	raw, _ := json.Marshal(body) // strings and maps of them always encode
	w.Header().Set("Content-Type", "application/json")
	if status < 500 {
		// Several clients obey this where they would try again otherwise.
		w.Header().Set("X-Should-Retry", "false")
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
