package gateway

import (
	"net/http"

	"pawl/agent/wire"
)

// overspent is the status of a call that is not paid for. Clients of every form take it for final; that of Responses
// tries everything but 400 again.
func overspent(f wire.Form) int {
	if f == wire.Responses {
		return http.StatusBadRequest
	}
	return http.StatusPaymentRequired
}

// refuse answers with an error as the provider writes them. The text is for the agent's log: a person is told by the
// lane.
func refuse(w http.ResponseWriter, p wire.Provider, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	if status < 500 {
		// Several clients obey this where they would try again otherwise.
		w.Header().Set("X-Should-Retry", "false")
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.Error(status, "pawl: "+text))
}
