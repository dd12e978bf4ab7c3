package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"pawl/face/host"
	"pawl/text/display"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/fault"
)

func newMCPListCommand(a *cli.App) *cobra.Command {
	return a.Command("list", "cli.mcp.list", "  pawl mcp list\n  pawl mcp list --json", cli.Exactly(0),
		func(*cobra.Command, []string) error {
			agents, err := cli.AgentsOf(a)
			if err != nil {
				return err
			}
			type line struct {
				host.ServerInfo
				Error *fault.Fault `json:"error,omitempty"`
			}
			lines, rows := []line{}, [][]string{}
			for _, s := range agents.Servers() {
				l := line{ServerInfo: s}
				what := strings.Join(s.Tools, ", ")
				if s.Err != nil {
					f := cli.Describe(a.Printer, s.Err)
					l.Error = &f
					what = f.Message
				} else if s.State == "untrusted" {
					what = a.Text("cli.mcp.look", s.Name)
				}
				lines = append(lines, l)
				rows = append(rows, []string{cli.Display(s.Name), s.Kind, a.Text("cli.mcp.state." + s.State),
					cli.Display(s.Where), cli.Display(what)})
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"servers": lines})
			}
			if len(rows) == 0 {
				a.SayText("cli.mcp.none", settings.UserFile(a.Std.Env))
				return nil
			}
			cli.PrintTable(a.Printer, []string{a.Text("cli.col.server"), a.Text("cli.col.kind"),
				a.Text("cli.col.state"),
				"", a.Text("cli.col.tools")}, rows)
			return nil
		})
}

func newMCPTrustCommand(a *cli.App) *cobra.Command {
	expected := ""
	c := a.Command("trust SERVER", "cli.mcp.trust",
		"  pawl mcp trust docs\n  pawl mcp trust docs --json\n  pawl mcp trust docs --digest sha256:…", cli.Exactly(1),
		nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return trustServer(c.Context(), a, args[0], expected)
	}
	c.Flags().StringVar(&expected, "digest", "", a.Text("cli.flag.digest"))
	return c
}

func newMCPUntrustCommand(a *cli.App) *cobra.Command {
	return a.Command("untrust SERVER", "cli.mcp.untrust", "  pawl mcp untrust docs", cli.Exactly(1),
		func(_ *cobra.Command, args []string) error {
			server, config, err := namedServer(a, args[0])
			if err != nil {
				return err
			}
			if server.Digest != "" {
				s, _ := settings.OfServer(server.Name, "digest")
				if err := config.Change(s, nil); err != nil {
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
func namedServer(a *cli.App, name string) (settings.Server, settings.Config, error) {
	_, c, err := a.Configured()
	if err != nil {
		return settings.Server{}, c, err
	}
	var names []string
	for _, s := range c.MCP {
		if s.Name == name {
			return s, c, nil
		}
		names = append(names, s.Name)
	}
	return settings.Server{}, c, pawl.Fail(pawl.CodeNotFound, "cli.mcp.unknown", cli.Display(name),
		strings.Join(names, ", "), c.File)
}

// trustServer shows what a server offers and, when the user says so, notes the digest of exactly that.
func trustServer(ctx context.Context, a *cli.App, name, expected string) error {
	if expected != "" && !settings.IsDigest(expected) {
		return cli.Usage("cli.flag_invalid", expected, "--digest", "sha256:…")
	}
	server, config, err := namedServer(a, name)
	if err != nil {
		return err
	}
	agents, err := cli.AgentsOf(a)
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
		if trusted, err = cli.Confirm(ctx, a.Printer, a.Text("cli.mcp.trust_ask", name)); err != nil {
			return err
		}
	}
	if trusted {
		if err := keepServer(a, server, config, offer); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"server": name, "digest": offer.Digest, "trusted": trusted,
			"changed": append([]string{}, offer.Changed...), "tools": offer.Tools, "document": offer.Document})
	}
	if !trusted {
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.mcp.not_trusted", name, offer.Digest)
	}
	a.SayText("cli.mcp.trusted", name, config.File)
	return nil
}

// keepServer keeps what was looked at and then its digest, so that a digest without its document is never in force.
func keepServer(a *cli.App, server settings.Server, config settings.Config, offer host.Offer) error {
	path := config.Kept(offer.Digest)
	if path == "" {
		return pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home").In("cli.mcp")
	}
	if err := settings.ReplaceFile(path, offer.Document); err != nil {
		return err
	}
	if server.Digest == offer.Digest {
		return nil
	}
	s, _ := settings.OfServer(server.Name, "digest")
	if err := config.Change(s, []string{offer.Digest}); err != nil {
		return err
	}
	if old := config.Kept(server.Digest); old != "" {
		_ = os.Remove(old) // a file that nobody reads any more
	}
	return nil
}

// showServer prints what a server offers, every word of it: a description may hold anything.
func showServer(pr *cli.Printer, server settings.Server, offer host.Offer) {
	where := strings.Join(server.Command, " ")
	if server.URL != "" {
		where = server.URL
	}
	pr.Say(pr.Style.Bold(cli.Display(server.Name)) + "  " + cli.Display(where))
	if len(server.Network) > 0 {
		pr.SayText("cli.mcp.reaches", strings.Join(server.Network, ", "))
	}
	for _, t := range offer.Tools {
		pr.Say("")
		pr.Say(pr.Style.Bold(cli.Display(t.Name)) + "  " + cli.Display(t.Title))
		for l := range strings.SplitSeq(t.Description, "\n") {
			pr.Say("  " + display.Line(l))
		}
		pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.input")) + " " + display.Line(string(t.Input)))
		if t.Output != nil {
			pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.output")) + " " + display.Line(string(t.Output)))
		}
		if t.Annotations != nil {
			pr.Say("  " + pr.Style.Dim(pr.Text("cli.mcp.hints")) + " " + display.Line(string(t.Annotations)))
		}
	}
	pr.Say("")
	if len(offer.Changed) > 0 {
		pr.Say(pr.Style.Warn() + " " + pr.Text("cli.mcp.changed", fmt.Sprint(len(offer.Changed))))
		for _, c := range offer.Changed {
			pr.Say("  " + display.Line(c))
		}
	}
	pr.Say(pr.Text("cli.mcp.digest", offer.Digest))
}
