package egress

import (
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// FromEnvironment returns the Upstream that the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY ask for, in upper or
// lower case. Nil getenv means the environment of this process. NO_PROXY lists names, which stand for what is below
// them as well, addresses and ranges of them, each with a port if wanted, or "*".
func FromEnvironment(getenv func(string) string) func(scheme, host string, port uint16) (*url.URL, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	get := func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return getenv(strings.ToLower(name))
	}
	return func(scheme, host string, port uint16) (*url.URL, error) {
		at := get(strings.ToUpper(scheme) + "_PROXY")
		if at == "" || spared(get("NO_PROXY"), host, port) {
			return nil, nil
		}
		if !strings.Contains(at, "://") {
			at = "http://" + at
		}
		return url.Parse(at)
	}
}

// spared reports whether a list in the form of NO_PROXY names a place.
func spared(list, host string, port uint16) bool {
	address, notName := netip.ParseAddr(host)
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if entry == "*" {
			return true
		}
		if h, p, ok := strings.Cut(entry, ":"); ok && !strings.Contains(p, ":") {
			if p != strconv.Itoa(int(port)) {
				continue
			}
			entry = h
		}
		if notName == nil {
			prefix, err := netip.ParsePrefix(entry)
			if err == nil && prefix.Contains(address) || entry == host {
				return true
			}
			continue
		}
		entry = strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		if entry != "" && (host == entry || strings.HasSuffix(host, "."+entry)) {
			return true
		}
	}
	return false
}
