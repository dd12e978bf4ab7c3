// Package egress carries connections out of a network of one's own to the places that were granted, and nowhere else.
//
// A Proxy is a forward proxy: it takes CONNECT, and requests for http in absolute form. Each request names a host and a
// port, and only what a Rule lists is connected to. What travels through CONNECT is not looked at, so certificates are
// checked by those who talk, and the user's own certificate authorities stay in force.
//
// The name is resolved once, here, and the address that was judged is the one that is dialed, so that a name cannot
// point elsewhere a moment later. Addresses of this machine, of private networks and of a link are refused, whatever
// name leads to them, unless the rule names exactly that address and port of the loopback, or was marked Private
// because the user's own settings name the host. If the user's settings ask for a proxy of their own, the Proxy goes
// through it and judges the name first all the same. It asks that proxy for the judged address, and for the name only
// of hosts that pawl or the user's settings chose.
//
// What cannot be promised: a host that is granted can be sent anything. A grant is trust in its hosts.
package egress
