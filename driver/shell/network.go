package shell

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"sync"

	"pawl/text/display"

	"pawl/kernel/effect"
	"pawl/sandbox/egress"
)

// maxVisits bounds the places that one result names; what is beyond is counted under an empty host.
const maxVisits = 100

// rules makes rules of the places that a call was granted.
func rules(sites []effect.Site) []egress.Rule {
	out := make([]egress.Rule, len(sites))
	for i, s := range sites {
		out[i] = egress.Rule(s)
	}
	return out
}

// visit is a place that a command connected to, or tried to, as its result tells.
type visit struct {
	Host     string `json:"host"`
	Port     uint16 `json:"port"`
	Allowed  bool   `json:"allowed"`
	Reason   string `json:"reason,omitempty" about:"Why there was no connection."`
	Count    int    `json:"count" about:"Number of connections."`
	Sent     int64  `json:"sent" about:"Bytes."`
	Received int64  `json:"received" about:"Bytes."`
}

// visits gathers them. It is safe for concurrent use.
type visits struct {
	say effect.Progress

	mu  sync.Mutex
	all []visit
}

// note takes one decision of the proxy, and tells of a refusal the first time.
func (v *visits) note(e egress.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := visit{Host: e.Host, Port: e.Port, Allowed: e.Allowed, Reason: string(e.Reason)}
	same := func(o visit) bool {
		return o.Host == at.Host && o.Port == at.Port && o.Allowed == at.Allowed && o.Reason == at.Reason
	}
	i := slices.IndexFunc(v.all, same)
	if i < 0 && len(v.all) >= maxVisits {
		at = visit{Allowed: e.Allowed}
		i = slices.IndexFunc(v.all, same)
	}
	if i < 0 {
		i = len(v.all)
		v.all = append(v.all, at)
		if at.Reason != "" && v.say != nil {
			v.say(display.Line("network: " + net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))) + ": " +
				at.Reason))
		}
	}
	v.all[i].Count++
	v.all[i].Sent += e.Sent
	v.all[i].Received += e.Received
}

// list returns them in the order of places.
func (v *visits) list() []visit {
	v.mu.Lock()
	defer v.mu.Unlock()
	slices.SortStableFunc(v.all, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host),
			cmp.Compare(a.Port, b.Port))
	})
	return v.all
}
