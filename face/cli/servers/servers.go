// Package servers is `pawl mcp`: serving the workspace to agents, and which MCP servers of others their tools are
// trusted from.
package servers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "mcp", Group: "setup", Build: newMCPCommand},
	}
}

// maxToken bounds a token file, in bytes.
const maxToken = 4096

func newMCPCommand(a *cli.App) *cobra.Command {
	var addr, file string
	none := func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.UnknownCommand(a, c, args[0])
		}
		return nil
	}
	c := a.Command("mcp", "cli.mcp", "  pawl mcp\n  pawl mcp --http 127.0.0.1:0\n  pawl mcp --http 127.0.0.1:7295 --token-file ~/.config/pawl/mcp-token", none, nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file != "" && addr == "" {
			return cli.Usage("cli.mcp.token_alone")
		}
		token := ""
		if addr != "" {
			var err error
			if token, err = doorToken(a, file); err != nil {
				return err
			}
		}
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			if _, err := sess.View(c.Context()); err != nil {
				return err
			}
			return sess.Workspace.Serve(c.Context(), host.Serving{
				In: a.Std.In, Out: a.Std.Out, Addr: addr, Token: token, Lang: a.Lang, Advance: cli.Advancer(sess),
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

// printServed says where the server is and how to get in. A token that is kept in a file is not shown.
func printServed(a *cli.App, url, token, file string) {
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

// doorToken reads the token that clients must show, or makes one: for this process alone, or kept in the file that does
// not exist yet. A file that others can read is refused, because whoever has the token can speak to the server.
func doorToken(a *cli.App, file string) (string, error) {
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
	raw, err := settings.ReadFile(name, maxToken)
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
	}
	token := strings.TrimSpace(string(raw))
	if strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 || token == "" {
		return "", pawl.Fail(pawl.CodeInvalid, "cli.mcp.token_form", name)
	}
	return token, nil
}
