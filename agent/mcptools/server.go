// Package mcptools makes tools of pawl's of what MCP servers of the user's choice offer. A server is a program that
// runs behind the walls and is spoken to over its streams, or an address that is spoken to over HTTP.
//
// Nothing that a server says of itself is believed. The user looks at its tools once and trusts exactly these: what a
// model is offered is what was looked at, kept under its digest, and a server whose tools are others by now is refused
// before a call. Each call is an effect like any other, judged by policy, made at most once, with an end in time and in
// size; what it returns is data of a stranger and marked as such.
package mcptools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl"
)

// Server is one MCP server as the user's settings describe it. Exactly one of Command and URL is set.
type Server struct {
	// Name is lower case, at most 24 characters, without double or outer underscores, so that it can be told from the
	// tool's name behind it.
	Name string
	// Command is the program with its arguments; no shell is involved. Env are further variables, where a value of the
	// form $NAME stands for pawl's own variable NAME.
	Command []string
	Env     map[string]string
	// Network are the places that the program may connect to, as host or host:port; none unless set.
	Network []string
	// URL is an address on the machine itself, or one of https. Key returns what is shown to it, "" for nothing; nil is
	// "".
	URL string
	Key func() (string, error)
	// Digest is of the tools that the user trusts, "" for none, and Kept the file that holds what was looked at then.
	Digest, Kept string
}

var (
	serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`) })
	variable   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$`) })
)

// maxServerName leaves room for a tool's name in the 64 characters that every provider takes.
const maxServerName = 24

// Valid returns nil, or what is wrong with the settings.
func (s Server) Valid() error {
	bad := func(what string) error {
		return pawl.Fail(pawl.CodeInvalid, "mcptools.settings", s.Name, what).In("mcptools.Valid")
	}
	switch {
	case len(s.Name) > maxServerName || !serverName().MatchString(s.Name):
		return pawl.Fail(pawl.CodeInvalid, "mcptools.server_name", visible(s.Name), maxServerName).In("mcptools.Valid")
	case (len(s.Command) == 0) == (s.URL == ""):
		return bad("command | url")
	case s.URL == "" && s.Command[0] == "":
		return bad("command")
	case s.URL == "":
		return nil
	case len(s.Env) > 0:
		return bad("url, env")
	case len(s.Network) > 0:
		return bad("url, network")
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" &&
		(u.Scheme != "http" || !loopback(u.Hostname())) {
		// The address itself may hold a password, so it is not repeated.
		return pawl.Fail(pawl.CodeInvalid, "mcptools.url", s.Name).In("mcptools.Valid")
	}
	return nil
}

// Where is how the server is reached, for people. What stands behind a question mark may be a secret and is left out.
func (s Server) Where() string {
	if s.URL != "" {
		at, _, more := strings.Cut(s.URL, "?")
		if more {
			at += "?…"
		}
		return at
	}
	return strings.Join(s.Command, " ")
}

// connects reports whether calls of the server's tools may leave the machine's own walls.
func (s Server) connects() bool { return s.URL != "" || len(s.Network) > 0 }

// loopback reports whether a host is the machine itself by its very spelling.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// Reach is how a server is reached, as it is trusted together with its tools.
type Reach struct {
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"`
	// Env are the names of the variables. Values may be secrets, and a new key needs no new look.
	Env []string `json:"env,omitempty"`
	// Files are the digests of the files that the command names by an absolute path.
	Files   map[string]string `json:"files,omitempty"`
	Network []string          `json:"network,omitempty"`
	URL     string            `json:"url,omitempty"`
}

// reach describes how a server is reached now.
func (s Server) reach() (Reach, error) {
	r := Reach{Name: s.Name, Command: s.Command, Env: slices.Sorted(maps.Keys(s.Env)),
		Network: slices.Sorted(slices.Values(s.Network)), URL: s.URL}
	for _, word := range s.Command {
		if !filepath.IsAbs(word) {
			continue
		}
		sum, err := fileDigest(word)
		if err != nil {
			return r, pawl.Fail(pawl.CodeEnvironment, "mcptools.file", s.Name, word).Because(err).In("mcptools.Ask")
		}
		if sum != "" {
			if r.Files == nil {
				r.Files = map[string]string{}
			}
			r.Files[word] = sum
		}
	}
	return r, nil
}

// fileDigest returns the digest of a regular file, "" for what is none: an absolute path need not be one of a file, and
// what is missing the server itself complains of.
func fileDigest(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// env is the program's whole environment: the harmless part of pawl's, the settings' own and, so that nothing overrides
// it, its home.
func (s Server) env(base []string, getenv func(string) string, home string) ([]string, error) {
	all := map[string]string{}
	for _, kv := range base {
		if k, v, ok := strings.Cut(kv, "="); ok {
			all[k] = v
		}
	}
	for k, v := range s.Env {
		if variable().MatchString(v) {
			name := v[1:]
			if v = getenv(name); v == "" {
				return nil, pawl.Fail(pawl.CodeEnvironment, "mcptools.no_variable", s.Name, name).In("mcptools.Start")
			}
		}
		all[k] = v
	}
	all["HOME"] = home
	out := make([]string, 0, len(all))
	for k, v := range all {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out, nil
}

// cause is the innermost reason of an error of the network, without the address that may hold a secret.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
