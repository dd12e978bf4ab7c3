package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/message"
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

func newMCPCommand(a *app) *cobra.Command {
	var addr, file string
	c := a.command("mcp", "cli.mcp", "  pawl mcp\n  pawl mcp --http 127.0.0.1:0\n  pawl mcp --http 127.0.0.1:7295 --token-file ~/.config/pawl/mcp-token", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file != "" && addr == "" {
			return usage("cli.mcp.token_alone")
		}
		token := ""
		if addr != "" {
			var err error
			if token, err = (door{a}).token(file); err != nil {
				return err
			}
		}
		return a.with(c.Context(), writing(), func(d *desk) error {
			if _, err := d.session(c.Context()); err != nil {
				return err
			}
			return d.ws.Serve(c.Context(), Serving{
				In: a.std.In, Out: a.std.Out, Addr: addr, Token: token, Lang: a.lang, Advance: d.advancer(),
				Ready: func(url string) { door{a}.served(url, token, file) },
			})
		})
	}
	c.Flags().StringVar(&addr, "http", "", a.text("cli.flag.http"))
	c.Flags().StringVar(&file, "token-file", "", a.text("cli.flag.token_file"))
	return c
}

// advancer returns a function that works on a run until it waits for a person. Where another process has the workspace's
// work, that process does it. It must not be called by several goroutines at once.
func (d *desk) advancer() func(context.Context) error {
	r := d.ws.Runner(nil)
	return func(ctx context.Context) error {
		release, other, err := d.own()
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

// door is how clients get in: where the server is, and with which token.
type door struct{ *app }

// served says where the server is and how to get in. A token that is kept in a file is not shown.
func (a door) served(url, token, file string) {
	if a.flags.json {
		out := map[string]string{"url": url, "token": token}
		if file != "" {
			out = map[string]string{"url": url, "token_file": a.path(file)}
		}
		_ = a.printJSON(out)
		return
	}
	a.sayText("cli.mcp.ready", url)
	if file != "" {
		a.sayText("cli.mcp.token_kept", a.path(file))
		return
	}
	a.sayText("cli.mcp.token", token)
}

// token reads the token that clients must show, or makes one: for this process alone, or kept in the file that does not
// exist yet. A file that others can read is refused, because whoever has the token can speak to the server.
func (a door) token(file string) (string, error) {
	if file == "" {
		return rand.Text(), nil
	}
	name := a.path(file)
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
