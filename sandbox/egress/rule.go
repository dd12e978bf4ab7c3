package egress

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl"
)

// DefaultPort is the port of a rule that names none: that of https.
const DefaultPort = 443

// Rule names a place that may be connected to.
type Rule struct {
	// Host is a name in lower case; with a dot in front it stands for every name below it, but not for the name itself.
	// An address is allowed only where it is one of the loopback, and then it is matched as it is written; so is the
	// name localhost, which stands for 127.0.0.1 and ::1.
	Host string `json:"host"`
	// Port is the one port that may be connected to.
	Port uint16 `json:"port"`
	// Private lets the name lead to an address of a private network. It is for hosts that the user's own settings name,
	// such as a company's registry, and never for those that a plan names.
	Private bool `json:"private,omitempty"`
}

// ParseRule reads "host", "host:port", ".domain:port", "127.0.0.1:port" or "[::1]:port". Without a port it is
// DefaultPort. Anything else, and an address that is not of the loopback, is pawl.CodeInvalid.
func ParseRule(text string) (Rule, error) {
	bad := pawl.Fail(pawl.CodeInvalid, "sandbox.egress_rule", text).In("egress.ParseRule")
	host, port := text, uint16(DefaultPort)
	if h, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 || p[0] == '0' {
			return Rule{}, bad
		}
		host, port = h, uint16(n)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if !a.Unmap().IsLoopback() || a.Zone() != "" || host == text {
			return Rule{}, bad
		}
		return Rule{Host: a.Unmap().String(), Port: port}, nil
	}
	if !validName(strings.TrimPrefix(host, ".")) || host[0] == '.' && !strings.Contains(host[1:], ".") {
		return Rule{}, bad
	}
	return Rule{Host: strings.ToLower(host), Port: port}, nil
}

// Rules reads a list of rules with ParseRule.
func Rules(texts []string) ([]Rule, error) {
	out := make([]Rule, 0, len(texts))
	for _, t := range texts {
		r, err := ParseRule(t)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// String is the form that ParseRule reads.
func (r Rule) String() string { return net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port))) }

// Local reports whether the rule names a port of this machine's loopback.
func (r Rule) Local() bool {
	a, err := netip.ParseAddr(r.Host)
	return err == nil && a.IsLoopback() || r.Host == "localhost"
}

// matches reports whether a request for a host, in the form of canonical, is one for the rule's place.
func (r Rule) matches(host string, port uint16) bool {
	if r.Port != port || host == "" {
		return false
	}
	if strings.HasPrefix(r.Host, ".") {
		return strings.HasSuffix(host, r.Host) && len(host) > len(r.Host)
	}
	return host == r.Host
}

// canonical brings the host of a request into the form in which rules are written, and reports whether it is an address
// rather than a name. A host that is neither is "".
func canonical(host string) (_ string, address bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !validName(host) {
		return "", false
	}
	return host, false
}

// validName reports whether a name can be a host's: labels of letters, digits, dashes and underscores, the last of
// which is not a number. The last condition keeps out the many ways in which C libraries read numbers as addresses.
func validName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range l {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}

// closed are the ranges of addresses that belong to nobody one may want to reach by a public name.
var closed = sync.OnceValue(func() []netip.Prefix {
	var out []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
})

// carrier is the range that providers use inside of their own networks, private in all but name.
var carrier = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10)

// reachable reports whether an address that a name leads to may be connected to.
func (r Rule) reachable(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.Zone() != "" ||
		slices.ContainsFunc(closed(), func(p netip.Prefix) bool { return p.Contains(a) }) {
		return false
	}
	return r.Private || !a.IsPrivate() && !carrier.Contains(a)
}
