package sandbox

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Egress carries connections out of a command's own network. *egress.Proxy is one.
type Egress interface {
	// Serve answers on l as a forward proxy for HTTP until ctx is done, and returns when its last connection is closed.
	Serve(ctx context.Context, l net.Listener) error
	// Local lists the ports of this machine's loopback that the command may reach at the same port of its own loopback.
	// Ports below 1024 among them are reached through the forward proxy alone.
	Local() []uint16
	// ServeLocal carries each connection of l to one of these ports, and ends as Serve does.
	ServeLocal(ctx context.Context, l net.Listener, port uint16) error
}

// gatePort is where the command finds the forward proxy, on its own loopback. It lies above the ports that the kernel
// gives out by itself; in a network of one's own it can only be taken by a port of Egress.Local.
const gatePort = 61999

// maxGates bounds the sockets that one command may have carried.
const maxGates = 64

// firstPort is the first port that a program without privileges may listen on. Ports of Local below it are reached
// through the forward proxy alone.
const firstPort = 1024

// gates lists the ports to listen on inside: that of the forward proxy, and those of Local.
func gates(e Egress) []uint16 {
	if e == nil {
		return nil
	}
	local := slices.DeleteFunc(slices.Clone(e.Local()), func(port uint16) bool { return port < firstPort })
	proxy := uint16(gatePort)
	for slices.Contains(local, proxy) {
		proxy--
	}
	return append([]uint16{proxy}, local...)
}

// proxyNames are the variables that programs look for a proxy in, in the spelling in which they are compared.
var proxyNames = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY",
	"NPM_CONFIG_NOPROXY",
	"NODE_USE_ENV_PROXY",
}

// unproxied are the hosts that are the command's own: its servers, and the ports of Local.
const unproxied = "localhost,127.0.0.1,::1"

// throughGate returns an environment whose programs use the proxy at a port of their loopback, or none.
func throughGate(env []string, port uint16, proxied bool) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(proxyNames, strings.ToUpper(name))
	})
	if !proxied {
		return out
	}
	at := "http://127.0.0.1:" + strconv.Itoa(int(port))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "npm_config_proxy",
		"npm_config_https_proxy"} {
		out = append(out, name+"="+at)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy", "npm_config_noproxy"} {
		out = append(out, name+"="+unproxied)
	}
	return append(out, "NODE_USE_ENV_PROXY=1")
}
