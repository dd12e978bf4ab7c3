package settings

import (
	"regexp"
	"strings"
	"sync"
)

// Server is an MCP server of the user's choice. A project names none: a repository that somebody else wrote must not
// choose which programs are started.
type Server struct {
	Name string
	// Command is the program with its arguments, or URL the address. Env are further variables of the program, and
	// Network the places that it may connect to.
	Command []string
	Env     map[string]string
	Network []string
	URL     string
	// KeyEnv names the variable, and KeyFile the file, that holds what is shown to an address.
	KeyEnv, KeyFile string
	// Digest is of the tools that the user trusts.
	Digest string
}

const serverPrefix = "mcp.servers."

var (
	serverWord   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`) })
	variableWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	digestWord   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

// IsDigest reports whether a text is a digest as settings name it, sha256: and 64 digits.
func IsDigest(text string) bool { return digestWord().MatchString(text) }

// maxServerName bounds the name of a server: the names of its tools begin with it.
const maxServerName = 24

// serverSection reports whether a name is one of the levels above the settings of MCP servers.
func serverSection(name string) bool {
	parts := strings.Split(name, ".")
	switch len(parts) {
	case 1:
		return name == "mcp"
	case 2:
		return name == "mcp.servers"
	case 3:
		return strings.HasPrefix(name, serverPrefix) && validServer(parts[2])
	}
	return len(parts) == 4 && strings.HasPrefix(name, serverPrefix) && validServer(parts[2]) && parts[3] == "env"
}

func validServer(name string) bool {
	return len(name) <= maxServerName && serverWord().MatchString(name)
}

// serverSetting returns a setting of one MCP server, such as mcp.servers.docs.command.
func serverSetting(name string) (Setting, bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 4 || !strings.HasPrefix(name, serverPrefix) || !validServer(parts[2]) {
		return Setting{}, false
	}
	server := parts[2]
	out := Setting{Name: name, project: never}
	list := func(at func(*Server) *[]string) (Setting, bool) {
		out.List = true
		out.get = func(c *Config) []string { s := c.server(server); return *at(&s) }
		out.set = func(c *Config, v []string) error { s := c.server(server); *at(&s) = v; c.keep(s); return nil }
		return out, true
	}
	word := func(form *regexp.Regexp, example string, at func(*Server) *string) (Setting, bool) {
		out.get = func(c *Config) []string { s := c.server(server); return []string{*at(&s)} }
		out.set = func(c *Config, v []string) error {
			if form != nil && !form.MatchString(v[0]) {
				return badValue(v[0], example)
			}
			s := c.server(server)
			*at(&s) = v[0]
			c.keep(s)
			return nil
		}
		return out, true
	}
	if len(parts) == 5 && parts[3] == "env" && variableWord().MatchString(parts[4]) {
		out.get = func(c *Config) []string { return []string{c.server(server).Env[parts[4]]} }
		out.set = func(c *Config, v []string) error {
			s := c.server(server)
			env := map[string]string{parts[4]: v[0]}
			for k, old := range s.Env {
				if k != parts[4] {
					env[k] = old
				}
			}
			s.Env = env
			c.keep(s)
			return nil
		}
		return out, true
	}
	if len(parts) != 4 {
		return Setting{}, false
	}
	switch parts[3] {
	case "command":
		return list(func(s *Server) *[]string { return &s.Command })
	case "network":
		return list(func(s *Server) *[]string { return &s.Network })
	case "url":
		return word(nil, "", func(s *Server) *string { return &s.URL })
	case "key_env":
		return word(variableWord(), "DOCS_TOKEN", func(s *Server) *string { return &s.KeyEnv })
	case "key_file":
		return word(nil, "", func(s *Server) *string { return &s.KeyFile })
	case "digest":
		return word(digestWord(), "sha256:…", func(s *Server) *string { return &s.Digest })
	}
	return Setting{}, false
}
