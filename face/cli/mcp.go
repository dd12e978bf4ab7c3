package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/text/message"
	"pawl/text/policy"
)

// Serving says how a workspace is served to agents over the Model Context Protocol.
type Serving struct {
	// In and Out are the streams of the one client, unless Addr is set.
	In  io.Reader
	Out io.Writer
	// Addr is the loopback address to serve streamable HTTP at, "" for the streams; Token is what clients must show there.
	Addr, Token string
	Lang        message.Lang
	// Ready is told where the server is, once it is there.
	Ready func(url string)
	// Advance works on a run until it waits for a person, unless another process does.
	Advance func(ctx context.Context) error
}

// maxToken bounds a token file, in bytes.
const maxToken = 4096

func newMCPCommand(a *App) *cobra.Command {
	var addr, file string
	none := func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(a, c, args[0])
		}
		return nil
	}
	c := a.Command("mcp", "cli.mcp", "  pawl mcp\n  pawl mcp --http 127.0.0.1:0\n  pawl mcp --http 127.0.0.1:7295 --token-file ~/.config/pawl/mcp-token", none, nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file != "" && addr == "" {
			return Usage("cli.mcp.token_alone")
		}
		token := ""
		if addr != "" {
			var err error
			if token, err = doorToken(a, file); err != nil {
				return err
			}
		}
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			if _, err := sess.View(c.Context()); err != nil {
				return err
			}
			return sess.Workspace.Serve(c.Context(), Serving{
				In: a.Std.In, Out: a.Std.Out, Addr: addr, Token: token, Lang: a.Lang, Advance: advancer(sess),
				Ready: func(url string) { printServed(a, url, token, file) },
			})
		})
	}
	c.Flags().StringVar(&addr, "http", "", a.Text("cli.flag.http"))
	c.Flags().StringVar(&file, "token-file", "", a.Text("cli.flag.token_file"))
	c.SuggestionsMinimumDistance = 2
	for i, s := range []*cobra.Command{newMCPListCommand(a), newMCPTrustCommand(a), newMCPUntrustCommand(a)} {
		s.Annotations = map[string]string{"order": fmt.Sprintf("%02d", i)}
		c.AddCommand(s)
	}
	return c
}

// advancer returns a function that works on a run until it waits for a person. Where another process has the workspace's
// work, that process does it. It must not be called by several goroutines at once.
func advancer(sess *Session) func(context.Context) error {
	r := sess.Workspace.Runner(nil)
	return func(ctx context.Context) error {
		release, other, err := sess.Own()
		if other != nil {
			return nil
		}
		if err != nil {
			return err
		}
		defer release()
		_, err = r.Run(ctx)
		return err
	}
}

// printServed says where the server is and how to get in. A token that is kept in a file is not shown.
func printServed(a *App, url, token, file string) {
	if a.JSON {
		out := map[string]string{"url": url, "token": token}
		if file != "" {
			out = map[string]string{"url": url, "token_file": a.Path(file)}
		}
		_ = a.PrintJSON(out)
		return
	}
	a.SayText("cli.mcp.ready", url)
	if file != "" {
		a.SayText("cli.mcp.token_kept", a.Path(file))
		return
	}
	a.SayText("cli.mcp.token", token)
}

// doorToken reads the token that clients must show, or makes one: for this process alone, or kept in the file that does not
// exist yet. A file that others can read is refused, because whoever has the token can speak to the server.
func doorToken(a *App, file string) (string, error) {
	if file == "" {
		return rand.Text(), nil
	}
	name := a.Path(file)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := rand.Text()
		_, err = io.WriteString(f, token+"\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", name).Because(err)
		}
		return token, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", name).Because(err)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
	case !info.Mode().IsRegular():
		return "", pawl.Fail(pawl.CodeInvalid, "cli.mcp.token_form", name)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", pawl.Fail(pawl.CodeInvalid, "cli.mcp.token_open", name)
	}
	raw, err := readFile(name, maxToken)
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
	}
	token := strings.TrimSpace(string(raw))
	if strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 || token == "" {
		return "", pawl.Fail(pawl.CodeInvalid, "cli.mcp.token_form", name)
	}
	return token, nil
}

// MCPServer is an MCP server of the user's choice. A project names none: a repository that somebody else wrote must not
// choose which programs are started.
type MCPServer struct {
	Name string
	// Command is the program with its arguments, or URL the address. Env are further variables of the program, and Network
	// the places that it may connect to.
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

// server returns the server with a name, for reading.
func (c *Config) server(name string) MCPServer {
	i := slices.IndexFunc(c.MCP, func(s MCPServer) bool { return s.Name == name })
	if i < 0 {
		return MCPServer{Name: name}
	}
	return c.MCP[i]
}

// keep puts a server into the list. The list is made anew, because settings are copied by value.
func (c *Config) keep(s MCPServer) {
	list := slices.DeleteFunc(slices.Clone(c.MCP), func(o MCPServer) bool { return o.Name == s.Name })
	list = append(list, s)
	slices.SortFunc(list, func(a, b MCPServer) int { return strings.Compare(a.Name, b.Name) })
	c.MCP = list
}

// serverSetting returns a setting of one MCP server, such as mcp.servers.docs.command.
func serverSetting(name string) (setting, bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 4 || !strings.HasPrefix(name, serverPrefix) || !validServer(parts[2]) {
		return setting{}, false
	}
	server := parts[2]
	out := setting{name: name, project: never}
	list := func(at func(*MCPServer) *[]string) (setting, bool) {
		out.list = true
		out.get = func(c *Config) []string { s := c.server(server); return *at(&s) }
		out.set = func(c *Config, v []string) error { s := c.server(server); *at(&s) = v; c.keep(s); return nil }
		return out, true
	}
	word := func(form *regexp.Regexp, example string, at func(*MCPServer) *string) (setting, bool) {
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
		return setting{}, false
	}
	switch parts[3] {
	case "command":
		return list(func(s *MCPServer) *[]string { return &s.Command })
	case "network":
		return list(func(s *MCPServer) *[]string { return &s.Network })
	case "url":
		return word(nil, "", func(s *MCPServer) *string { return &s.URL })
	case "key_env":
		return word(variableWord(), "DOCS_TOKEN", func(s *MCPServer) *string { return &s.KeyEnv })
	case "key_file":
		return word(nil, "", func(s *MCPServer) *string { return &s.KeyFile })
	case "digest":
		return word(digestWord(), "sha256:…", func(s *MCPServer) *string { return &s.Digest })
	}
	return setting{}, false
}

// Kept is the file that holds what a user trusts under a digest, beside the user's own settings, or "".
func (c Config) Kept(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if c.userConfigFile == "" || !ok || !digestWord().MatchString(digest) {
		return ""
	}
	return filepath.Join(filepath.Dir(c.userConfigFile), "mcp", hex+".json")
}

func newMCPListCommand(a *App) *cobra.Command {
	return a.Command("list", "cli.mcp.list", "  pawl mcp list\n  pawl mcp list --json", Exactly(0), func(*cobra.Command, []string) error {
		agents, err := AgentsOf(a)
		if err != nil {
			return err
		}
		type line struct {
			ServerInfo
			Error *fault `json:"error,omitempty"`
		}
		lines, rows := []line{}, [][]string{}
		for _, s := range agents.Servers() {
			l := line{ServerInfo: s}
			what := strings.Join(s.Tools, ", ")
			if s.Err != nil {
				f := describe(a.Printer, s.Err)
				l.Error = &f
				what = f.Message
			} else if s.State == "untrusted" {
				what = a.Text("cli.mcp.look", s.Name)
			}
			lines = append(lines, l)
			rows = append(rows, []string{Display(s.Name), s.Kind, a.Text("cli.mcp.state." + s.State), Display(s.Where), Display(what)})
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"servers": lines})
		}
		if len(rows) == 0 {
			a.SayText("cli.mcp.none", userConfigPath(a))
			return nil
		}
		printTable(a.Printer, []string{a.Text("cli.col.server"), a.Text("cli.col.kind"), a.Text("cli.col.state"), "", a.Text("cli.col.tools")}, rows)
		return nil
	})
}

func newMCPTrustCommand(a *App) *cobra.Command {
	expected := ""
	c := a.Command("trust SERVER", "cli.mcp.trust", "  pawl mcp trust docs\n  pawl mcp trust docs --json\n  pawl mcp trust docs --digest sha256:…", Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return trustServer(c.Context(), a, args[0], expected)
	}
	c.Flags().StringVar(&expected, "digest", "", a.Text("cli.flag.digest"))
	return c
}

func newMCPUntrustCommand(a *App) *cobra.Command {
	return a.Command("untrust SERVER", "cli.mcp.untrust", "  pawl mcp untrust docs", Exactly(1), func(_ *cobra.Command, args []string) error {
		server, config, err := namedServer(a, args[0])
		if err != nil {
			return err
		}
		if server.Digest != "" {
			s, _ := findSetting(serverPrefix + server.Name + ".digest")
			if err := config.change(s, nil); err != nil {
				return err
			}
			// The server's name is part of what the digest is of, so the file is no other server's.
			if err := os.Remove(config.Kept(server.Digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return pawl.Fail(pawl.CodeIO, "cli.file_unwritten", config.Kept(server.Digest)).Because(err)
			}
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"server": server.Name, "trusted": false})
		}
		a.SayText("cli.mcp.untrusted", server.Name)
		return nil
	})
}

// namedServer returns a server of the settings.
func namedServer(a *App, name string) (MCPServer, Config, error) {
	place, err := a.Found()
	if err != nil {
		return MCPServer{}, Config{}, err
	}
	c, err := loadConfig(a, place)
	if err != nil {
		return MCPServer{}, c, err
	}
	var names []string
	for _, s := range c.MCP {
		if s.Name == name {
			return s, c, nil
		}
		names = append(names, s.Name)
	}
	return MCPServer{}, c, pawl.Fail(pawl.CodeNotFound, "cli.mcp.unknown", Display(name), strings.Join(names, ", "), c.userConfigFile)
}

// trustServer shows what a server offers and, when the user says so, notes the digest of exactly that.
func trustServer(ctx context.Context, a *App, name, expected string) error {
	if expected != "" && !digestWord().MatchString(expected) {
		return Usage("cli.flag_invalid", expected, "--digest", "sha256:…")
	}
	server, config, err := namedServer(a, name)
	if err != nil {
		return err
	}
	agents, err := AgentsOf(a)
	if err != nil {
		return err
	}
	offer, err := agents.Ask(ctx, name)
	if err != nil {
		return err
	}
	trusted := server.Digest == offer.Digest
	if !a.JSON {
		showServer(a.Printer, server, offer)
	}
	switch {
	case trusted:
	case expected != "" && expected != offer.Digest:
		return pawl.Fail(pawl.CodeConflict, "cli.mcp.other_digest", name, offer.Digest, expected)
	case expected != "":
		trusted = true
	case a.JSON || !a.Std.TTY:
		// Without a person at the terminal a digest is taken only where it is named.
	default:
		if trusted, err = Confirm(ctx, a.Printer, a.Text("cli.mcp.trust_ask", name)); err != nil {
			return err
		}
	}
	if trusted {
		if err := keepServer(a, server, config, offer); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"server": name, "digest": offer.Digest, "trusted": trusted, "changed": append([]string{}, offer.Changed...), "tools": offer.Tools, "document": offer.Document})
	}
	if !trusted {
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.mcp.not_trusted", name, offer.Digest)
	}
	a.SayText("cli.mcp.trusted", name, config.userConfigFile)
	return nil
}

// keepServer keeps what was looked at and then its digest, so that a digest without its document is never in force.
func keepServer(a *App, server MCPServer, config Config, offer Offer) error {
	path := config.Kept(offer.Digest)
	if path == "" {
		return pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home").In("cli.mcp")
	}
	if err := replaceFile(path, offer.Document); err != nil {
		return err
	}
	if server.Digest == offer.Digest {
		return nil
	}
	s, _ := findSetting(serverPrefix + server.Name + ".digest")
	if err := config.change(s, []string{offer.Digest}); err != nil {
		return err
	}
	if old := config.Kept(server.Digest); old != "" {
		_ = os.Remove(old) // a file that nobody reads any more
	}
	return nil
}

// showServer prints what a server offers, every word of it: a description may hold anything.
func showServer(pr *Printer, server MCPServer, offer Offer) {
	where := strings.Join(server.Command, " ")
	if server.URL != "" {
		where = server.URL
	}
	pr.Say(pr.Style.Bold(Display(server.Name)) + "  " + Display(where))
	if len(server.Network) > 0 {
		pr.SayText("cli.mcp.reaches", strings.Join(server.Network, ", "))
	}
	for _, t := range offer.Tools {
		pr.Say("")
		pr.Say(pr.Style.Bold(Display(t.Name)) + "  " + Display(t.Title))
		for l := range strings.SplitSeq(t.Description, "\n") {
			pr.Say("  " + policy.Display(l))
		}
		pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.input")) + " " + policy.Display(string(t.Input)))
		if t.Output != nil {
			pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.output")) + " " + policy.Display(string(t.Output)))
		}
		if t.Annotations != nil {
			pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.hints")) + " " + policy.Display(string(t.Annotations)))
		}
	}
	pr.Say("")
	if len(offer.Changed) > 0 {
		pr.Say(pr.Style.Warn() + " " + pr.Text("cli.mcp.changed", fmt.Sprint(len(offer.Changed))))
		for _, c := range offer.Changed {
			pr.Say("  " + policy.Display(c))
		}
	}
	pr.Say(pr.Text("cli.mcp.digest", offer.Digest))
}
