package egress

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// request is the head of a request to a forward proxy.
type request struct {
	connect bool
	method  string
	host    string
	port    uint16
	path    string // with the query, of plain http
	version string
	fields  []string // lines of the head that go on to the place
	early   []byte   // what came after the head
}

var errRequest = errors.New("no request to a forward proxy")

// readRequest reads and takes apart the head of a request. It is strict, because whatever two programs read differently
// is a way around one of them: lines end with CR and LF, nothing is folded, and names of fields are plain.
func readRequest(from io.Reader) (*request, error) {
	head, early, err := readHead(from)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(head, "\r\n")
	method, rest, _ := strings.Cut(lines[0], " ")
	target, version, _ := strings.Cut(rest, " ")
	if !token(method) || !plain(target) || target == "" || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return nil, errRequest
	}
	r := &request{connect: method == "CONNECT", method: method, version: version, early: early}
	authority, standard := target, ""
	if !r.connect {
		after, ok := cutScheme(target)
		end := strings.IndexAny(after, "/?#")
		if end < 0 {
			end = len(after)
		}
		authority, r.path, standard = after[:end], after[end:], "80"
		if !ok || strings.Contains(r.path, "#") {
			return nil, errRequest
		}
		if !strings.HasPrefix(r.path, "/") {
			r.path = "/" + r.path
		}
	}
	if r.host, r.port, err = place(authority, standard); err != nil {
		return nil, err
	}
	for _, l := range lines[1:] {
		name, value, ok := strings.Cut(l, ":")
		if !ok || !token(name) || strings.ContainsFunc(value,
			func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return nil, errRequest
		}
		if !ownField(name) {
			r.fields = append(r.fields, l)
		}
	}
	return r, nil
}

// readHead reads up to the empty line that ends a head, and returns what came after it.
func readHead(from io.Reader) (head string, rest []byte, err error) {
	end := []byte("\r\n\r\n")
	var all []byte
	buf := make([]byte, 4096)
	for len(all) <= maxHead {
		n, err := from.Read(buf)
		start := max(0, len(all)-len(end))
		all = append(all, buf[:n]...)
		if i := bytes.Index(all[start:], end); i >= 0 {
			i += start
			return string(all[:i]), all[i+len(end):], nil
		}
		if err != nil {
			return "", nil, err
		}
	}
	return "", nil, errRequest
}

// cutScheme takes http:// off, in any case of its letters.
func cutScheme(target string) (string, bool) {
	const scheme = "http://"
	if len(target) < len(scheme) || !strings.EqualFold(target[:len(scheme)], scheme) {
		return "", false
	}
	return target[len(scheme):], true
}

// place takes a host and a port apart. Without a standard port there must be one.
func place(authority, standard string) (string, uint16, error) {
	host, number, err := net.SplitHostPort(authority)
	if err != nil && standard != "" {
		host, number, err = net.SplitHostPort(authority + ":" + standard)
	}
	if err != nil {
		return "", 0, errRequest
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil || port == 0 {
		return "", 0, errRequest
	}
	return host, uint16(port), nil
}

// ownField reports whether a field is about the connection to the proxy, or is written anew.
func ownField(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "keep-alive", "upgrade", "http2-settings", "te":
		return true
	}
	return len(name) >= 6 && strings.EqualFold(name[:6], "proxy-")
}

// authority is the host and port of the request as a URL has them.
func (r *request) authority() string {
	if !r.connect && r.port == 80 && !strings.Contains(r.host, ":") {
		return r.host
	}
	return net.JoinHostPort(r.host, strconv.Itoa(int(r.port)))
}

// head is the request's head on its way on: to the place itself, or to an upstream proxy.
func (r *request) head(through *url.URL) []byte {
	target := r.path
	if through != nil {
		target = "http://" + r.authority() + r.path
	}
	var b bytes.Buffer
	b.WriteString(r.method + " " + target + " " + r.version + "\r\nHost: " + r.authority() + "\r\n")
	for _, f := range r.fields {
		b.WriteString(f + "\r\n")
	}
	b.WriteString(credentials(through) + "Connection: close\r\n\r\n")
	return b.Bytes()
}

// credentials is the field that an upstream proxy asks for, or "".
func credentials(through *url.URL) string {
	if through == nil || through.User == nil {
		return ""
	}
	secret, _ := through.User.Password()
	return "Proxy-Authorization: Basic " +
		base64.StdEncoding.EncodeToString([]byte(through.User.Username()+":"+secret)) + "\r\n"
}

// token reports whether a text is a name as HTTP has them.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// plain reports whether a text is made of characters that are seen, in ASCII.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}
